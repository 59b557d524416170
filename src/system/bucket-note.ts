import { randomBytes } from "node:crypto";
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { OperatorError } from "../core/errors.ts";
import { writeWhole } from "./write-whole.ts";

/**
 * Where the files of a data folder are, when they are in a bucket. `filling`: a copy into it has begun, and
 * the folder still holds them; `filled`: the bucket does; `restored`: this folder is a copy of one whose
 * files are there, and must not touch them before the bucket is its own.
 */
export interface BucketNote {
  /** Also in the bucket, so that no two folders use one. */
  id: string;
  endpoint: string;
  bucket: string;
  state: "filling" | "filled" | "restored";
}

const STATES: readonly unknown[] = ["filling", "filled", "restored"] satisfies BucketNote["state"][];

/** Undefined when the files are in the folder. Throws an OperatorError for a note that says neither. */
export function readBucketNote(path: string): BucketNote | undefined {
  if (!existsSync(path)) return undefined;
  const damaged = (reason: string) =>
    new OperatorError(
      `${path} says which bucket holds the photos and pictures, but ${reason}. Restore it from a backup.`,
    );
  let note: Partial<BucketNote>;
  try {
    note = JSON.parse(readFileSync(path, "utf8"));
  } catch (cause) {
    throw damaged(`cannot be read: ${(cause as Error).message}`);
  }
  const { id, endpoint, bucket, state } = note;
  if (![id, endpoint, bucket].every((text) => typeof text === "string") || !STATES.includes(state))
    throw damaged("is damaged");
  return note as BucketNote;
}

export function bucketNoteText(note: BucketNote): string {
  return `${JSON.stringify(note, null, 2)}\n`;
}

export function writeBucketNote(path: string, note: BucketNote): Promise<void> {
  return writeWhole(path, bucketNoteText(note));
}

/** Writes the first note, and returns what is noted: another process may have done so at the same moment. */
export function createBucketNote(path: string, note: BucketNote): BucketNote {
  const fresh = `${path}.${process.pid}.${randomBytes(4).toString("hex")}.tmp`;
  try {
    writeFileSync(fresh, bucketNoteText(note), { mode: 0o640, flag: "wx", flush: true });
    // A link appears atomically, and replaces nothing.
    linkSync(fresh, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    rmSync(fresh, { force: true });
  }
  return readBucketNote(path) ?? note;
}
