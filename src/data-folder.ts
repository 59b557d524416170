import { accessSync, constants, mkdirSync } from "node:fs";
import { basename, join } from "node:path";
import { OperatorError } from "./core/errors.ts";

/** Beside the database: what is copied before its schema changes goes there too. */
export const BACKUPS_FOLDER = "backups";

/** Where everything of one installation lies. */
export interface DataFolder {
  root: string;
  database: string;
  /** Seals secrets at rest; belongs into every backup. */
  secretKey: string;
  serverLock: string;
  sources: string;
  cutouts: string;
  images: string;
  cache: string;
  profiles: string;
  /** Copies of the database before upgrades, and what is known of the last backups; the backups lie elsewhere. */
  backups: string;
  sourcePath(sha256: string): string;
  outputPath(name: string): string;
  outputNameOf(path: string): string;
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
    sources: join(root, "sources"),
    cutouts: join(root, "cutouts"),
    images: join(root, "images"),
    cache: join(root, "cache"),
    profiles: join(root, "profiles"),
    backups: join(root, BACKUPS_FOLDER),
    sourcePath: (sha256) => join(root, "sources", sha256.slice(0, 2), sha256),
    // The last characters of the name are random, so that the pictures spread over the folders evenly.
    outputPath: (name) =>
      join(
        root,
        "images",
        name
          .replace(/\.\w+$/, "")
          .slice(-2)
          .toLowerCase(),
        name,
      ),
    outputNameOf: (path) => basename(path),
  };
  const { database, serverLock, sources, cutouts, images, cache, profiles, backups } = folder;
  const folders = [sources, cutouts, images, cache, profiles, backups];
  try {
    for (const path of folders) mkdirSync(path, { recursive: true, mode: 0o750 });
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
