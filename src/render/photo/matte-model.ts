import { stat } from "node:fs/promises";
import { Tensor } from "onnxruntime-common";
import { OperatorError } from "../../core/errors.ts";
import { MAX_MATTE_MODEL_BYTES, MAX_NETWORK_PICTURE_PIXELS } from "../../core/limits.ts";
import { sha256 } from "../../core/sha256.ts";
import { loadOnnxRuntime, type OnnxSession } from "./onnx-runtime.ts";
import { resampled } from "./resample.ts";

/** A matte network the operator provides: its file, and the hash the file had when the service started. */
export interface MatteModel {
  path: string;
  sha256: string;
}

/** A picture of three bytes per pixel, row by row. */
interface Picture {
  rgb: Uint8Array;
  width: number;
  height: number;
}

/** The operator's network, which separates player from background. */
export interface MatteNetwork {
  /** The fixed input size it was exported with; null if it takes any size. */
  size: { width: number; height: number } | null;
  /** The probability that each pixel belongs to the player, 0 to 1, on the picture's own grid. */
  run(picture: Picture): Float32Array;
}

/** ONNX's type number for 32-bit floats. */
const FLOAT = 1;
/**
 * U^2-Net was trained at 320 px, IS-Net at 1024: when the output is not log odds, the input size tells them
 * apart.
 */
const LARGEST_U2NET_PX = 512;
/** Output that leaves 0 to 1 by more than rounding is log odds. */
const ROUNDING = 0.01;

/**
 * How upstream normalises the input of each kind: colours divided by 255 or by the brightest channel, minus
 * the mean, divided by the deviation. BiRefNet and U^2-Net use ImageNet's values; IS-Net `normalize(image,
 * [0.5, 0.5, 0.5], [1, 1, 1])`.
 */
const FEEDS = {
  u2net: { mean: [0.485, 0.456, 0.406], deviation: [0.229, 0.224, 0.225], byBrightest: true },
  isnet: { mean: [0.5, 0.5, 0.5], deviation: [1, 1, 1], byBrightest: false },
  birefnet: { mean: [0.485, 0.456, 0.406], deviation: [0.229, 0.224, 0.225], byBrightest: false },
};
export type MatteKind = keyof typeof FEEDS;

/**
 * Reads the file that CARDPRESS_MATTE_MODEL names and loads it once, to be sure it is a matte network.
 * @param runtime the folder of the native ONNX runtime
 * @throws an OperatorError that says what is wrong with the file
 */
export async function checkMatteModel(path: string, runtime: string): Promise<MatteModel> {
  const bytes = await readModel(path);
  const session = load(path, bytes, runtime);
  try {
    matteNetwork(session);
  } catch (error) {
    throw wrongFile(path, (error as Error).message);
  } finally {
    session.end();
  }
  return { path, sha256: sha256(bytes) };
}

/** Opens the operator's network; throws when its file is no longer the one the service started with. */
export async function openMatteModel(
  model: MatteModel,
  open: (network: Uint8Array) => OnnxSession,
): Promise<MatteNetwork> {
  const bytes = await Bun.file(model.path).bytes();
  if (sha256(bytes) !== model.sha256)
    throw new Error(`${model.path} has changed since the service started: start it again.`);
  return matteNetwork(open(bytes));
}

/** What a trial run of the operator's network showed, for `doctor`. */
export interface MatteTrial extends MatteModel {
  kind: MatteKind;
  size: { width: number; height: number } | null;
  /** Duration of one run after the first. */
  runMs: number;
  /** How much the network raised this process's peak memory. */
  memoryBytes: number;
  /** Whether it separated a bright disc from a dark ground. */
  sees: boolean;
}

/** Loads the network and runs it on a drawn disc. @throws an OperatorError for a wrong file */
export async function tryMatteModel(path: string, runtime: string): Promise<MatteTrial> {
  // Workers load the runtime anyway, so its own memory is not counted.
  const before = process.resourceUsage().maxRSS;
  const bytes = await readModel(path);
  const session = load(path, bytes, runtime);
  try {
    const network = matteNetwork(session);
    const disc = drawnDisc(network.size ?? { width: 320, height: 320 });
    const mask = network.run(disc.picture);
    const start = performance.now();
    network.run(disc.picture);
    const runMs = performance.now() - start;
    const mean = (inside: boolean) => {
      const cells = mask.filter((_, i) => disc.isInside(i) === inside);
      return cells.reduce((sum, value) => sum + value, 0) / cells.length;
    };
    return {
      path,
      sha256: sha256(bytes),
      kind: network.kind(),
      size: network.size,
      runMs,
      memoryBytes: 1024 * Math.max(0, process.resourceUsage().maxRSS - before),
      sees: mean(true) - mean(false) > 0.2,
    };
  } catch (error) {
    throw wrongFile(path, (error as Error).message);
  } finally {
    session.end();
  }
}

async function readModel(path: string): Promise<Uint8Array> {
  const found = await stat(path).catch(() => null);
  if (!found?.isFile())
    throw wrongFile(path, found ? "it is a folder." : "there is no such file, or this user may not see it.");
  if (found.size > MAX_MATTE_MODEL_BYTES)
    throw wrongFile(path, `it has ${found.size} bytes; an ONNX file holds ${MAX_MATTE_MODEL_BYTES} at most.`);
  return Bun.file(path)
    .bytes()
    .catch((error) => {
      throw wrongFile(path, `it cannot be read: ${error.message}`);
    });
}

function load(path: string, bytes: Uint8Array, runtime: string): OnnxSession {
  const ort = loadOnnxRuntime(runtime);
  try {
    return ort.open(bytes, 1);
  } catch (error) {
    throw wrongFile(path, `it does not load: ${(error as Error).message}`);
  }
}

function wrongFile(path: string, problem: string): OperatorError {
  return new OperatorError(
    `CARDPRESS_MATTE_MODEL is ${path}: ${problem} Name an ONNX file of the U^2-Net, IS-Net or BiRefNet kind, as the operator's guide lists them, or unset it to use the built-in network.`,
  );
}

/**
 * Wraps a loaded network as a separator of player and background.
 * @throws when its input is not a picture or its first output not a mask
 */
export function matteNetwork(session: OnnxSession): MatteNetwork & { kind(): MatteKind } {
  const size = sizeOf(session);
  const isLarge = size !== null && Math.max(size.width, size.height) > LARGEST_U2NET_PX;
  // A large network is fed like BiRefNet until its first output, log odds or not, shows which kind it is.
  let kind: MatteKind = isLarge ? "birefnet" : "u2net";
  let givesOdds: boolean | undefined;
  const run = (picture: Picture): Float32Array => {
    const { width, height } = size ?? picture;
    const fed = { rgb: resampled(picture.rgb, picture, { width, height }, 3), width, height };
    let mask = runOnce(session, kind, fed);
    if (givesOdds === undefined) {
      givesOdds = isLogOdds(mask);
      if (isLarge && !givesOdds) {
        kind = "isnet";
        mask = runOnce(session, kind, fed);
      }
    }
    const chances = givesOdds ? mask.map((odds) => 1 / (1 + Math.exp(-odds))) : mask;
    return resampled(chances, { width, height }, picture, 1);
  };
  return { size, run, kind: () => kind };
}

function runOnce(session: OnnxSession, kind: MatteKind, { rgb, width, height }: Picture): Float32Array {
  const [input] = session.inputs;
  const tensor = new Tensor("float32", valuesFor(kind, rgb), [1, 3, height, width]);
  const outputs = session.run({ [input?.name ?? ""]: tensor });
  const mask = outputs[session.outputNames[0] ?? ""]?.data as Float32Array | undefined;
  if (mask?.length !== width * height)
    throw new Error(`its first output has ${mask?.length ?? 0} values for ${width} x ${height} pixels.`);
  if (!mask.every(Number.isFinite)) throw new Error("its first output holds values that are no numbers.");
  return mask;
}

const isLogOdds = (mask: Float32Array) => mask.some((value) => value < -ROUNDING || value > 1 + ROUNDING);

/** Normalised colours as this kind expects them, one plane after the other. */
export function valuesFor(kind: MatteKind, rgb: Uint8Array): Float32Array {
  const { mean, deviation, byBrightest } = FEEDS[kind];
  const brightest = byBrightest
    ? Math.max(
        1,
        rgb.reduce((most, value) => Math.max(most, value), 0),
      )
    : 255;
  const cells = rgb.length / 3;
  const values = new Float32Array(rgb.length);
  for (let channel = 0; channel < 3; channel++) {
    const scale = 1 / (brightest * (deviation[channel] ?? 1));
    const offset = (mean[channel] ?? 0) / (deviation[channel] ?? 1);
    for (let i = 0; i < cells; i++)
      values[channel * cells + i] = (rgb[3 * i + channel] ?? 0) * scale - offset;
  }
  return values;
}

/** The fixed input size of a network; null for any. Throws when it takes no picture or gives no mask. */
function sizeOf({ inputs, outputs }: OnnxSession): MatteNetwork["size"] {
  const [input] = inputs;
  const listed = inputs.map(({ name, shape }) => `${name} [${shape.join(", ")}]`).join(", ");
  const [, channels, height = 0, width = 0] = input?.shape ?? [];
  if (inputs.length !== 1 || input?.shape.length !== 4 || channels !== 3)
    throw new Error(`its inputs are ${listed}; it must have one of [1, 3, height, width].`);
  if (input.type !== FLOAT)
    throw new Error(`its input ${input.name} does not take 32-bit floats: fetch the model that is not fp16.`);
  const [mask] = outputs;
  if (mask?.shape.length !== 4 || (mask.shape[1] !== 1 && mask.shape[1] !== -1))
    throw new Error(
      `its first output is ${mask?.name} [${mask?.shape.join(", ")}]; it must be a mask of [1, 1, height, width].`,
    );
  if (mask.type !== FLOAT) throw new Error(`its output ${mask.name} does not give 32-bit floats.`);
  if (height <= 0 || width <= 0) return null;
  if (height * width > MAX_NETWORK_PICTURE_PIXELS)
    throw new Error(
      `its input is ${width} x ${height}; at most ${MAX_NETWORK_PICTURE_PIXELS} pixels are given.`,
    );
  return { width, height };
}

/** A bright disc on a dark ground, which stands out to every network of these kinds. */
function drawnDisc({ width, height }: { width: number; height: number }) {
  const isInside = (i: number) =>
    Math.hypot((i % width) / width - 0.5, Math.floor(i / width) / height - 0.5) < 0.25;
  const rgb = new Uint8Array(3 * width * height);
  for (let i = 0; i < width * height; i++) rgb.set(isInside(i) ? [235, 190, 60] : [20, 60, 40], 3 * i);
  return { picture: { rgb, width, height }, isInside };
}
