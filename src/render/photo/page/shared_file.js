/**
 * A worker that holds the file which the page shares with the process that opened it: only workers may read and write
 * such a file at once. It takes one message at a time: bytes to write, or how many to read.
 */

/** @typedef {{ write: Uint8Array<ArrayBuffer> } | { read: number }} Request */
/**
 * A handle that only workers get, which the compiler's library for pages leaves out.
 * @typedef {object} OpenFile
 * @property {(bytes: Uint8Array, at: { at: number }) => number} write
 * @property {(bytes: Uint8Array, at: { at: number }) => number} read
 * @property {(length: number) => void} truncate
 */

/** More than any network's answer; pages of the file that are never written take no room. */
const FILE_BYTES = 4 * 1024 * 1024;
/** Files of this name belong to earlier pages of the same browser. */
const PREFIX = "networks-";

async function openFile() {
  const root = await navigator.storage.getDirectory();
  for await (const name of root.keys()) {
    // A page that is just closing still holds its own; the next one removes it.
    if (name.startsWith(PREFIX)) await root.removeEntry(name).catch(() => {});
  }
  const beginning = PREFIX + crypto.randomUUID();
  const handle = await root.getFileHandle(beginning, { create: true });
  /** @type {OpenFile} */
  const file = await /** @type {any} */ (handle).createSyncAccessHandle();
  file.truncate(FILE_BYTES);
  file.write(new TextEncoder().encode(beginning), { at: 0 });
  return { file, beginning };
}

const opened = openFile();
opened.then(
  ({ beginning }) => postMessage({ beginning }),
  (error) => postMessage({ problem: String(error) }),
);

addEventListener("message", async (/** @type {MessageEvent<Request>} */ { data }) => {
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

export {};
