import { Tensor } from "onnxruntime-common";
import { OperatorError } from "../../core/errors.ts";
import { type MatteModel, openMatteModel, valuesFor } from "./matte-model.ts";
import { NETWORK_FILES } from "./network-files.ts";
import { loadOnnxRuntime, type OnnxSession } from "./onnx-runtime.ts";

export type NetworkName = keyof typeof NETWORK_FILES;

/** A picture for a network: three bytes a pixel, row by row. Only the salient network takes every size. */
export interface NetworkPicture {
  rgb: Uint8Array;
  width: number;
  height: number;
}

/** Every network of the photo half, in this process. */
export interface Networks {
  /**
   * Runs one network, which is loaded when it is first asked for, and kept.
   * @returns its outputs in the order in which its file names them, channels last
   */
  run(name: NetworkName, picture: NetworkPicture): Promise<Float32Array[]>;
  /** Begins to load what nearly every photo needs, 0.3 s of processor, and does not wait: whoever asks first does. */
  warm(): void;
  /** How many pixels the operator's matte network looks at; null without one, and where it takes any size. */
  mattePixels(): Promise<number | null>;
}

/** What nearly every photo needs. The careful pose network is large, and seldom asked for. */
const USUAL: NetworkName[] = [
  "faceDetector",
  "personDetector",
  "poseLandmarks",
  "personMask",
  "salient",
  "bodyParts",
];

export const isNetwork = (name: string): name is NetworkName => Object.hasOwn(NETWORK_FILES, name);

/**
 * Loads each network when it is first asked for, or by `warm`. Throws where the runtime does not load.
 * @param runtime the folder of the native runtime
 * @param threads how many one network may use
 * @param matteModel the operator's, which stands in for the salient network
 */
export function openNetworks(
  runtime: string,
  threads: number,
  matteModel: MatteModel | null = null,
): Networks {
  const ort = loadOnnxRuntime(runtime);
  const sessions = new Map<NetworkName, Promise<OnnxSession>>();
  const sessionOf = (name: NetworkName) => {
    const session = sessions.get(name) ?? readNetwork(name).then((file) => ort.open(file, threads));
    sessions.set(name, session);
    // What did not load, for want of memory perhaps, is tried again when it is asked for again.
    session.catch(() => sessions.delete(name));
    return session;
  };
  const matte = matteModel && openMatteModel(matteModel, (file) => ort.open(file, threads));
  // Whoever asks for it is told.
  matte?.catch(() => {});
  return {
    warm() {
      for (const name of USUAL) if (!(matte && name === "salient")) sessionOf(name);
    },
    async mattePixels() {
      const size = (await matte)?.size;
      return size ? size.width * size.height : null;
    },
    async run(name, picture) {
      if (matte && name === "salient") return [(await matte).run(picture)];
      const { rgb, width, height } = picture;
      const session = await sessionOf(name);
      const [input = ""] = session.inputNames;
      const tensor =
        name === "salient"
          ? new Tensor("float32", valuesFor("u2net", rgb), [1, 3, height, width])
          : new Tensor("uint8", rgb, [1, height, width, 3]);
      const outputs = session.run({ [input]: tensor });
      return session.outputNames.map((output) => outputs[output]?.data as Float32Array);
    },
  };
}

/**
 * Loads the runtime and every network once, for doctor.
 * @param runtime the folder of the native runtime
 * @returns how many networks there are
 * @throws an OperatorError that says what does not load, and what the machine may lack
 */
export async function tryNetworks(runtime: string): Promise<number> {
  const names = Object.keys(NETWORK_FILES).filter(isNetwork);
  try {
    const ort = loadOnnxRuntime(runtime);
    for (const name of names) ort.open(await readNetwork(name), 1).end();
  } catch (error) {
    throw new OperatorError(
      `The networks that find and cut out players do not load: ${(error as Error).message}. Their runtime in ${runtime} needs a Linux with glibc 2.28 or newer (Debian, Ubuntu, Fedora and their like; not Alpine). If files of it are missing, remove that folder: it is made anew.`,
    );
  }
  return names.length;
}

async function readNetwork(name: NetworkName): Promise<Uint8Array> {
  const path = NETWORK_FILES[name];
  const bytes = await Bun.file(path).bytes();
  return path.endsWith(".zst") ? Bun.zstdDecompress(bytes) : bytes;
}
