import { closeSync, openSync, readdirSync, readSync } from "node:fs";
import { join } from "node:path";

/** Where Chromium keeps pages' private files: as plain files under other names. */
const FOLDER = "Default/File System";

/** A file that a page writes pixels to and this process reads. */
export interface PixelFile {
  /** Its first bytes, valid until the next call. Throws when there are fewer. */
  read(bytes: number): Uint8Array;
  close(): void;
}

/** Finds the file in a browser's profile that starts with `mark`. Throws when there is none. */
export function openPixelFile(profile: string, mark: string): PixelFile {
  const root = join(profile, FOLDER);
  const wanted = Buffer.from(mark);
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const fd = openSync(join(entry.parentPath, entry.name), "r");
    const begin = Buffer.alloc(wanted.length);
    if (readSync(fd, begin, 0, begin.length, 0) === wanted.length && begin.equals(wanted)) return reader(fd);
    closeSync(fd);
  }
  throw new Error("the page's file is not in the browser's profile");
}

function reader(fd: number): PixelFile {
  let buffer = new Uint8Array();
  let isOpen = true;
  return {
    read: (bytes) => {
      // The buffer stays close to the size of the card at hand; the largest takes 16 MB.
      if (buffer.length < bytes || buffer.length > 2 * bytes) buffer = new Uint8Array(bytes);
      const count = readSync(fd, buffer, 0, bytes, 0);
      if (count !== bytes) throw new Error(`the page wrote ${count} bytes of pixels instead of ${bytes}`);
      return buffer.subarray(0, bytes);
    },
    close: () => {
      if (isOpen) closeSync(fd);
      isOpen = false;
    },
  };
}
