import { rmSync, statSync } from "node:fs";
import { access, readdir, rm, stat, unlink, utimes } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type DataFolder, FOLDER_ACCESS } from "../system/data-folder.ts";
import { linkWhole, moveWhole, STAGING_SUFFIX, writeWhole } from "../system/write-whole.ts";
import { BLOB_KINDS, type BlobKind, type Blobs } from "./blobs.ts";

/** The folders that hold blobs. */
export type BlobFolders = Pick<
  DataFolder,
  "sources" | "cutouts" | "images" | "placeholders" | "templateFiles"
>;

const FOLDER_OF = {
  source: "sources",
  cutout: "cutouts",
  picture: "images",
  placeholder: "placeholders",
  template: "templateFiles",
} as const satisfies Record<BlobKind, keyof BlobFolders>;

/** The file path of a blob, for code that works on the folder itself: backups and inspections. */
export function blobPath(folders: BlobFolders, kind: BlobKind, name: string): string {
  return join(folders[FOLDER_OF[kind]], ...shardOf(kind, name), name);
}

/**
 * Spreads each kind over subfolders by a part of its names that is effectively random, so that none gets too
 * large.
 */
function shardOf(kind: BlobKind, name: string): string[] {
  if (kind === "placeholder") return [];
  if (kind !== "picture") return [name.slice(0, 2)];
  return [
    name
      .replace(/\.\w+$/, "")
      .slice(-2)
      .toLowerCase(),
  ];
}

/** Blobs as files in the data folder. */
export function folderBlobs(folders: BlobFolders): Blobs {
  const pathOf = (kind: BlobKind, name: string) => blobPath(folders, kind, name);
  const filesOf = (kind: BlobKind) => filesIn(folders[FOLDER_OF[kind]]);
  return {
    put: (kind, name, from) =>
      typeof from === "object" && "path" in from
        ? moveWhole(from.path, pathOf(kind, name))
        : writeWhole(pathOf(kind, name), from),
    copy: (from, to) => linkWhole(pathOf(from.kind, from.name), pathOf(to.kind, to.name)),
    refresh: async (kind, name, bytes) => {
      const path = pathOf(kind, name);
      if ((await unlessAbsent(stat(path)))?.size !== bytes) return false;
      const now = new Date();
      return (await unlessAbsent(utimes(path, now, now).then(() => true))) ?? false;
    },
    stat: async (kind, name) => {
      const info = await unlessAbsent(stat(pathOf(kind, name)));
      return info && { bytes: info.size };
    },
    open: async (kind, name) => {
      const file = Bun.file(pathOf(kind, name));
      return (await file.exists()) ? file : null;
    },
    serve: async (kind, name, request, headers) => {
      const file = Bun.file(pathOf(kind, name));
      if (!(await file.exists())) return null;
      const response = new Response(file, { headers });
      // For ranges, Bun sets the header itself.
      if (!request.headers.has("range")) response.headers.set("Accept-Ranges", "bytes");
      return response;
    },
    local: async (kind, name) => pathOf(kind, name),
    remove: async (kind, name, { unlessYoungerThan } = {}) => {
      const path = pathOf(kind, name);
      if (unlessYoungerThan === undefined)
        return (await unlessAbsent(unlink(path).then(() => true))) ?? false;
      // Synchronous, so that a refresh happens either before and is seen, or afterwards and finds nothing.
      const info = statSync(path, { throwIfNoEntry: false });
      if (!info || info.mtimeMs > unlessYoungerThan) return false;
      rmSync(path, { force: true });
      return true;
    },
    removeStartingWith: async (kind, beginning) => {
      const folder = dirname(pathOf(kind, beginning));
      const names = (await unlessAbsent(readdir(folder))) ?? [];
      for (const name of names)
        if (name.startsWith(beginning)) await unlessAbsent(unlink(join(folder, name)));
    },
    list: async function* (kind, until) {
      for await (const { path, name, modifiedAt } of filesOf(kind))
        if (modifiedAt <= until && path === pathOf(kind, name)) yield name;
    },
    tidy: async (until) => {
      let removed = 0;
      for (const kind of BLOB_KINDS) {
        for await (const { path, name, modifiedAt } of filesOf(kind)) {
          if (!name.endsWith(STAGING_SUFFIX) || modifiedAt > until) continue;
          await rm(path, { force: true });
          removed += 1;
        }
      }
      return removed;
    },
    isWritable: async () => {
      try {
        await Promise.all(
          [folders.sources, folders.cutouts, folders.images].map((path) => access(path, FOLDER_ACCESS)),
        );
        return true;
      } catch {
        return false;
      }
    },
  };
}

/** The result of a file operation, or null when there is no such file. */
async function unlessAbsent<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

async function* filesIn(root: string): AsyncGenerator<{ path: string; name: string; modifiedAt: number }> {
  // One folder at a time: listing a million pictures at once would be a memory peak every hour.
  for (const entry of await readdir(root, { withFileTypes: true })) {
    const path = join(root, entry.name);
    if (entry.isDirectory()) yield* filesIn(path);
    if (!entry.isFile()) continue;
    const info = await stat(path).catch(() => undefined);
    if (info) yield { path, name: entry.name, modifiedAt: info.mtimeMs };
  }
}
