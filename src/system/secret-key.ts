import { randomBytes } from "node:crypto";
import { linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { OperatorError } from "../core/errors.ts";
import { SECRET_KEY_BYTES } from "../core/secret-box.ts";

/**
 * The key that encrypts secrets at rest, created at first start and readable by the service's user only. It
 * must be part of every backup: without it webhook secrets cannot be read again, only rotated.
 */
export function loadSecretKey(path: string): Uint8Array {
  return readKey(path) ?? createKey(path);
}

/** The same key, made by an operator who runs several machines: all of them need the same one. */
export function requireSecretKey(path: string): Uint8Array {
  const key = readKey(path);
  if (key) return key;
  throw new OperatorError(
    `There is no key at ${path}, which CARDPRESS_SECRET_KEY_FILE names. Make one with "openssl rand -base64 ${SECRET_KEY_BYTES}", keep a copy of it in a safe place, and give every machine the same.`,
  );
}

/** Puts the same key into a file for this user only, in place of any that is there. */
export function copySecretKey(from: string, to: string): void {
  const text = `${Buffer.from(requireSecretKey(from)).toString("base64")}\n`;
  rmSync(to, { force: true });
  writeFileSync(to, text, { mode: 0o600, flag: "wx", flush: true });
}

function readKey(path: string): Uint8Array | undefined {
  let text: string;
  try {
    text = readFileSync(path, "utf8").trim();
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new OperatorError(
      `The key ${path} cannot be read: ${(cause as Error).message}. Make it readable for this user.`,
    );
  }
  const key = Buffer.from(text, "base64");
  if (key.length !== SECRET_KEY_BYTES) {
    throw new OperatorError(`The key ${path} is damaged. Restore it from a backup of the data folder.`);
  }
  return new Uint8Array(key);
}

function createKey(path: string): Uint8Array {
  const fresh = `${path}.${process.pid}.${randomBytes(4).toString("hex")}.tmp`;
  try {
    writeFileSync(fresh, `${randomBytes(SECRET_KEY_BYTES).toString("base64")}\n`, {
      mode: 0o600,
      flag: "wx",
      flush: true,
    });
    // A link appears atomically, and never replaces a key that another process created at the same moment.
    linkSync(fresh, path);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "EEXIST") {
      throw new OperatorError(`The key ${path} cannot be written: ${(cause as Error).message}.`, 1, {
        cause,
      });
    }
  } finally {
    rmSync(fresh, { force: true });
  }
  const key = readKey(path);
  if (!key) throw new OperatorError(`The key ${path} vanished while it was made. Check the data folder.`);
  return key;
}
