import type { Database } from "bun:sqlite";
import { existsSync } from "node:fs";
import { mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { blobPath } from "../../../blobs/folder-blobs.ts";
import type { Config } from "../../../config.ts";
import { OperatorError } from "../../../core/errors.ts";
import { MIN_FREE_DISK_BYTES } from "../../../core/limits.ts";
import type { Clock } from "../../../core/ports.ts";
import { isoTime } from "../../../core/time.ts";
import { MIGRATION_NAMES } from "../../../store/engine/migrate.ts";
import {
  appliedMigrations,
  countRows,
  databaseBytes,
  integrityProblems,
  neededSources,
  neededTemplates,
  openAsIs,
  picturesOf,
  type SnapshotCounts,
  snapshotDatabase,
} from "../../../store/engine/snapshot.ts";
import { openSqliteStore } from "../../../store/engine/sqlite.ts";
import { type BucketNote, bucketNoteText, readBucketNote } from "../../../system/bucket-note.ts";
import type { DataFolder } from "../../../system/data-folder.ts";
import { freeBytes, inUnits } from "../../../system/disk-space.ts";
import { type FileLock, lockFile } from "../../../system/file-lock.ts";
import { isFileError, sync } from "../../../system/write-whole.ts";
import { COMMIT, VERSION } from "../../../version.ts";
import { audit } from "../audit/audit.ts";
import { ARCHIVE_SUFFIXES, type ArchiveWriter, readArchive, writeArchive } from "./backup-archive.ts";
import {
  BUCKET_NOTE,
  DATABASE,
  FORMAT,
  FORMAT_VERSION,
  FORMAT_WITH_FILES,
  MANIFEST,
  type Manifest,
  SECRET_KEY,
} from "./backup-manifest.ts";
import { noteBackup, noteKeylessBackup } from "./backup-notes.ts";
import { templateFiles } from "./backup-templates.ts";

/** Reports one step of a longer job; `note` reports progress within it. */
export type Step = <T>(title: string, work: (note: (text: string) => void) => Promise<T>) => Promise<T>;

export interface BackupDeps {
  config: Config;
  folder: DataFolder;
  clock: Clock;
}

export interface BackupOptions {
  /** The archive to create: .tar, .tar.zst, .tar.gz or .tgz. */
  to: string;
  withSecrets: boolean;
  signal: AbortSignal;
  step: Step;
}

/** A file that the database refers to and that is missing or damaged in the backup. */
export interface Missing {
  file: string;
  /**
   * `expired` while the backup was written; `gone` from the folder before it; or `damaged` in the folder (and
   * copied as it is).
   */
  because: "expired" | "gone" | "damaged";
}

export interface BackupReport {
  file: string;
  bytes: number;
  files: number;
  created_at: string;
  schema: string;
  secrets: boolean;
  templates: boolean;
  /** The bucket that holds the photos and pictures, which are not in the backup then. */
  bucket: string | null;
  counts: SnapshotCounts;
  missing: { count: number; files: Missing[] };
  /** The audit rules violated by what was backed up. */
  broken_rules: string[];
}

/** Enough to show what happened. */
const MAX_NAMED = 50;
/** Tar's overhead per file: a header, and padding to the next block. */
const TAR_BYTES_PER_FILE = 1024;

/**
 * Copies database, pictures, sources of unfinished images, templates and secrets of a running or stopped
 * service into one archive, without the files that a bucket holds; then reads it back and verifies hashes,
 * database integrity and the ledger. The archive appears whole or not at all. A failed audit does not prevent
 * the archive; it is reported. Throws an OperatorError.
 */
export async function makeBackup(deps: BackupDeps, options: BackupOptions): Promise<BackupReport> {
  const { folder } = deps;
  const { to } = options;
  if (!existsSync(folder.database))
    throw new OperatorError(
      `There is no database in ${folder.root}. Set CARDPRESS_DATA_DIR to the data folder of the service.`,
    );
  refuseTarget(to);
  const lock = takeLock(folder);
  if (!lock)
    throw new OperatorError(`Another backup of ${folder.root} is being made. Wait for it, and try again.`);
  const scratch = join(folder.backups, "underway");
  const partial = partialOf(to);
  try {
    await clearKilled(scratch);
    await rm(partial, { force: true });
    await mkdir(scratch, { mode: 0o700 });
    await writeFile(join(scratch, TARGET), resolve(partial));
    const report = await makeLocked(deps, options, { snapshot: join(scratch, DATABASE), partial });
    refuseTarget(to);
    await rename(partial, to);
    await sync(dirname(to));
    const isWhole = options.withSecrets || !existsSync(folder.secretKey);
    const made = { file: to, bytes: report.bytes, at: report.created_at };
    if (report.broken_rules.length === 0) await (isWhole ? noteBackup : noteKeylessBackup)(folder, made);
    return report;
  } catch (error) {
    if (!isFileError(error)) throw error;
    throw new OperatorError(
      `${to} cannot be made: ${error.message}. Check the folder, its permissions and free space.`,
    );
  } finally {
    // What cannot be removed must not hide why; the next backup clears it away.
    await rm(partial, { force: true }).catch(() => {});
    await rm(scratch, { recursive: true, force: true }).catch(() => {});
    lock.release();
  }
}

/** In the scratch folder: the path of the archive that is being written. */
const TARGET = "partial-path";

/** Removes what a killed backup left, its archive too, wherever that is; nobody else holds the lock. */
async function clearKilled(scratch: string): Promise<void> {
  const partial = await readFile(join(scratch, TARGET), "utf8").catch(() => "");
  // Its disk may be gone.
  if (partial.endsWith(partialOf(""))) await rm(partial, { force: true }).catch(() => {});
  await rm(scratch, { recursive: true, force: true });
}

/** Null when another backup is being made. Throws an OperatorError when the folder takes no file. */
function takeLock({ backups }: DataFolder): FileLock | null {
  try {
    return lockFile(join(backups, "backup.lock"));
  } catch (error) {
    throw new OperatorError(
      `The folder ${backups} cannot be written: ${(error as Error).message}. Check its permissions and free space.`,
    );
  }
}

/** Where an archive is written until it has been verified. */
export function partialOf(to: string): string {
  return `${to}.partial`;
}

function refuseTarget(to: string): void {
  if (!ARCHIVE_SUFFIXES.some((suffix) => to.endsWith(suffix)))
    throw new OperatorError(`--to ${to} must end in one of ${ARCHIVE_SUFFIXES.join(", ")}.`, 2);
  if (existsSync(to))
    throw new OperatorError(`--to ${to} is there already. Name a new file, or move that one away.`);
  if (!existsSync(dirname(to)))
    throw new OperatorError(`--to ${to}: there is no folder ${dirname(to)}. Make it first.`);
}

async function makeLocked(
  deps: BackupDeps,
  options: BackupOptions,
  { snapshot, partial }: { snapshot: string; partial: string },
): Promise<BackupReport> {
  const { folder, clock } = deps;
  const { step, signal, to } = options;
  // Read before the copy: a picture that expires after this is in the backup if it still exists.
  const now = clock.now();
  await step("copy the database", () => takeSnapshot(folder, snapshot));
  const client = openAsIs(snapshot);
  let written: Written;
  try {
    written = await step("write the archive", (note) =>
      writeFiles({ ...deps, client, now, snapshot, partial }, options, note),
    );
  } finally {
    client.close();
  }
  return step("read it back and check it", async (note) => {
    const { size } = Bun.file(partial);
    const onBytes = (bytes: number) => note(`${inUnits(bytes)} of ${inUnits(size)}`);
    await readArchive(partial, { signal, onBytes }, async () => undefined);
    // These bytes have just been verified in the archive. Only now may the copy be modified, which opening it
    // does.
    const broken = await brokenRules(snapshot, now);
    const { manifest, files, missing } = written;
    return {
      file: to,
      bytes: size,
      files,
      created_at: manifest.created_at,
      schema: manifest.schema,
      secrets: manifest.secrets,
      templates: manifest.templates,
      bucket: written.elsewhere?.bucket ?? null,
      counts: manifest.counts,
      missing: { count: missing.count, files: missing.named },
      broken_rules: broken,
    };
  });
}

async function takeSnapshot(folder: DataFolder, snapshot: string): Promise<void> {
  const client = openAsIs(folder.database);
  try {
    const schema = appliedMigrations(client).at(-1) ?? "";
    if (!MIGRATION_NAMES.includes(schema))
      throw new OperatorError(
        `The database was written by a newer cardpress (it has the migration ${schema}). Make the backup with the version that runs the service.`,
      );
    await refuseFullDisk(folder.backups, databaseBytes(client));
  } finally {
    client.close();
  }
  snapshotDatabase(folder.database, snapshot);
  const copy = openAsIs(snapshot);
  try {
    const problems = integrityProblems(copy);
    if (problems.length > 0)
      throw new OperatorError(
        `The database is damaged (${problems.join("; ")}). No backup was made. Keep the earlier ones, stop the service, and restore the last good one with "cardpress restore".`,
      );
  } finally {
    copy.close();
  }
}

/** Keeps room for the service's next pictures: a backup must not stop what it protects. */
async function refuseFullDisk(folder: string, bytes: number): Promise<void> {
  const free = await freeBytes(folder);
  if (free - bytes < MIN_FREE_DISK_BYTES)
    throw new OperatorError(
      `${folder} has ${inUnits(free)} free; the backup needs up to ${inUnits(bytes)}, and ${inUnits(MIN_FREE_DISK_BYTES)} must stay free. Make room, or choose another disk.`,
    );
}

interface Written {
  manifest: Manifest;
  elsewhere: BucketNote | undefined;
  files: number;
  missing: { count: number; named: Missing[] };
}

interface WriteDeps extends BackupDeps {
  client: Database;
  now: number;
  snapshot: string;
  partial: string;
}

async function writeFiles(
  deps: WriteDeps,
  { to, withSecrets, signal }: BackupOptions,
  note: (text: string) => void,
): Promise<Written> {
  const { config, folder, client, now, snapshot, partial } = deps;
  const counts = countRows(client, now);
  const elsewhere = filesElsewhere(folder);
  const sources = elsewhere ? [] : neededSources(client);
  const pinned = (elsewhere ? [] : neededTemplates(client))
    .map((digest) => blobPath(folder, "template", digest))
    .filter((path) => existsSync(path));
  const templates = config.templatesDir === undefined ? [] : await templateFiles(config.templatesDir);
  const secrets = withSecrets && existsSync(folder.secretKey);
  const manifest: Manifest = {
    format: FORMAT,
    format_version: elsewhere ? FORMAT_VERSION : FORMAT_WITH_FILES,
    cardpress: VERSION,
    commit: COMMIT,
    schema: appliedMigrations(client).at(-1) ?? "",
    created_at: isoTime(now),
    secrets,
    templates: templates.length > 0,
    counts,
    files:
      2 +
      Number(secrets) +
      templates.length +
      (elsewhere ? 1 : pinned.length + sources.length + counts.pictures),
  };
  const known = [
    snapshot,
    ...templates.map(({ path }) => path),
    ...pinned,
    ...sources.map((sha256) => blobPath(folder, "source", sha256)),
  ];
  const total =
    (elsewhere ? 0 : await pictureBytes(folder, client, now)) +
    manifest.files * TAR_BYTES_PER_FILE +
    known.reduce((bytes, path) => bytes + (existsSync(path) ? Bun.file(path).size : 0), 0);
  await refuseFullDisk(dirname(to), total);

  const missing: Written["missing"] = { count: 0, named: [] };
  const { files } = await writeArchive(partial, { like: to, signal }, async (archive) => {
    await archive.addText(MANIFEST, `${JSON.stringify(manifest, null, 2)}\n`);
    await archive.addFile(DATABASE, snapshot);
    if (secrets) await archive.addFile(SECRET_KEY, folder.secretKey);
    // What is made of the backup is a second folder on one bucket.
    if (elsewhere) await archive.addText(BUCKET_NOTE, bucketNoteText({ ...elsewhere, state: "restored" }));
    let bytes = 0;
    for (const { name, path } of templates) bytes += (await archive.addFile(name, path))?.bytes ?? 0;
    for (const path of pinned)
      bytes += (await archive.addFile(relative(folder.root, path), path))?.bytes ?? 0;
    if (elsewhere) return;
    for await (const left of addStored(deps, archive, sources, (added) => {
      bytes += added;
      note(`${inUnits(bytes)} of ${inUnits(total)}`);
    })) {
      missing.count += 1;
      if (missing.named.length < MAX_NAMED) missing.named.push(left);
    }
  });
  return { manifest, elsewhere, files, missing };
}

/** The note on the bucket that holds the photos and pictures; undefined where the folder does. */
function filesElsewhere({ bucketNote }: DataFolder): BucketNote | undefined {
  const note = readBucketNote(bucketNote);
  return note?.state === "filling" ? undefined : note;
}

/** What the pictures take on disk: those of test keys are mostly names of the same few files. */
async function pictureBytes(folder: DataFolder, client: Database, now: number): Promise<number> {
  const shared = new Set<string>();
  let bytes = 0;
  for (const { name } of picturesOf(client, now)) {
    const info = await stat(blobPath(folder, "picture", name)).catch(() => undefined);
    if (!info) continue;
    const file = `${info.dev}:${info.ino}`;
    if (!shared.has(file)) bytes += info.size;
    if (info.nlink > 1) shared.add(file);
  }
  return bytes;
}

/** Adds the photos and pictures named by the database, and yields those that could not be added intact. */
async function* addStored(
  { folder, clock, client, now }: WriteDeps,
  archive: ArchiveWriter,
  sources: string[],
  onAdded: (bytes: number) => void,
): AsyncGenerator<Missing> {
  const add = async (path: string, options?: { linked: boolean }) => {
    const file = relative(folder.root, path);
    const added = await archive.addFile(file, path, options);
    onAdded(added?.bytes ?? 0);
    return { file, added };
  };
  for (const sha256 of sources) {
    const { file, added } = await add(blobPath(folder, "source", sha256));
    if (added?.sha256 !== sha256) yield { file, because: added ? "damaged" : "gone" };
  }
  for (const { name, bytes, expiresAt } of picturesOf(client, now)) {
    const { file, added } = await add(blobPath(folder, "picture", name), { linked: true });
    if (added?.bytes === bytes) continue;
    yield { file, because: added ? "damaged" : expiresAt <= clock.now() ? "expired" : "gone" };
  }
}

/** Opens a copy of a database, migrates it to this program's schema and lists the audit rules it violates. */
export async function brokenRules(copy: string, now: number): Promise<string[]> {
  const store = openSqliteStore(copy, { isCopy: true, mapped: true });
  try {
    const { findings } = await audit(store, now);
    return findings.filter(({ ok }) => !ok).map(({ check, broken }) => `${check} (${broken[0]?.id})`);
  } finally {
    await store.close();
  }
}
