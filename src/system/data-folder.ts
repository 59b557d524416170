import { accessSync, constants, existsSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { OperatorError } from "../core/errors.ts";
import { ensureTempFolder } from "./temp-folder.ts";

/** Next to the database: the copies made before schema changes go there too. */
export const BACKUPS_FOLDER = "backups";

/** Full access for this user, read access for its group. */
export const FOLDER_MODE = 0o750;

/** Where everything of one installation is stored. */
export interface DataFolder {
  root: string;
  database: string;
  /** Encrypts secrets at rest; must be part of every backup. */
  secretKey: string;
  serverLock: string;
  /** The time as the last server knew it, for the next one on this machine. */
  clockMark: string;
  /** Names the bucket that holds the photos and pictures; absent where they are in this folder. */
  bucketNote: string;
  /** The name of the last node that ran here, where several serve from one database. */
  node: string;
  sources: string;
  cutouts: string;
  images: string;
  /** Placeholder pictures, one per size; the pictures of finished test images are links to them. */
  placeholders: string;
  /** Templates as images were accepted with them. Operators edit them elsewhere. */
  templateFiles: string;
  cache: string;
  profiles: string;
  /** Files being written; emptied at start. */
  scratch: string;
  /**
   * Database copies made before upgrades, and records of the last backups; the backups themselves are stored
   * elsewhere.
   */
  backups: string;
}

/**
 * Names the folders under `root` and creates them. Throws an OperatorError when that fails, or when this user
 * may not use what exists: another user's file would otherwise only be noticed by the first request that
 * needs it.
 */
export function openDataFolder(root: string): DataFolder {
  const folder: DataFolder = {
    root,
    database: join(root, "cardpress.db"),
    secretKey: join(root, "secret.key"),
    serverLock: join(root, "server.lock"),
    clockMark: join(root, "clock.json"),
    bucketNote: join(root, "bucket.json"),
    node: join(root, "node"),
    sources: join(root, "sources"),
    cutouts: join(root, "cutouts"),
    images: join(root, "images"),
    placeholders: join(root, "placeholders"),
    templateFiles: join(root, "template-files"),
    cache: join(root, "cache"),
    profiles: join(root, "profiles"),
    scratch: join(root, "scratch"),
    backups: join(root, BACKUPS_FOLDER),
  };
  const { database, serverLock } = folder;
  const folders = [
    folder.sources,
    folder.cutouts,
    folder.images,
    folder.placeholders,
    folder.templateFiles,
    folder.cache,
    folder.profiles,
    folder.scratch,
    folder.backups,
  ];
  try {
    for (const path of folders) mkdirSync(path, { recursive: true, mode: FOLDER_MODE });
  } catch (cause) {
    throw new OperatorError(
      `The data folder ${root} cannot be written: ${(cause as Error).message}. Set CARDPRESS_DATA_DIR to a folder this user may write to.`,
      1,
      { cause },
    );
  }
  const files = [database, `${database}-wal`, `${database}-shm`, serverLock];
  const shut = [
    ...[root, ...folders].filter((path) => isForbidden(path, FOLDER_ACCESS)),
    ...files.filter((path) => isForbidden(path, constants.R_OK | constants.W_OK)),
    ...[folder.secretKey].filter((path) => isForbidden(path, constants.R_OK)),
  ];
  if (shut.length > 0) throw new OperatorError(forbidden(root, shut));
  ensureTempFolder(folder.scratch);
  return folder;
}

/**
 * Throws an OperatorError when there is no data folder: a command that works on one must not create another
 * because of a mistyped name and then report it as empty. An empty folder, such as a new volume, is accepted.
 */
export function requireDataFolder(root: string): void {
  const remedy = `Set CARDPRESS_DATA_DIR to the folder the service uses; "cardpress serve" and "cardpress migrate" make a new one.`;
  if (!existsSync(root)) throw new OperatorError(`There is no data folder at ${root}. ${remedy}`);
  const own =
    /^(cardpress\.db.*|secret\.key|server\.lock|sources|cutouts|images|cache|profiles|scratch|placeholders|template-files|backups|node|bucket\.json|clock\.json|lost\+found)$/;
  // Missing read permission is reported when it is opened.
  if (isForbidden(root, constants.R_OK) || readdirSync(root).every((name) => own.test(name))) return;
  if (!existsSync(join(root, "cardpress.db")))
    throw new OperatorError(`${root} is not a data folder of cardpress: it holds other things. ${remedy}`);
}

/**
 * Throws an OperatorError when a database would be created next to the pictures of an earlier one: that one
 * was lost, and the service would start from nothing, without its accounts, keys and credits.
 */
export function refuseLostDatabase({ database, images, bucketNote }: DataFolder): void {
  const hasRows = [database, `${database}-wal`].some(
    (path) => (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0,
  );
  const isNoted = existsSync(bucketNote);
  if (hasRows || (!isNoted && !hasFiles(images))) return;
  throw new OperatorError(
    `There are pictures in ${isNoted ? `the bucket that ${bucketNote} names` : images}, but the database ${database} is ${existsSync(database) ? "empty" : "missing"}. Put the right one back, or restore the whole data folder from a backup. To begin anew, set CARDPRESS_DATA_DIR to another folder or move ${isNoted ? "that file" : "these pictures"} away.`,
  );
}

/** Whether photos, pictures or templates lie in the folder itself. */
export function holdsOwnFiles({ sources, images, placeholders, templateFiles }: DataFolder): boolean {
  return [sources, images, placeholders, templateFiles].some(hasFiles);
}

function hasFiles(folder: string): boolean {
  return readdirSync(folder, { withFileTypes: true }).some(
    (entry) => entry.isFile() || (entry.isDirectory() && hasFiles(join(folder, entry.name))),
  );
}

/** What the service does with a folder: list it, write to it, and open its files. */
export const FOLDER_ACCESS = constants.R_OK | constants.W_OK | constants.X_OK;

/** Whether something exists that this user may not use as `mode` says. */
export function isForbidden(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EACCES";
  }
}

/** Enough to see the problem; the remedy is the same for all. */
const PATHS_NAMED = 5;

/** Describes the paths under `root` that this user may not use. */
export function forbidden(root: string, paths: string[]): string {
  const user = `${process.getuid?.()}:${process.getgid?.()}`;
  const more = paths.length > PATHS_NAMED ? ` and ${paths.length - PATHS_NAMED} more` : "";
  const named = paths.slice(0, PATHS_NAMED).join(", ");
  return `This user may not read and write ${named}${more}. As root, give it the data folder: chown -R ${user} ${root}`;
}
