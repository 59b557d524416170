import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BUILD, COMMIT, commitOf, RELEASE, VERSION } from "../src/version.ts";
import { send, type TestApi, testApi } from "./http/api.ts";

const HASH = "0123456789abcdef0123456789abcdef01234567";

let api: TestApi;
let root: string;
beforeAll(async () => {
  api = await testApi();
  root = mkdtempSync(join(tmpdir(), "cardpress-version-"));
});
afterAll(async () => {
  rmSync(root, { recursive: true });
  await api.close();
});

/** A folder with these files below it. */
function folder(name: string, files: Record<string, string>): string {
  for (const [path, text] of Object.entries(files)) {
    const file = join(root, name, path);
    mkdirSync(join(file, ".."), { recursive: true });
    writeFileSync(file, `${text}\n`);
  }
  return join(root, name);
}

test("the commit of a checkout is read from its files, however git keeps it, and of anything else there is none", () => {
  const head = "ref: refs/heads/main";
  const branch = folder("branch", { ".git/HEAD": head, ".git/refs/heads/main": HASH });
  const packed = folder("packed", {
    ".git/HEAD": head,
    ".git/packed-refs": `# pack-refs with: peeled\nf${HASH.slice(1)} refs/heads/other\n${HASH} refs/heads/main`,
  });
  const detached = folder("detached", { ".git/HEAD": HASH });
  const tree = folder("tree", {
    ".git": `gitdir: ${branch}/.git/worktrees/tree`,
    "../branch/.git/worktrees/tree/HEAD": head,
    "../branch/.git/worktrees/tree/commondir": "../..",
  });
  for (const checkout of [branch, packed, detached, tree]) expect(commitOf(checkout)).toBe(HASH);
  const strange = folder("strange", { ".git/HEAD": "ref: ../../../etc/passwd" });
  const fresh = folder("fresh", { ".git/HEAD": head });
  for (const none of [strange, fresh, join(root, "nowhere")]) expect(commitOf(none)).toBeNull();
});

test("a running service says its version and commit at /live, and the release says both", async () => {
  const answer = await (await send(api, "/live")).json();
  expect(answer).toEqual({ status: "ok", version: VERSION, commit: COMMIT });
  expect(RELEASE).toBe(COMMIT === null ? VERSION : `${VERSION} (${COMMIT.slice(0, 10)})`);
  // A checkout has a commit; only a copy of its files has none.
  expect(COMMIT).toBe(commitOf(join(import.meta.dir, "..")));
  expect(BUILD).toBe(COMMIT === null ? VERSION : `${VERSION}+${COMMIT.slice(0, 10)}`);
  // What was released before must be told apart from this.
  expect(VERSION).not.toBe("0.1.0");
});
