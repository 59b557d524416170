import { canvasOf, contextOf } from "./decode.js";

/** @import { Numbers, Bytes } from "./masks.js" */
/** @import { NetworkName } from "../networks.ts" */

/**
 * A turned rectangle of a picture that a network looks at, in that picture's pixels.
 * @typedef {object} Crop
 * @property {number} cx
 * @property {number} cy
 * @property {number} width
 * @property {number} height
 * @property {number} rotation radians, clockwise as canvases turn
 */

/** Floats have four bytes. */
const FLOAT_BYTES = 4;

/** @type {Worker} */
let fileWorker;
/** Who waits for the process's answer. @type {PromiseWithResolvers<number[]> | undefined} */
let asked;
/** The networks run one after the other, as there is one file. @type {Promise<unknown>} */
let last = Promise.resolve();

/** Opens the file through which networks are asked; returns what it begins with. @returns {Promise<string>} */
export async function openNetworkFile() {
  fileWorker = new Worker("/page/shared_file.js", { type: "module" });
  const { beginning, problem } = await fileMessage();
  if (!beginning) throw new Error(`The page's file did not open: ${problem}`);
  return beginning;
}

/** Called by the process that runs the networks. @param {number[]} lengths @param {string | null} problem */
export function answered(lengths, problem) {
  if (problem === null) asked?.resolve(lengths);
  else asked?.reject(new Error(problem));
}

/** @returns {Promise<{ beginning?: string, problem?: string, bytes?: Uint8Array<ArrayBuffer> }>} the file worker's next message */
function fileMessage() {
  return new Promise((resolve, reject) => {
    fileWorker.onmessage = ({ data }) => resolve(data);
    fileWorker.onerror = ({ message }) => reject(new Error(message));
  });
}

/**
 * Runs a network on a picture's colours and returns its outputs in the network's order.
 * @param {NetworkName} network
 * @param {Uint8Array<ArrayBuffer>} rgb three bytes a pixel; given away
 * @param {{ width: number, height: number }} size
 * @returns {Promise<Numbers[]>}
 */
export function askNetwork(network, rgb, size) {
  const answer = last.then(() => ask(network, rgb, size));
  last = answer.catch(() => {});
  return answer;
}

/** @param {NetworkName} network @param {Uint8Array<ArrayBuffer>} rgb @param {{ width: number, height: number }} size */
async function ask(network, rgb, { width, height }) {
  const written = fileMessage();
  fileWorker.postMessage({ write: rgb }, [rgb.buffer]);
  await written;
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
 * Runs a network on one crop of a picture and returns its outputs in the network's order.
 * @param {NetworkName} network
 * @param {OffscreenCanvas} picture
 * @param {Crop} crop
 * @param {{ size: number }} input the square input's side
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

/** Drops what is not colour. @param {Bytes} rgba @returns {Uint8Array<ArrayBuffer>} */
export function rgbFrom(rgba) {
  const rgb = new Uint8Array((rgba.length / 4) * 3);
  for (let from = 0, to = 0; from < rgba.length; from += 4) {
    rgb[to++] = rgba[from];
    rgb[to++] = rgba[from + 1];
    rgb[to++] = rgba[from + 2];
  }
  return rgb;
}
