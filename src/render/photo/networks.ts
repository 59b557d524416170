import { Tensor } from "onnxruntime-common";
import { OperatorError } from "../../core/errors.ts";
import { type MatteModel, openMatteModel, valuesFor } from "./matte-model.ts";
import { NETWORK_FILES } from "./network-files.ts";
import { loadOnnxRuntime, type OnnxSession } from "./onnx-runtime.ts";

export type NetworkName = keyof typeof NETWORK_FILES;

/** Input for a network: three bytes per pixel, row by row. Only the salient network takes every size. */
export interface NetworkPicture {
  rgb: Uint8Array;
  width: number;
  height: number;
}

/** The networks of the photo stage, loaded in this process. */
export interface Networks {
  /**
   * Runs one network, which is loaded on first use and kept.
   * @returns its outputs in the order its file names them, channels last
   */
  run(name: NetworkName, picture: NetworkPicture): Promise<Float32Array[]>;
  /**
   * Starts loading what nearly every photo needs (0.3 s of CPU) without waiting; the first caller to need it
   * does.
   */
  warm(): void;
  /** Frees large, rarely used networks; the next use loads them again (0.2 s of CPU). */
  releaseRare(): void;
  /**
   * The number of pixels the operator's matte network works on; null without one, or when it takes any size.
   */
  mattePixels(): Promise<number | null>;
}

/** What nearly every photo needs. */
const USUAL: NetworkName[] = [
  "faceDetector",
  "personDetector",
  "poseLandmarks",
  "personMask",
  "salient",
  "bodyParts",
];

/**
 * Holds 106 MB once it has run, and is asked only about people whom the light pose network does not make out.
 */
const RARE: NetworkName[] = ["heavyPoseLandmarks"];

export const isNetwork = (name: string): name is NetworkName => Object.hasOwn(NETWORK_FILES, name);

/**
 * Loads each network on first use, or through `warm`. Throws when the runtime does not load.
 * @param runtime the folder of the native runtime
 * @param threads how many threads one network may use
 * @param matteModel the operator's network, which replaces the salient network
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
    // A failed load, for lack of memory perhaps, is retried on the next request.
    session.catch(() => sessions.delete(name));
    return session;
  };
  const matte = matteModel && openMatteModel(matteModel, (file) => ort.open(file, threads));
  // The caller that needs the network gets the error.
  matte?.catch(() => {});
  return {
    warm() {
      for (const name of USUAL) if (!(matte && name === "salient")) sessionOf(name);
    },
    releaseRare() {
      for (const name of RARE) {
        // A photo that waits for it still runs it: what waits first is called first. A load that failed holds
        // nothing.
        sessions.get(name)?.then(
          (session) => session.end(),
          () => {},
        );
        sessions.delete(name);
      }
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
 * Loads the runtime and every network once, for `doctor`.
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
