// Runs in a worker of the page, where files can be written at once. Type-checked through JSDoc, served as it
// is.

/**
 * @typedef {{ write(bytes: Uint8Array, options?: { at: number }): number, flush(): void }} SyncFile
 * @type {SyncFile | undefined}
 */
let file;

addEventListener("message", write);

/**
 * First the file's name, which is also written into it: by that the process outside finds it. Then, again and
 * again, pixels.
 * @param {MessageEvent<{ name: string } | { pixels: ArrayBuffer }>} message
 */
async function write({ data }) {
  try {
    const bytes = "name" in data ? new TextEncoder().encode(data.name) : new Uint8Array(data.pixels);
    if ("name" in data) file = await openFile(data.name);
    // A short write means a full disk.
    if (file?.write(bytes, { at: 0 }) !== bytes.length)
      throw new Error("the pixels could not be written whole");
    postMessage("done");
  } catch (error) {
    postMessage(String(error));
  }
}

/** @param {string} name @returns {Promise<SyncFile>} */
async function openFile(name) {
  const folder = await navigator.storage.getDirectory();
  const handle = await folder.getFileHandle(name, { create: true });
  return /** @type {any} */ (handle).createSyncAccessHandle();
}

export {};
