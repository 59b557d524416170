import { createReadStream, createWriteStream, type Stats } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { Readable, type Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip, createZstdCompress, createZstdDecompress } from "node:zlib";
import { createTarDecoder, createTarPacker } from "modern-tar";
import { OperatorError } from "../../../core/errors.ts";

// A backup is a tar archive: its files first, then SHA256SUMS with the hash of each, in the format of
// sha256sum. Written and read as a stream, so that its size does not matter. A file with several names is in
// it once, and then as links to the first name, which other programs that read tar archives link again too.

export const SUMS = "SHA256SUMS";
const CHUNK_BYTES = 1024 * 1024;
/** Fewer than any file system's limit, so that a restore can make as many. */
const MAX_LINKS_PER_FILE = 10_000;
/** Pictures hardly compress, so the fastest level is the right one. */
const GZIP_LEVEL = 1;

/** By file suffix. */
const PACKERS: [suffix: string, packer?: () => Transform][] = [
  [".tar"],
  [".tar.zst", () => createZstdCompress()],
  [".tar.gz", () => createGzip({ level: GZIP_LEVEL })],
  [".tgz", () => createGzip({ level: GZIP_LEVEL })],
];
export const ARCHIVE_SUFFIXES = PACKERS.map(([suffix]) => suffix);

/** By the first bytes, whatever the file is called. */
const UNPACKERS: [magic: number[], unpacker: () => Transform][] = [
  [[0x1f, 0x8b], createGunzip],
  [[0x28, 0xb5, 0x2f, 0xfd], createZstdDecompress],
];

export interface ArchiveWriter {
  addText(name: string, text: string): Promise<void>;
  /**
   * Adds a file and returns its size and hash; undefined when the file does not exist (any more). With
   * `linked`, a further name of a file that was added so becomes a link: only for files that never change.
   */
  addFile(
    name: string,
    path: string,
    options?: { linked: boolean },
  ): Promise<{ bytes: number; sha256: string } | undefined>;
}

/**
 * Writes an archive to `path`, a new file readable by this user only: what `fill` adds, then the checksums.
 * Synced when this resolves. When it throws, the caller removes what is left. Returns the number of files.
 */
export async function writeArchive(
  path: string,
  options: { like: string; signal: AbortSignal },
  fill: (archive: ArchiveWriter) => Promise<void>,
): Promise<{ files: number }> {
  const { readable, controller } = createTarPacker();
  const sums: string[] = [];
  const stored = storedFiles();
  const add = async (name: string, bytes: number, chunks: AsyncIterable<Uint8Array> | Uint8Array[]) => {
    options.signal.throwIfAborted();
    const hasher = new Bun.CryptoHasher("sha256");
    const writer = controller.add({ name, size: bytes, mode: 0o600 }).getWriter();
    for await (const chunk of chunks) {
      hasher.update(chunk);
      await writer.write(chunk);
    }
    await writer.close();
    const sha256 = hasher.digest("hex");
    sums.push(sumLine(sha256, name));
    return { bytes, sha256 };
  };
  const addText = async (name: string, text: string) => {
    const bytes = new TextEncoder().encode(text);
    await add(name, bytes.length, [bytes]);
  };
  const addFile = async (name: string, file: string, { linked } = { linked: false }) => {
    const handle = await openIfThere(file);
    if (!handle) return undefined;
    try {
      const info = await handle.stat();
      const first = linked ? await stored.find(info) : undefined;
      if (first) {
        options.signal.throwIfAborted();
        await controller.add({ name, size: 0, mode: 0o600, type: "link", linkname: first.name }).close();
        sums.push(sumLine(first.sha256, name));
        return { bytes: first.bytes, sha256: first.sha256 };
      }
      const added = await add(name, info.size, chunksOf(handle, info.size));
      if (linked) stored.note(info, { name, path: file, ...added });
      return added;
    } finally {
      await handle.close();
    }
  };
  const filling = async () => {
    try {
      await fill({ addText, addFile });
      const files = sums.length;
      await addText(SUMS, sums.join(""));
      controller.finalize();
      return { files };
    } catch (error) {
      controller.error(error);
      throw error;
    }
  };
  const [, packer] = PACKERS.find(([suffix]) => options.like.endsWith(suffix)) ?? [];
  const file = createWriteStream(path, { flags: "wx", mode: 0o600 });
  const source = Readable.from(readable);
  const writing = packer ? pipeline(source, packer(), file) : pipeline(source, file);
  // A full disk also aborts `fill`, with a less helpful error: the disk's takes precedence.
  const [written, filled] = await Promise.allSettled([writing, filling()]);
  if (written.status === "rejected") throw written.reason;
  if (filled.status === "rejected") throw filled.reason;
  const handle = await open(path, "r+");
  await handle.sync().finally(() => handle.close());
  return filled.value;
}

interface StoredFile {
  name: string;
  path: string;
  bytes: number;
  sha256: string;
}

/** The files in an archive that have several names on disk. */
function storedFiles() {
  const files = new Map<string, StoredFile & { links: number }>();
  const keyOf = ({ dev, ino }: Stats) => `${dev}:${ino}`;
  return {
    note(info: Stats, file: StoredFile): void {
      if (info.nlink > 1) files.set(keyOf(info), { ...file, links: 0 });
    },
    /** The same file under the name it was stored by. */
    async find(info: Stats): Promise<StoredFile | undefined> {
      const file = files.get(keyOf(info));
      if (!file || info.nlink < 2 || file.links === MAX_LINKS_PER_FILE) return undefined;
      // Only while that name is there: a number is given to another file once all names are gone.
      const now = await stat(file.path).catch(() => undefined);
      if (!now || keyOf(now) !== keyOf(info)) return undefined;
      file.links += 1;
      return file;
    },
  };
}

export interface ArchiveEntry {
  name: string;
  bytes: number;
  /** The earlier entry that this is a further name of; then it has no bytes of its own. */
  linkTo?: string;
}

/** Receives the bytes of one entry. */
export interface EntrySink {
  write(chunk: Uint8Array): Promise<unknown>;
  /** Always called, even when the rest does not arrive. */
  close(): Promise<unknown>;
}

export interface ReadOptions {
  signal: AbortSignal;
  /** Reports how much of the archive has been read. */
  onBytes?: (bytes: number) => void;
}

/**
 * Reads an archive, passes each entry to the sink that `take` chooses (or none), and verifies the hashes
 * against the archive's own checksums. `take` may throw to refuse an entry before its bytes are read. Throws
 * an OperatorError for an archive that is damaged, truncated, or contains anything but plain files and links
 * to those before them.
 */
export async function readArchive(
  path: string,
  options: ReadOptions,
  take: (entry: ArchiveEntry) => Promise<EntrySink | undefined>,
): Promise<{ files: number }> {
  const damaged = (reason: string) =>
    new OperatorError(`${path} is damaged, cut off or no backup: ${reason}. Take another backup.`);
  const decoder = createTarDecoder({ strict: true });
  const feeding = feed(await bytesOf(path, options), decoder.writable);
  const entries = decoder.readable.getReader();
  /** Why the archive could not be read; what `take` and its sinks throw is passed on unchanged. */
  const read = async <T>(reader: { read(): Promise<T> }): Promise<T> => {
    try {
      return await reader.read();
    } catch (error) {
      options.signal.throwIfAborted();
      throw damaged((error as Error).message.replace(/\.$/, ""));
    }
  };
  const sums: string[] = [];
  const hashes = new Map<string, string>();
  try {
    for (;;) {
      const { done, value: entry } = await read(entries);
      if (done) throw damaged(`it ends without ${SUMS}`);
      const { name, size: bytes, type = "file", linkname = "" } = entry.header;
      const linked = type === "link" ? hashes.get(linkname) : undefined;
      if (type !== "file" && (linked === undefined || bytes > 0))
        throw damaged(`${JSON.stringify(name)} is a ${type}, not a file or a link to one before it`);
      const hasher = new Bun.CryptoHasher("sha256");
      const isLast = name === SUMS;
      const stated: Uint8Array[] = [];
      const sink = isLast
        ? undefined
        : await take({ name, bytes, ...(linked !== undefined && { linkTo: linkname }) });
      // The checksums are read into memory, so their size is bounded.
      if (isLast && bytes !== sums.reduce((length, line) => length + Buffer.byteLength(line), 0))
        throw damaged(`${SUMS} is not of the files before it`);
      const body = entry.body.getReader();
      try {
        for (let part = await read(body); !part.done; part = await read(body)) {
          hasher.update(part.value);
          if (isLast) stated.push(part.value);
          else await sink?.write(part.value);
        }
      } finally {
        await sink?.close();
      }
      if (isLast) {
        const wrong = firstDifference(sums, Buffer.concat(stated).toString());
        if (wrong !== undefined) throw damaged(`${JSON.stringify(wrong)} is not what ${SUMS} says`);
        if (!(await read(entries)).done) throw damaged(`something comes after ${SUMS}`);
        return { files: sums.length };
      }
      const sha256 = linked ?? hasher.digest("hex");
      hashes.set(name, sha256);
      sums.push(sumLine(sha256, name));
    }
  } finally {
    await entries.cancel(new Error("read as far as needed")).catch(() => {});
    await feeding;
  }
}

/** The archive as a plain tar. */
async function bytesOf(path: string, options: ReadOptions): Promise<AsyncIterable<Uint8Array>> {
  const handle = await open(path, "r");
  const { buffer } = await handle.read(Buffer.alloc(4), 0, 4, 0).finally(() => handle.close());
  const [, unpacker] = UNPACKERS.find(([magic]) => magic.every((byte, i) => buffer[i] === byte)) ?? [];
  if (!unpacker) return packedBytes(path, options);
  const unpacked = unpacker();
  // Its failure surfaces where its output is read.
  pipeline(packedBytes(path, options), unpacked).catch(() => {});
  return unpacked;
}

async function* packedBytes(path: string, { signal, onBytes }: ReadOptions): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of createReadStream(path, { highWaterMark: CHUNK_BYTES })) {
    signal.throwIfAborted();
    bytes += chunk.length;
    onBytes?.(bytes);
    yield chunk;
  }
}

async function feed(chunks: AsyncIterable<Uint8Array>, to: WritableStream<Uint8Array>): Promise<void> {
  const writer = to.getWriter();
  try {
    for await (const chunk of chunks) await writer.write(chunk);
    await writer.close();
  } catch (error) {
    // The reader of the entries gets the error, unless it stopped reading itself.
    await writer.abort(error).catch(() => {});
  }
}

/** The first file whose checksum does not match. */
function firstDifference(sums: string[], stated: string): string | undefined {
  if (sums.join("") === stated) return undefined;
  const lines = stated.split("\n");
  const line = sums.find((sum, i) => sum !== `${lines[i]}\n`);
  return line?.slice(line.indexOf("  ") + 2, -1) ?? SUMS;
}

function sumLine(sha256: string, name: string): string {
  return `${sha256}  ${name}\n`;
}

async function openIfThere(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Exactly `bytes` of a file, even if it grows meanwhile. */
async function* chunksOf(file: FileHandle, bytes: number): AsyncGenerator<Uint8Array> {
  for (let left = bytes; left > 0; ) {
    const size = Math.min(left, CHUNK_BYTES);
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafeSlow(size), 0, size, null);
    if (bytesRead === 0)
      throw new OperatorError("A file became shorter while it was read. Make the backup again.");
    left -= bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}
