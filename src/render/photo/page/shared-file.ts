/**
 * A worker that holds the file shared by the page and the process that opened the page: only workers can read
 * and write such a file synchronously. It handles one message at a time: bytes to write, or the number of
 * bytes to read.
 */

type Request = { write: ArrayBufferView<ArrayBuffer> } | { read: number };

/** What the file begins with, once it is open, or what went wrong; then the bytes that were to be read. */
export interface FileAnswer {
  beginning?: string;
  problem?: string;
  bytes?: Uint8Array<ArrayBuffer>;
}

/** A synchronous file handle. Only workers can get one, so the compiler's library for pages omits it. */
interface OpenFile {
  write(bytes: ArrayBufferView, at: { at: number }): number;
  read(bytes: Uint8Array, at: { at: number }): number;
  truncate(length: number): void;
}

/**
 * As much as the largest cutout's pixels, and more than any network's answer; unwritten, it takes no space.
 */
const FILE_BYTES = 16 * 1024 * 1024;
/** Prefix of the file's name. Other files with it belong to earlier pages of the same browser. */
const PREFIX = "networks-";

async function openFile() {
  const root = await navigator.storage.getDirectory();
  for await (const name of root.keys()) {
    // A page that is still closing holds on to its own file; the next page removes it.
    if (name.startsWith(PREFIX)) await root.removeEntry(name).catch(() => {});
  }
  const beginning = PREFIX + crypto.randomUUID();
  const handle = (await root.getFileHandle(beginning, { create: true })) as FileSystemFileHandle & {
    createSyncAccessHandle(): Promise<OpenFile>;
  };
  const file = await handle.createSyncAccessHandle();
  file.truncate(FILE_BYTES);
  file.write(new TextEncoder().encode(beginning), { at: 0 });
  return { file, beginning };
}

const opened = openFile();
opened.then(
  ({ beginning }) => postMessage({ beginning }),
  (error) => postMessage({ problem: String(error) }),
);

addEventListener("message", async ({ data }: MessageEvent<Request>) => {
  const { file } = await opened;
  if ("write" in data) {
    file.write(data.write, { at: 0 });
    postMessage({});
  } else {
    const bytes = new Uint8Array(data.read);
    file.read(bytes, { at: 0 });
    postMessage({ bytes }, { transfer: [bytes.buffer] });
  }
});
