// Runs in a worker of the page, where files can be written at once.

interface SyncFile {
  write(bytes: Uint8Array, options?: { at: number }): number;
  flush(): void;
}
let file: SyncFile | undefined;

addEventListener("message", write);

/**
 * The first message is the file's name. It is also written into the file: by that the process outside finds
 * it. All others are pixels.
 */
async function write({ data }: MessageEvent<{ name: string } | { pixels: ArrayBuffer }>) {
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

async function openFile(name: string): Promise<SyncFile> {
  const folder = await navigator.storage.getDirectory();
  const handle = await folder.getFileHandle(name, { create: true });
  return (handle as unknown as { createSyncAccessHandle(): Promise<SyncFile> }).createSyncAccessHandle();
}
