import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { changedPaths } from "../../scripts/suites/changed.ts";

const root = mkdtempSync(join(tmpdir(), "cardpress-changed-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

function git(...args: string[]): void {
  const who = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main"];
  expect(Bun.spawnSync(["git", ...who, ...args], { cwd: root }).exitCode).toBe(0);
}
async function commit(path: string): Promise<void> {
  await Bun.write(join(root, path), path);
  git("add", path);
  git("commit", "-qm", path);
}

test("on main the last commit counts, or all after a named one, on a branch its own, and always what is not committed", async () => {
  expect(changedPaths(root)).toEqual([]);
  git("init", "-q");
  for (const path of ["one", "two", "three"]) await commit(path);
  expect(changedPaths(root)).toEqual(["three"]);
  expect(changedPaths(root, "HEAD~2")).toEqual(["three", "two"]);
  expect(() => changedPaths(root, "HEAD~9")).toThrow("--since takes a commit");

  git("update-ref", "refs/remotes/origin/main", "HEAD");
  git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main");
  expect(changedPaths(root)).toEqual(["three"]);
  git("checkout", "-q", "-b", "branch");
  for (const path of ["four", "five"]) await commit(path);
  await Bun.write(join(root, "six"), "");
  expect(changedPaths(root)).toEqual(["five", "four", "six"]);
});
