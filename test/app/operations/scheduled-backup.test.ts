import { afterEach, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { partialOf } from "../../../src/app/operations/backup.ts";
import { noteSchedule, readLastBackup, readSchedule } from "../../../src/app/operations/backup-notes.ts";
import { checkBackups } from "../../../src/app/operations/check-backups.ts";
import { backUpWhenDue } from "../../../src/app/operations/scheduled-backup.ts";
import { HOUR_MS } from "../../../src/core/time.ts";
import { type TestWorkspace, testAccount, testConfig, testWorkspace } from "../../harness.ts";

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

const command = [process.execPath, join(import.meta.dir, "../../../src/main.ts")];

/** A data folder with an account, whose service backs up every 6 hours and keeps 2; and what it logs. */
async function scheduled(dir?: string) {
  const workspace: TestWorkspace = await testWorkspace();
  cleanups.push(workspace.close);
  await testAccount(workspace);
  const target = dir ?? join(workspace.folder.root, "elsewhere");
  const config = testConfig(workspace.folder.root, {
    CARDPRESS_BACKUP_DIR: target,
    CARDPRESS_BACKUP_EVERY_HOURS: "6",
    CARDPRESS_BACKUP_KEEP: "2",
  });
  const logged: string[] = [];
  const note = (event: string) => void logged.push(event);
  const deps = { ...workspace, config, command, log: { info: note, warn: note, error: note } };
  const run = (signal = new AbortController().signal) => backUpWhenDue(deps, signal);
  return { workspace, config, target, logged, run };
}

test("a backup is made when one is due and not before, and only the service's own old ones are removed", async () => {
  const { workspace, config, target, logged, run } = await scheduled();
  const { clock, folder } = workspace;
  // An earlier service was killed in the middle of one.
  mkdirSync(target);
  const half = join(target, "cardpress-20261114T120000Z.tar");
  writeFileSync(partialOf(half), "half");
  await noteSchedule(folder, { made: [], underway: half, failure: null });
  await run();
  const [first = ""] = readdirSync(target);
  expect(first).toBe("cardpress-20261115T120000Z.tar");
  expect(await readLastBackup(folder)).toMatchObject({ file: join(target, first) });
  // The backup's process has the real clock.
  const look = (later: number) => checkBackups(config, folder, Date.now() + later);
  expect(await look(0)).toEqual({ status: "ok", message: expect.stringContaining(first) });
  expect(await look(13 * HOUR_MS)).toMatchObject({ status: "warning" });
  // Not ours, however much its name is like ours.
  writeFileSync(join(target, "cardpress-20200101T000000Z.tar"), "another service's");
  clock.advance(6 * HOUR_MS - 1);
  await run();
  expect(logged).toEqual(["backup_made"]);
  clock.advance(1);
  await run();
  clock.advance(6 * HOUR_MS);
  await run();
  expect(logged).toEqual(["backup_made", "backup_made", "backup_made"]);
  expect(readdirSync(target).sort()).toEqual([
    "cardpress-20200101T000000Z.tar",
    "cardpress-20261115T180000Z.tar",
    "cardpress-20261116T000000Z.tar",
  ]);
});

test("a backup that fails is logged, remembered, tried again an hour later, and costs none of the earlier ones", async () => {
  const { workspace, config, target, logged, run } = await scheduled("/dev/null/backups");
  const { clock, folder } = workspace;
  expect(await checkBackups(workspace.config, folder, clock.now())).toMatchObject({ status: "warning" });
  await run();
  expect(logged).toEqual(["backup_failed"]);
  const found = await checkBackups(config, folder, clock.now());
  expect(found).toEqual({ status: "warning", message: expect.stringContaining(target) });
  clock.advance(HOUR_MS - 1);
  await run();
  expect(logged).toHaveLength(1);
  clock.advance(1);
  await run();
  expect(logged).toEqual(["backup_failed", "backup_failed"]);
});

test("a stop in the middle of a backup leaves nothing half written and is no failure", async () => {
  const { workspace, target, logged, run } = await scheduled();
  const stop = new AbortController();
  const running = run(stop.signal);
  stop.abort();
  await running;
  expect(logged).toEqual([]);
  expect(await readSchedule(workspace.folder)).toEqual({ made: [], underway: null, failure: null });
  expect(existsSync(target) ? readdirSync(target) : []).toEqual([]);
  await run();
  expect(logged).toEqual(["backup_made"]);
});
