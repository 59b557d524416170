import { accessSync, constants, existsSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { OperatorError } from "../core/errors.ts";

/** Beside the database: what is copied before its schema changes goes there too. */
export const BACKUPS_FOLDER = "backups";

/** For this user, and its group to look on. */
export const FOLDER_MODE = 0o750;

/** Where everything of one installation lies. */
export interface DataFolder {
  root: string;
  database: string;
  /** Seals secrets at rest; belongs into every backup. */
  secretKey: string;
  serverLock: string;
  /** The time of day as the last server knew it, for the next one on this machine. */
  clockMark: string;
  sources: string;
  cutouts: string;
  images: string;
  /** Pictures for test images, each size once; what finished test images have are links to them. */
  placeholders: string;
  /** Templates as images were accepted with them. The operator edits them elsewhere. */
  templateFiles: string;
  cache: string;
  profiles: string;
  /** Files in the making; a start empties it. */
  scratch: string;
  /** Copies of the database before upgrades, and what is known of the last backups; the backups lie elsewhere. */
  backups: string;
}

/**
 * Names the folders under `root` and creates them. Throws an OperatorError when it cannot, or when this user may not use
 * what is there: a file of another user would otherwise be met only by the first request that needs it.
 */
export function openDataFolder(root: string): DataFolder {
  const folder: DataFolder = {
    root,
    database: join(root, "cardpress.db"),
    secretKey: join(root, "secret.key"),
    serverLock: join(root, "server.lock"),
    clockMark: join(root, "clock.json"),
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
    );
  }
  const files = [database, `${database}-wal`, `${database}-shm`, serverLock];
  const shut = [
    ...[root, ...folders].filter((path) => isForbidden(path, FOLDER_ACCESS)),
    ...files.filter((path) => isForbidden(path, constants.R_OK | constants.W_OK)),
    ...[folder.secretKey].filter((path) => isForbidden(path, constants.R_OK)),
  ];
  if (shut.length > 0) throw new OperatorError(forbidden(root, shut));
  return folder;
}

/**
 * Throws an OperatorError where there is no data folder: a command that works on one must not make another by a mistyped
 * name, and then tell of its emptiness. An empty one, such as a new volume, will do.
 */
export function requireDataFolder(root: string): void {
  const remedy = `Set CARDPRESS_DATA_DIR to the folder the service uses; "cardpress serve" and "cardpress migrate" make a new one.`;
  if (!existsSync(root)) throw new OperatorError(`There is no data folder at ${root}. ${remedy}`);
  const own =
    /^(cardpress\.db.*|secret\.key|server\.lock|sources|cutouts|images|cache|profiles|scratch|placeholders|template-files|backups|clock\.json|lost\+found)$/;
  // What this user may not read is told when it is opened.
  if (isForbidden(root, constants.R_OK) || readdirSync(root).every((name) => own.test(name))) return;
  if (!existsSync(join(root, "cardpress.db")))
    throw new OperatorError(`${root} is no data folder of cardpress: it holds other things. ${remedy}`);
}

/**
 * Throws an OperatorError where a database would be made anew beside the pictures of another: it was lost, and the service
 * would begin from nothing, without its accounts, keys and credits.
 */
export function refuseLostDatabase({ database, images }: DataFolder): void {
  const hasRows = [database, `${database}-wal`].some(
    (path) => (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0,
  );
  if (hasRows || !hasFiles(images)) return;
  throw new OperatorError(
    `There are pictures in ${images}, but the database ${database} is ${existsSync(database) ? "empty" : "missing"}. Put the right one back, or restore the whole data folder from a backup. To begin anew, set CARDPRESS_DATA_DIR to another folder or move these pictures away.`,
  );
}

function hasFiles(folder: string): boolean {
  return readdirSync(folder, { withFileTypes: true }).some(
    (entry) => entry.isFile() || (entry.isDirectory() && hasFiles(join(folder, entry.name))),
  );
}

/** What the service does with a folder: list it, write into it, and open what is in it. */
export const FOLDER_ACCESS = constants.R_OK | constants.W_OK | constants.X_OK;

/** Whether something is there that this user has no right to use as `mode` says. */
export function isForbidden(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EACCES";
  }
}

/** Enough to know what to mend; the remedy is one for all. */
const PATHS_NAMED = 5;

/** What to tell of paths under `root` that this user has no right to use. */
export function forbidden(root: string, paths: string[]): string {
  const user = `${process.getuid?.()}:${process.getgid?.()}`;
  const more = paths.length > PATHS_NAMED ? ` and ${paths.length - PATHS_NAMED} more` : "";
  const named = paths.slice(0, PATHS_NAMED).join(", ");
  return `This user may not read and write ${named}${more}. As root, give it the data folder: chown -R ${user} ${root}`;
}
