import { loadAndCompile, loadLiteRt, Tensor } from "@litertjs/core";
import { canvasOf, contextOf } from "./decode.js";

/** @import { Numbers, Bytes } from "./masks.js" */

/**
 * A turned rectangle of a picture that a network looks at, in that picture's pixels.
 * @typedef {object} Crop
 * @property {number} cx
 * @property {number} cy
 * @property {number} width
 * @property {number} height
 * @property {number} rotation radians, clockwise as canvases turn
 */

const NETWORKS = {
  faceDetector: "/models/face_detector.tflite",
  personDetector: "/models/person_detector.tflite",
  poseLandmarks: "/models/pose_landmarks.tflite",
  personMask: "/models/person_mask.tflite",
};
/** @typedef {keyof typeof NETWORKS} NetworkName */

/** @type {Map<NetworkName, Awaited<ReturnType<typeof loadAndCompile>>>} */
const compiled = new Map();

/** Loads the runtime and every network once; nothing works before. */
export async function loadNetworks() {
  await loadLiteRt("/litert/", { threads: false });
  for (const [name, path] of Object.entries(NETWORKS)) {
    compiled.set(/** @type {NetworkName} */ (name), await loadAndCompile(path, { accelerator: "wasm" }));
  }
}

/**
 * Runs a network on one crop of a picture and returns its outputs in the model's order.
 * @param {NetworkName} name
 * @param {OffscreenCanvas} picture
 * @param {Crop} crop
 * @param {{ size: number, low: number, high: number }} input the square input's side, and what black and white are to the network
 * @returns {Promise<Numbers[]>}
 */
export async function runNetwork(name, picture, crop, input) {
  const network = compiled.get(name);
  if (!network) throw new Error(`The network ${name} is not loaded.`);
  const tensor = new Tensor(tensorOf(picture, crop, input), [1, input.size, input.size, 3]);
  try {
    const outputs = await network.run([tensor]);
    return outputs.map((output) => {
      const values = Float32Array.from(output.toTypedArray());
      output.delete(); // The runtime's memory is not garbage collected.
      return values;
    });
  } finally {
    tensor.delete();
  }
}

/** @type {Map<number, OffscreenCanvas>} */
const inputs = new Map();

/**
 * @param {OffscreenCanvas} picture
 * @param {Crop} crop
 * @param {{ size: number, low: number, high: number }} input
 */
function tensorOf(picture, crop, { size, low, high }) {
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
  /** @type {Bytes} */
  const data = context.getImageData(0, 0, size, size).data;
  const tensor = new Float32Array(size * size * 3);
  const scale = (high - low) / 255;
  for (let from = 0, to = 0; from < data.length; from += 4) {
    tensor[to++] = data[from] * scale + low;
    tensor[to++] = data[from + 1] * scale + low;
    tensor[to++] = data[from + 2] * scale + low;
  }
  return tensor;
}
