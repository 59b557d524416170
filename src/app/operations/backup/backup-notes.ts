import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import type { DataFolder } from "../../../system/data-folder.ts";
import { writeWhole } from "../../../system/write-whole.ts";

// What a data folder knows about its backups, in small files next to the database: they describe this folder
// rather than its contents, so they are in no backup.

const LastBackup = Type.Object({
  file: Type.String(),
  bytes: Type.Integer(),
  /** ISO 8601 in UTC: the moment the backup captures. */
  at: Type.String(),
});
/** The last verified backup that is enough to restore from, scheduled or not. */
export type LastBackup = Static<typeof LastBackup>;

const Schedule = Type.Object({
  /** Backups the service made and has not removed, oldest first; `at` in epoch milliseconds. */
  made: Type.Array(Type.Object({ file: Type.String(), at: Type.Integer() })),
  /** The one in progress, or interrupted when the process ended. */
  underway: Type.Union([Type.String(), Type.Null()]),
  /** The last attempt, if it failed. */
  failure: Type.Union([Type.Object({ at: Type.Integer(), reason: Type.String() }), Type.Null()]),
});
export type Schedule = Static<typeof Schedule>;

const lastBackup = TypeCompiler.Compile(LastBackup);
const schedule = TypeCompiler.Compile(Schedule);

export async function noteBackup(folder: DataFolder, last: LastBackup): Promise<void> {
  await writeWhole(join(folder.backups, "last.json"), `${JSON.stringify(last)}\n`);
}

/** Of one without `secret.key`: good only together with a key that is kept elsewhere. */
export async function noteKeylessBackup(folder: DataFolder, last: LastBackup): Promise<void> {
  await writeWhole(join(folder.backups, "last-without-key.json"), `${JSON.stringify(last)}\n`);
}

export async function readKeylessBackup(folder: DataFolder): Promise<LastBackup | undefined> {
  const value = await readJson(join(folder.backups, "last-without-key.json"));
  return lastBackup.Check(value) ? value : undefined;
}

export async function readLastBackup(folder: DataFolder): Promise<LastBackup | undefined> {
  const value = await readJson(join(folder.backups, "last.json"));
  return lastBackup.Check(value) ? value : undefined;
}

export async function noteSchedule(folder: DataFolder, state: Schedule): Promise<void> {
  await writeWhole(join(folder.backups, "schedule.json"), `${JSON.stringify(state)}\n`);
}

export async function readSchedule(folder: DataFolder): Promise<Schedule> {
  const value = await readJson(join(folder.backups, "schedule.json"));
  return schedule.Check(value) ? value : { made: [], underway: null, failure: null };
}

/** Undefined when the file is missing or damaged; the next backup rewrites it. */
async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, "utf8"));
  } catch {
    return undefined;
  }
}
