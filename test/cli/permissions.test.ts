import { afterEach, beforeEach, expect, test } from "bun:test";
import { chmodSync, chownSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { quietLog } from "../../src/log.ts";
import { openWorkspace } from "../../src/service/workspace.ts";
import { type TestFolder, testConfig, testFolder } from "../harness.ts";

// Root may do everything, so as root the program runs in a user namespace, whose root has no power over the
// files of users it does not know.

const isRoot = process.getuid?.() === 0;
const asUser = isRoot ? ["unshare", "-r"] : [];
const canDeprive = Bun.spawnSync([...asUser, "true"], { stderr: "ignore" }).exitCode === 0;
if (!canDeprive) console.log("No user namespaces here: the tests of another user's files are skipped.");

let folder: TestFolder;
beforeEach(async () => {
  folder = testFolder();
  await (await openWorkspace(testConfig(folder.dir), quietLog())).store.close();
});
afterEach(() => folder.remove());

/** Gives a path of the data folder to another user, without write permission for others. */
function takeAway(name: string): string {
  const path = join(folder.dir, name);
  if (isRoot) chownSync(path, 12345, 12345);
  chmodSync(path, 0o500);
  return path;
}

function cardpress(...args: string[]) {
  const { exitCode, stdout, stderr } = Bun.spawnSync(
    [...asUser, process.execPath, join(import.meta.dir, "../../src/main.ts"), ...args],
    {
      env: {
        ...process.env,
        CARDPRESS_DATA_DIR: folder.dir,
        CARDPRESS_ALLOW_ROOT: "1",
        CARDPRESS_PORT: "0",
        CARDPRESS_CHROMIUM: process.execPath,
      },
    },
  );
  return { exitCode, output: stdout.toString() + stderr.toString() };
}

test.skipIf(!canDeprive)(
  "serve, doctor and the commands name what belongs to another user, and how to get it back",
  () => {
    // The cache of tests is one for all of them.
    rmSync(join(folder.dir, "cache"));
    mkdirSync(join(folder.dir, "cache"));
    const names = ["sources", "cutouts", "images", "cache", "cardpress.db"];
    const paths = names.map(takeAway);
    const user = isRoot ? "0:0" : `${process.getuid?.()}:${process.getgid?.()}`;
    for (const command of ["serve", "doctor", "account list"]) {
      const { exitCode, output } = cardpress(...command.split(" "));
      expect({ command, exitCode }).toEqual({ command, exitCode: 1 });
      for (const path of paths) expect(output).toContain(path);
      expect(output).toContain(`chown -R ${user} ${folder.dir}`);
    }
    for (const path of paths) chmodSync(path, 0o700);
  },
);

test.skipIf(!canDeprive)("doctor finds the one folder of pictures that belongs to another user", () => {
  mkdirSync(join(folder.dir, "images/zz"));
  const path = takeAway("images/zz");
  const { exitCode, output } = cardpress("doctor", "--json");
  expect(exitCode).toBe(1);
  const disk = JSON.parse(output).checks.find(({ check }: { check: string }) => check === "disk");
  expect(disk).toMatchObject({ status: "failed", message: expect.stringContaining(path) });
});
