import { afterEach, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeBackup, partialOf } from "../../../../src/app/operations/backup/backup.ts";
import {
  noteSchedule,
  readLastBackup,
  readSchedule,
} from "../../../../src/app/operations/backup/backup-notes.ts";
import { checkBackups } from "../../../../src/app/operations/backup/check-backups.ts";
import { backUpWhenDue } from "../../../../src/app/operations/backup/scheduled-backup.ts";
import { HOUR_MS } from "../../../../src/core/time.ts";
import { type TestWorkspace, testAccount, testConfig, testWorkspace } from "../../../harness.ts";

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

const command = [process.execPath, join(import.meta.dir, "../../../../src/main.ts")];

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

test("a backup that failed is tried again when the service starts, and of a read-only folder the unit's line is named", async () => {
  const { workspace, config, logged } = await scheduled();
  const { folder } = workspace;
  const said = '{"error":"EROFS: read-only file system, open x"}';
  const errors: string[] = [];
  const note = (event: string, fields: object = {}) => {
    logged.push(event);
    errors.push(JSON.stringify(fields));
  };
  const deps = {
    ...workspace,
    config,
    command: ["sh", "-c", `echo '${said}' >&2; exit 1`],
    log: { info: note, warn: note, error: note },
  };
  const { signal } = new AbortController();
  await backUpWhenDue(deps, signal);
  await backUpWhenDue(deps, signal);
  expect(logged).toEqual(["backup_failed"]);
  expect(errors[0]).toContain(`ReadWritePaths=${config.backups?.dir}`);
  // Another process opens the same folder.
  await backUpWhenDue({ ...deps, folder: { ...folder } }, signal);
  expect(logged).toEqual(["backup_failed", "backup_failed"]);
});

test("an archive without secret.key is not the last good one, and is reported as what it is", async () => {
  const { workspace } = await scheduled();
  const { folder, clock } = workspace;
  const signal = new AbortController().signal;
  const step = async <T>(_: string, work: (note: (text: string) => void) => Promise<T>) => work(() => {});
  const make = (name: string, withSecrets: boolean) =>
    makeBackup(workspace, { to: join(folder.root, name), withSecrets, signal, step });
  await make("keyless.tar", false);
  expect(await readLastBackup(folder)).toBeUndefined();
  const look = () => checkBackups(workspace.config, folder, clock.now());
  expect(await look()).toEqual({
    status: "warning",
    message: expect.stringContaining("none has been made yet"),
  });
  expect((await look()).message).toContain("one without secret.key, of use only together with it");
  clock.advance(HOUR_MS);
  await make("whole.tar", true);
  expect(await look()).toEqual({ status: "ok", message: expect.stringContaining("whole.tar") });
  expect((await look()).message).not.toContain("keyless");
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
