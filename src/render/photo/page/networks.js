import { canvasOf, contextOf } from "./decode.js";

/** @import { NetworkName } from "../networks.ts" */
/** @import { Bytes, Numbers } from "./pixels.js" */
/** @import { Crop } from "./rects.js" */

const FLOAT_BYTES = 4;

/** @type {Worker} */
let fileWorker;
/** The request that awaits the process's answer. @type {PromiseWithResolvers<number[]> | undefined} */
let asked;

/**
 * Opens the file shared with the process that runs the networks. Throws when it cannot be opened.
 * @returns {Promise<string>} what the file begins with, by which that process finds it
 */
export async function openNetworkFile() {
  fileWorker = new Worker("/page/shared_file.js", { type: "module" });
  const { beginning, problem } = await fileMessage();
  if (!beginning) throw new Error(`The page's file did not open: ${problem}`);
  return beginning;
}

/**
 * Called by the process that runs the networks, once its answer is in the file.
 * @param {number[]} lengths of the network's outputs, in floats
 * @param {string | null} problem why there is no answer
 */
export function answered(lengths, problem) {
  if (problem === null) asked?.resolve(lengths);
  else asked?.reject(new Error(problem));
}

/**
 * @returns {Promise<{ beginning?: string, problem?: string, bytes?: Uint8Array<ArrayBuffer> }>} the file
 *   worker's next message
 */
function fileMessage() {
  return new Promise((resolve, reject) => {
    fileWorker.onmessage = ({ data }) => resolve(data);
    fileWorker.onerror = ({ message }) => reject(new Error(message));
  });
}

/**
 * Runs a network on a picture's colours and returns its outputs, in the network's order. Throws when the
 * process reports a problem. All share one file, so the next network is only asked after this one's answer.
 * @param {NetworkName} network
 * @param {Uint8Array<ArrayBuffer>} rgb three bytes per pixel; transferred, so the caller can no longer use it
 * @param {{ width: number, height: number }} size
 * @returns {Promise<Numbers[]>}
 */
export async function askNetwork(network, rgb, { width, height }) {
  await writeShared(rgb);
  asked = Promise.withResolvers();
  /** @type {any} */ (globalThis).askNetwork(JSON.stringify({ network, width, height }));
  const lengths = await asked.promise;
  const read = fileMessage();
  fileWorker.postMessage({ read: FLOAT_BYTES * lengths.reduce((sum, length) => sum + length, 0) });
  const { bytes } = await read;
  if (!bytes) throw new Error("The page's file gave nothing.");
  let at = 0;
  return lengths.map((length) => {
    const values = new Float32Array(bytes.buffer, at, length);
    at += FLOAT_BYTES * length;
    return values;
  });
}

/**
 * Writes bytes at the beginning of the shared file. No network may run meanwhile.
 * @param {Bytes | Uint8Array<ArrayBuffer>} bytes transferred, so the caller can no longer use them
 */
export async function writeShared(bytes) {
  const written = fileMessage();
  fileWorker.postMessage({ write: bytes }, [bytes.buffer]);
  await written;
}

/**
 * Runs a network on a crop of a picture and returns its outputs, in the network's order.
 * @param {NetworkName} network @param {OffscreenCanvas} picture @param {Crop} crop
 * @param {{ size: number }} input side of the network's square input, in pixels
 * @returns {Promise<Numbers[]>}
 */
export function runNetwork(network, picture, crop, { size }) {
  return askNetwork(network, rgbOf(picture, crop, size), { width: size, height: size });
}

/** @type {Map<number, OffscreenCanvas>} */
const inputs = new Map();

/** @param {OffscreenCanvas} picture @param {Crop} crop @param {number} size */
function rgbOf(picture, crop, size) {
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

/** Drops the alpha channel. @param {Bytes} rgba @returns {Uint8Array<ArrayBuffer>} */
export function rgbFrom(rgba) {
  const rgb = new Uint8Array((rgba.length / 4) * 3);
  for (let from = 0, to = 0; from < rgba.length; from += 4) {
    rgb[to++] = rgba[from];
    rgb[to++] = rgba[from + 1];
    rgb[to++] = rgba[from + 2];
  }
  return rgb;
}
