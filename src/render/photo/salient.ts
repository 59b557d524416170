import { ASSET_PATHS } from "./assets.ts";
import { loadOnnxRuntime } from "./onnx-runtime.ts";

/** From 1 x 3 x height x width normalised colours to height x width saliencies. */
export type SalientNetwork = (values: Float32Array, size: SalientSize) => Promise<Float32Array>;

export interface SalientSize {
  width: number;
  height: number;
}

/** Mean and deviation of ImageNet's colours, with which U^2-Net was trained. */
const MEAN = [0.485, 0.456, 0.406] as const;
const DEVIATION = [0.229, 0.224, 0.225] as const;

/**
 * Loads U^2-Net (small, in 8 bits) into this process, or returns null where the native runtime is missing, as in a compiled
 * program: the photo page then runs it in WebAssembly, four times slower.
 */
export async function loadNativeSalient(threads: number): Promise<SalientNetwork | null> {
  const ort = loadOnnxRuntime();
  if (!ort) return null;
  const network = await Bun.file(String(ASSET_PATHS["/models/salient.onnx"])).bytes();
  const session = await ort.InferenceSession.create(network, {
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    // The arena keeps what it once took: 204 MB instead of 40 MB, for 45 ms.
    enableCpuMemArena: false,
    logSeverityLevel: 3,
  });
  const [input = ""] = session.inputNames;
  const [output = ""] = session.outputNames;
  return async (values, { width, height }) => {
    const tensor = new ort.Tensor("float32", values, [1, 3, height, width]);
    return (await session.run({ [input]: tensor }))[output]?.data as Float32Array;
  };
}

/** Colours as U^2-Net wants them: divided by the brightest channel, normalised, one plane after the other. */
export function salientValues(rgb: Uint8Array): Float32Array {
  const cells = rgb.length / 3;
  const brightest = Math.max(
    1,
    rgb.reduce((most, value) => Math.max(most, value), 0),
  );
  const values = new Float32Array(rgb.length);
  for (let channel = 0; channel < 3; channel++) {
    const scale = 1 / (brightest * (DEVIATION[channel] ?? 1));
    const offset = (MEAN[channel] ?? 0) / (DEVIATION[channel] ?? 1);
    for (let i = 0; i < cells; i++)
      values[channel * cells + i] = (rgb[3 * i + channel] ?? 0) * scale - offset;
  }
  return values;
}

/** The network's answer stretched from its least to its greatest value, as 0 to 255. */
export function salientBytes(values: Float32Array): Uint8Array {
  let least = Number.POSITIVE_INFINITY;
  let most = Number.NEGATIVE_INFINITY;
  for (const value of values) {
    if (value < least) least = value;
    if (value > most) most = value;
  }
  const scale = 255 / Math.max(1e-6, most - least);
  return Uint8Array.from(values, (value) => Math.round((value - least) * scale));
}
