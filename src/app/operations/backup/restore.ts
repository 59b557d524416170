import { existsSync, mkdtempSync } from "node:fs";
import { constants, copyFile, link, mkdir, open, readdir, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { blobPath } from "../../../blobs/folder-blobs.ts";
import { OperatorError } from "../../../core/errors.ts";
import { MIN_FREE_DISK_BYTES } from "../../../core/limits.ts";
import { databaseProblems } from "../../../store/engine/check-database.ts";
import { MIGRATION_NAMES } from "../../../store/engine/migrate.ts";
import { integrityProblems, neededSources, openAsIs, picturesOf } from "../../../store/engine/snapshot.ts";
import { readBucketNote } from "../../../system/bucket-note.ts";
import { openDataFolder } from "../../../system/data-folder.ts";
import { freeBytes, inUnits } from "../../../system/disk-space.ts";
import { type FileLock, lockFile } from "../../../system/file-lock.ts";
import { isFileError, NO_LINK_CODES } from "../../../system/write-whole.ts";
import { brokenRules, type Step } from "./backup.ts";
import { type ArchiveEntry, type EntrySink, readArchive } from "./backup-archive.ts";
import {
  BUCKET_NOTE,
  DATABASE,
  FORMAT_VERSION,
  isPlace,
  MANIFEST,
  MAX_MANIFEST_BYTES,
  type Manifest,
  mayLink,
  parseManifest,
  TEMPLATES,
} from "./backup-manifest.ts";
import { publish, refuseFull, stagingPrefix } from "./staging.ts";

export interface RestoreOptions {
  from: string;
  dataDir: string;
  signal: AbortSignal;
  step: Step;
}

export interface RestoreReport {
  data_dir: string;
  files: number;
  created_at: string;
  cardpress: string;
  secrets: boolean;
  /** Where the templates were put; null when the backup has none. */
  templates_dir: string | null;
  /** The bucket that holds the photos and pictures, and has to be taken over; null: they are here. */
  bucket: string | null;
  counts: Manifest["counts"];
  /** Pictures and sources the database refers to that are not in the backup. */
  missing: { count: number; files: string[] };
}

const OTHER_FOLDER = "set CARDPRESS_DATA_DIR to a new one";
/** Enough to show what is missing. */
const MAX_NAMED = 50;

/**
 * Unpacks a backup into an empty or missing data folder, after verifying everything in it: names, hashes,
 * database integrity and the ledger. Until then it stays in a temporary folder, which is removed when
 * anything is wrong. Throws an OperatorError.
 */
export async function restoreBackup(options: RestoreOptions): Promise<RestoreReport> {
  const { from, dataDir, signal, step } = options;
  if (!(await stat(from).catch(() => undefined))?.isFile())
    throw new OperatorError(`--from ${from} cannot be read. Name an archive that "cardpress backup" made.`);
  const { path: staging, letGo } = await newStaging(dataDir).catch((error: Error) => {
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(`${dataDir} cannot be restored into: ${error.message}. Set CARDPRESS_DATA_DIR.`);
  });
  try {
    const { manifest, files } = await step("unpack", async (note) => {
      const { size } = Bun.file(from);
      const onBytes = (bytes: number) => note(`${inUnits(bytes)} of ${inUnits(size)}`);
      return unpack(from, staging, { signal, onBytes });
    });
    const missing = await step("check the database and the books", () => check(from, staging, manifest));
    await letGo();
    await refuseFull(dataDir, OTHER_FOLDER, basename(staging));
    await publish(staging, dataDir);
    return {
      data_dir: dataDir,
      files,
      created_at: manifest.created_at,
      cardpress: manifest.cardpress,
      secrets: manifest.secrets,
      templates_dir: manifest.templates ? join(dataDir, TEMPLATES) : null,
      bucket: readBucketNote(join(dataDir, BUCKET_NOTE))?.bucket ?? null,
      counts: manifest.counts,
      missing,
    };
  } catch (error) {
    if (!isFileError(error)) throw error;
    throw new OperatorError(`${dataDir} cannot be restored into: ${error.message}. Nothing was changed.`);
  } finally {
    await letGo();
    await rm(staging, { recursive: true, force: true });
  }
}

/**
 * Beside a temporary folder, held by the process that fills it: it distinguishes what a killed one left from
 * what another fills.
 */
const LOCK_SUFFIX = ".lock";

async function releaseLock(path: string, lock: FileLock): Promise<void> {
  lock.release();
  for (const suffix of [LOCK_SUFFIX, `${LOCK_SUFFIX}-journal`]) await rm(path + suffix, { force: true });
}

/** Throws an OperatorError where the data folder is in use. */
async function newStaging(dataDir: string): Promise<{ path: string; letGo: () => Promise<void> }> {
  const beginning = `${await stagingPrefix(dataDir)}restoring-`;
  await clearKilled(beginning);
  await refuseFull(dataDir, OTHER_FOLDER);
  // Both at once: a folder that nobody holds is cleared away.
  const path = mkdtempSync(beginning);
  const lock = lockFile(path + LOCK_SUFFIX);
  if (!lock) throw new Error(`${path} is held by another process`);
  return { path, letGo: () => releaseLock(path, lock) };
}

/** Killed restores leave a database and the key to its secrets behind. */
async function clearKilled(beginning: string): Promise<void> {
  const names = await readdir(dirname(beginning)).catch(() => []);
  const isOne = (name: string) => name.startsWith(basename(beginning)) && !name.includes(LOCK_SUFFIX);
  for (const name of names.filter(isOne)) {
    const path = join(dirname(beginning), name);
    const lock = lockFile(path + LOCK_SUFFIX);
    if (!lock) continue;
    await rm(path, { recursive: true, force: true });
    await releaseLock(path, lock);
  }
}

async function unpack(
  from: string,
  staging: string,
  options: { signal: AbortSignal; onBytes: (bytes: number) => void },
): Promise<{ manifest: Manifest; files: number }> {
  const untrusted = (reason: string) =>
    new OperatorError(`${from} ${reason}. It is damaged or not to be trusted. Take another backup.`);
  const manifestText: Uint8Array[] = [];
  let manifest: Manifest | undefined;
  let left = (await freeBytes(staging)) - MIN_FREE_DISK_BYTES;
  let entries = 0;
  const take = async ({ name, bytes, linkTo }: ArchiveEntry): Promise<EntrySink | undefined> => {
    entries += 1;
    if (entries === 1) {
      if (name !== MANIFEST || bytes > MAX_MANIFEST_BYTES)
        throw new OperatorError(`${from} is not a cardpress backup: it does not begin with ${MANIFEST}.`);
      return { write: async (chunk) => manifestText.push(chunk), close: async () => {} };
    }
    manifest ??= readManifest(from, Buffer.concat(manifestText).toString());
    if (entries > manifest.files) throw untrusted("holds more files than its manifest says");
    if (!isPlace(name)) throw untrusted(`holds ${JSON.stringify(name)}, which belongs into no data folder`);
    left -= bytes;
    if (left < 0)
      throw new OperatorError(
        `${staging} has no room for ${JSON.stringify(name)} of ${inUnits(bytes)}: ${inUnits(MIN_FREE_DISK_BYTES)} must stay free. Make room, or restore to another disk.`,
      );
    if (linkTo !== undefined && !mayLink(name, linkTo))
      throw untrusted(`holds ${JSON.stringify(name)} as a link to ${JSON.stringify(linkTo)}`);
    const path = join(staging, name);
    const made = linkTo === undefined ? fileSink(path) : linkFile(join(staging, linkTo), path);
    return made.catch((error: NodeJS.ErrnoException) => {
      throw error.code === "EEXIST" ? untrusted(`holds ${JSON.stringify(name)} twice`) : error;
    });
  };
  const { files } = await readArchive(from, options, take);
  if (!manifest || !existsSync(join(staging, DATABASE))) throw untrusted("holds no database");
  return { manifest, files };
}

function readManifest(from: string, text: string): Manifest {
  const manifest = parseManifest(text);
  if (!manifest)
    throw new OperatorError(`${from} is not a cardpress backup: its ${MANIFEST} says something else.`);
  const known = MIGRATION_NAMES.includes(manifest.schema);
  const of = manifest.commit ? ` of commit ${manifest.commit.slice(0, 10)}` : "";
  if (manifest.format_version > FORMAT_VERSION || !known)
    throw new OperatorError(
      `${from} was made by cardpress ${manifest.cardpress}${of}, which is newer (its database has the migration ${manifest.schema}). Restore it with that version or a later one.`,
    );
  return manifest;
}

/** A new file for this user only; an existing one, even a link, is refused. */
async function fileSink(path: string): Promise<EntrySink> {
  await mkdir(dirname(path), { recursive: true, mode: 0o750 });
  const file = await open(path, "wx", 0o600);
  return { write: (chunk) => file.writeFile(chunk), close: () => file.close() };
}

/** A second name for a file, or a copy where the file system has no hard links. */
async function linkFile(from: string, to: string): Promise<undefined> {
  await mkdir(dirname(to), { recursive: true, mode: 0o750 });
  await link(from, to).catch((error: NodeJS.ErrnoException) => {
    if (!NO_LINK_CODES.has(error.code)) throw error;
    return copyFile(from, to, constants.COPYFILE_EXCL);
  });
}

/** Examines what was unpacked the way the service will. Returns what is missing. */
async function check(
  from: string,
  staging: string,
  { created_at }: Manifest,
): Promise<RestoreReport["missing"]> {
  const database = join(staging, DATABASE);
  const refuse = (problems: string[]) => {
    if (problems.length === 0) return;
    throw new OperatorError(
      `The database in ${from} is broken: ${problems.join("; ")}. Take another backup. To look at this one, unpack it with tar into an empty folder: it is laid out like a data folder.`,
    );
  };
  const now = Date.parse(created_at);
  refuse(withDatabase(database, integrityProblems));
  // An older database is migrated to this program's schema; the archive stays unchanged.
  refuse((await brokenRules(database, now)).map((rule) => `the rule ${rule} does not hold`));
  refuse(databaseProblems(database));
  const folder = openDataFolder(staging);
  if (readBucketNote(folder.bucketNote)) return { count: 0, files: [] };
  return withDatabase(database, (client) => {
    const missing: RestoreReport["missing"] = { count: 0, files: [] };
    const look = (path: string) => {
      if (existsSync(path)) return;
      missing.count += 1;
      if (missing.files.length < MAX_NAMED) missing.files.push(basename(path));
    };
    for (const sha256 of neededSources(client)) look(blobPath(folder, "source", sha256));
    for (const { name } of picturesOf(client, now)) look(blobPath(folder, "picture", name));
    return missing;
  });
}

function withDatabase<T>(file: string, look: (client: ReturnType<typeof openAsIs>) => T): T {
  const client = openAsIs(file);
  try {
    return look(client);
  } finally {
    client.close();
  }
}
