import type { NetworkName } from "../networks.ts";
import { canvasOf, contextOf } from "./decode.ts";
import type { Bytes, Numbers } from "./pixels.ts";
import type { Crop, Size } from "./rects.ts";
import type { FileAnswer } from "./shared-file.ts";

const FLOAT_BYTES = 4;

let fileWorker: Worker;
/** The request that awaits the process's answer. */
let asked: PromiseWithResolvers<number[]> | undefined;

/**
 * Opens the file shared with the process that runs the networks. Throws when it cannot be opened.
 * @returns what the file begins with, by which that process finds it
 */
export async function openNetworkFile(): Promise<string> {
  fileWorker = new Worker("/page/shared-file.ts", { type: "module" });
  const { beginning, problem } = await fileMessage();
  if (!beginning) throw new Error(`The page's file did not open: ${problem}`);
  return beginning;
}

/**
 * Called by the process that runs the networks, once its answer is in the file.
 * @param lengths of the network's outputs, in floats
 * @param problem why there is no answer
 */
export function answered(lengths: number[], problem: string | null): void {
  if (problem === null) asked?.resolve(lengths);
  else asked?.reject(new Error(problem));
}

/** The file worker's next message. */
function fileMessage(): Promise<FileAnswer> {
  return new Promise((resolve, reject) => {
    fileWorker.onmessage = ({ data }) => resolve(data);
    fileWorker.onerror = ({ message }) => reject(new Error(message));
  });
}

/**
 * Runs a network on a picture's colours and returns its outputs, in the network's order. Throws when the
 * process reports a problem. All share one file, so the next network is only asked after this one's answer.
 * @param rgb three bytes per pixel; transferred, so the caller can no longer use it
 */
export async function askNetwork(
  network: NetworkName,
  rgb: Uint8Array<ArrayBuffer>,
  { width, height }: Size,
): Promise<[Numbers, ...Numbers[]]> {
  await writeShared(rgb);
  asked = Promise.withResolvers();
  const { askNetwork } = globalThis as unknown as { askNetwork: (request: string) => void };
  askNetwork(JSON.stringify({ network, width, height }));
  const lengths = await asked.promise;
  const read = fileMessage();
  fileWorker.postMessage({ read: FLOAT_BYTES * lengths.reduce((sum, length) => sum + length, 0) });
  const { bytes } = await read;
  if (!bytes) throw new Error("The page's file gave nothing.");
  let at = 0;
  const [first, ...others] = lengths.map((length) => {
    const values = new Float32Array(bytes.buffer, at, length);
    at += FLOAT_BYTES * length;
    return values;
  });
  if (!first) throw new Error(`The network ${network} gave no output.`);
  return [first, ...others];
}

/**
 * Writes bytes at the beginning of the shared file. No network may run meanwhile.
 * @param bytes transferred, so the caller can no longer use them
 */
export async function writeShared(bytes: Bytes | Uint8Array<ArrayBuffer>): Promise<void> {
  const written = fileMessage();
  fileWorker.postMessage({ write: bytes }, [bytes.buffer]);
  await written;
}

/** Runs a network on a crop of a picture. `side` is that of the network's square input, in pixels. */
export function runNetwork(network: NetworkName, picture: OffscreenCanvas, crop: Crop, side: number) {
  return askNetwork(network, rgbOf(picture, crop, side), { width: side, height: side });
}

const inputs = new Map<number, OffscreenCanvas>();

function rgbOf(picture: OffscreenCanvas, crop: Crop, size: number): Uint8Array<ArrayBuffer> {
  const canvas = inputs.get(size) ?? canvasOf(size, size);
  inputs.set(size, canvas);
  const context = contextOf(canvas);
  context.resetTransform();
  context.fillStyle = "#000";
  context.fillRect(0, 0, size, size);
  context.imageSmoothingQuality = "medium";
  context.translate(size / 2, size / 2);
  context.scale(size / crop.width, size / crop.height);
  context.rotate(-crop.rotation);
  context.translate(-crop.cx, -crop.cy);
  context.drawImage(picture, 0, 0);
  return rgbFrom(context.getImageData(0, 0, size, size).data);
}

/** Drops the alpha channel. */
export function rgbFrom(rgba: Bytes): Uint8Array<ArrayBuffer> {
  const rgb = new Uint8Array((rgba.length / 4) * 3);
  for (let from = 0, to = 0; from < rgba.length; from += 4) {
    rgb[to++] = rgba[from];
    rgb[to++] = rgba[from + 1];
    rgb[to++] = rgba[from + 2];
  }
  return rgb;
}
