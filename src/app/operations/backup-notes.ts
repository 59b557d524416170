import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import type { DataFolder } from "../../system/data-folder.ts";
import { writeWhole } from "../../system/write-whole.ts";

// What a data folder knows of its backups, as small files beside the database: they are of this folder, not of what is
// in it, so they are in no backup.

const LastBackup = Type.Object({
  file: Type.String(),
  bytes: Type.Integer(),
  /** ISO 8601 in UTC: the moment the backup is of. */
  at: Type.String(),
});
/** The last backup that was made and found sound, by whomever. */
export type LastBackup = Static<typeof LastBackup>;

const Schedule = Type.Object({
  /** Those the service made and has not removed, oldest first; `at` in epoch milliseconds. */
  made: Type.Array(Type.Object({ file: Type.String(), at: Type.Integer() })),
  /** The one that is being made, or was when the process ended. */
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

/** Undefined where there is none yet, or somebody broke it: then the next backup writes it anew. */
async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, "utf8"));
  } catch {
    return undefined;
  }
}
