import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SecretUnreadableError, secretBox } from "../../src/core/secret-box.ts";
import { loadSecretKey } from "../../src/system/secret-key.ts";

const box = secretBox(randomBytes(32), randomBytes);

test("what is sealed opens again, and is unreadable and different each time until then", () => {
  const sealed = box.seal("whsec_secret", "ep_1");
  expect(sealed).not.toContain("whsec");
  expect(box.seal("whsec_secret", "ep_1")).not.toBe(sealed);
  expect(box.open(sealed, "ep_1")).toBe("whsec_secret");
});

test("sealed text does not open elsewhere, changed, cut short or under another key", () => {
  const sealed = box.seal("whsec_secret", "ep_1");
  const [version, keyId, payload = ""] = sealed.split(".");
  const bytes = Buffer.from(payload, "base64");
  const changed = Buffer.from(bytes.map((byte, i) => (i === bytes.length - 1 ? byte ^ 1 : byte)));
  const withPayload = (part: Buffer) => [version, keyId, part.toString("base64")].join(".");
  for (const [text, context] of [
    [sealed, "ep_2"],
    [withPayload(changed), "ep_1"],
    [withPayload(bytes.subarray(0, 20)), "ep_1"],
    [withPayload(Buffer.alloc(0)), "ep_1"],
    ["", "ep_1"],
  ] as const) {
    expect(() => box.open(text, context)).toThrow(SecretUnreadableError);
  }
  const other = secretBox(randomBytes(32), randomBytes);
  expect(() => other.open(sealed, "ep_1")).toThrow(/was sealed with key [0-9a-f]{8}; secret.key holds/);
});

test("the key is made once, for its user only, and a damaged one is not replaced", () => {
  const folder = mkdtempSync(join(tmpdir(), "cardpress-key-"));
  try {
    const path = join(folder, "secret.key");
    const key = loadSecretKey(path);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(loadSecretKey(path)).toEqual(key);
    writeFileSync(path, readFileSync(path).subarray(0, 20));
    expect(() => loadSecretKey(path)).toThrow("is damaged. Restore it from a backup");
  } finally {
    rmSync(folder, { recursive: true });
  }
});
