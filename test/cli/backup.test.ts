import { afterEach, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { openWorkspace } from "../../src/service/workspace.ts";
import { acceptWithPhoto, finishNext } from "../app/operations/stocked.ts";
import { silentLog, type TestFolder, testAccount, testConfig, testFolder } from "../harness.ts";
import { runCommand } from "./run.ts";

const folders: TestFolder[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await folder.remove();
});

function newFolder(): string {
  const folder = testFolder();
  folders.push(folder);
  return folder.dir;
}

test("a backup made while another process goes on writing is of one moment: its books hold and every picture is there", async () => {
  const dir = newFolder();
  const workspace = await openWorkspace(testConfig(dir), silentLog);
  const { account } = await testAccount(workspace, { credits: 100_000 });
  await acceptWithPhoto(workspace, account.id);
  const target = newFolder();
  const running = runCommand(dir, "backup", "--to", join(target, "all.tar"), "--json");
  let isOver = false;
  void running.then(() => {
    isOver = true;
  });
  let finished = 0;
  // Always one image ahead, so that there is an unfinished one at every moment.
  for (; !isOver; finished += 1) {
    await acceptWithPhoto(workspace, account.id);
    await finishNext(workspace);
  }
  await workspace.store.close();
  const { code, json, err } = await running;
  expect({ code, err }).toEqual({ code: 0, err: "" });
  const report = json();
  expect(report).toMatchObject({ broken_rules: [], missing: { count: 0 } });
  expect(report.counts.unfinished).toBeGreaterThanOrEqual(1);
  expect(report.counts.pictures).toBeLessThan(finished);

  const restored = await runCommand(
    join(target, "new"),
    "restore",
    "--from",
    join(target, "all.tar"),
    "--json",
  );
  expect(restored.json()).toMatchObject({ counts: report.counts, missing: { count: 0 } });
  expect((await runCommand(join(target, "new"), "audit", "--json")).json()).toMatchObject({ ok: true });
});

test("backup and restore print what they hold, and refuse what would overwrite or lose something", async () => {
  const dir = newFolder();
  const workspace = await openWorkspace(testConfig(dir), silentLog);
  await testAccount(workspace);
  await workspace.store.close();
  const target = newFolder();
  const to = join(target, "all.tar.gz");
  const made = await runCommand(dir, "backup", "--to", to, "--without-secrets");
  expect(made.code).toBe(0);
  expect(made.out).toContain("holds no secret.key");
  expect(made.out).toContain("webhook rotate");
  expect((await runCommand(dir, "backup", "--to", to)).err).toContain("is there already");
  expect(await runCommand(dir, "backup", "--to", join(target, "all.zip"))).toMatchObject({ code: 2 });
  const nowhere = join(target, "typo");
  expect((await runCommand(nowhere, "backup", "--to", join(target, "b.tar"))).err).toContain(
    "CARDPRESS_DATA_DIR",
  );
  expect(existsSync(nowhere)).toBe(false);

  expect(await runCommand(dir, "restore", "--from", to)).toMatchObject({
    code: 1,
    out: expect.not.stringContaining("checked"),
  });
  const restored = await runCommand(join(target, "new"), "restore", "--from", to);
  expect(restored).toMatchObject({ code: 0, out: expect.stringContaining("put yours back") });
});
