// What the service takes of its machine: measured on Linux with the single file.

const MB = 1024 * 1024;

/** A worker, its Chromium and the models, measured with 40-megapixel photos. */
const RENDER_WORKER_BYTES = 800 * MB;
/** The service beside its workers, as long as its database is small. */
const SERVICE_BYTES = 256 * MB;
/**
 * The least for the service and one worker. With 600 MB moving cards and cards of 2048x2048 with photos of 12
 * megapixels were made, programs being read anew from the disk all the while; with 450 MB none was.
 */
export const LEAST_MEMORY_BYTES = 600 * MB;

/** How many workers a machine has room for: one for each core, if it has the memory too. */
export function workersFor({ cores, memoryBytes }: { cores: number; memoryBytes: number }): number {
  const roomFor = Math.floor((memoryBytes - SERVICE_BYTES) / RENDER_WORKER_BYTES);
  return Math.max(1, Math.min(cores, roomFor));
}

/** Enough that no worker is ended for want of memory. */
export function memoryFor(workers: number): number {
  return workers === 1 ? LEAST_MEMORY_BYTES : SERVICE_BYTES + workers * RENDER_WORKER_BYTES;
}
