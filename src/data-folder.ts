import { mkdirSync } from "node:fs";
import { basename, join } from "node:path";
import { OperatorError } from "./core/errors.ts";

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
  sourcePath(sha256: string): string;
  outputPath(name: string): string;
  outputNameOf(path: string): string;
}

/** Names the folders under `root` and creates them. Throws an OperatorError when it cannot. */
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
  try {
    for (const path of [folder.sources, folder.cutouts, folder.images, folder.cache, folder.profiles]) {
      mkdirSync(path, { recursive: true, mode: 0o750 });
    }
  } catch (cause) {
    throw new OperatorError(
      `The data folder ${root} cannot be written: ${(cause as Error).message}. Set CARDPRESS_DATA_DIR to a folder this user may write to.`,
    );
  }
  return folder;
}
