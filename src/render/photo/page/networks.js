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
  carefulPoseLandmarks: "/models/pose_landmarks_heavy.tflite",
  personMask: "/models/person_mask.tflite",
};
/** @typedef {keyof typeof NETWORKS} NetworkName */

/** @type {Map<NetworkName, ReturnType<typeof loadAndCompile>>} */
const compiled = new Map();

/** Loads the runtime and the networks every photo needs, and runs each once, for the first run is several times slower. */
export async function loadNetworks() {
  await loadLiteRt("/litert/", { threads: false });
  const blank = canvasOf(64, 64);
  const crop = { cx: 32, cy: 32, width: 64, height: 64, rotation: 0 };
  for (const [name, size] of /** @type {[NetworkName, number][]} */ (FIRST_RUNS)) {
    await runNetwork(name, blank, crop, { size, low: 0, high: 1 });
  }
}

/** The networks every photo needs and their inputs' sides. */
const FIRST_RUNS = [
  ["faceDetector", 192],
  ["personDetector", 224],
  ["poseLandmarks", 256],
  ["personMask", 256],
];

/** @param {NetworkName} name */
function networkOf(name) {
  const network = compiled.get(name) ?? loadAndCompile(NETWORKS[name], { accelerator: "wasm" });
  compiled.set(name, network);
  return network;
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
  const network = await networkOf(name);
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
