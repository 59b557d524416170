import { NETWORK_FILES } from "./network-files.ts";
import { loadOnnxRuntime, type OnnxRuntime } from "./onnx-runtime.ts";
import { salientValues } from "./salient.ts";

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
}

type Session = Awaited<ReturnType<OnnxRuntime["InferenceSession"]["create"]>>;

/** What nearly every photo needs. The careful pose network is large, and seldom asked for. */
const USUAL: NetworkName[] = ["faceDetector", "personDetector", "poseLandmarks", "personMask", "salient"];

export const isNetwork = (name: string): name is NetworkName => Object.hasOwn(NETWORK_FILES, name);

/**
 * Begins to load the networks that nearly every photo needs, 0.3 s of processor, and does not wait for them: whoever asks
 * first does. Throws where the runtime does not load.
 * @param threads how many one network may use
 */
export function openNetworks(threads: number): Networks {
  const ort = loadOnnxRuntime();
  const sessions = new Map<NetworkName, Promise<Session>>();
  const sessionOf = (name: NetworkName) => {
    const session = sessions.get(name) ?? loadSession(ort, name, threads);
    sessions.set(name, session);
    // What did not load, for want of memory perhaps, is tried again when it is asked for again.
    session.catch(() => sessions.delete(name));
    return session;
  };
  for (const name of USUAL) sessionOf(name);
  return {
    async run(name, { rgb, width, height }) {
      const session = await sessionOf(name);
      const [input = ""] = session.inputNames;
      const tensor =
        name === "salient"
          ? new ort.Tensor("float32", salientValues(rgb), [1, 3, height, width])
          : new ort.Tensor("uint8", rgb, [1, height, width, 3]);
      const outputs = await session.run({ [input]: tensor });
      return session.outputNames.map((output) => outputs[output]?.data as Float32Array);
    },
  };
}

async function loadSession(ort: OnnxRuntime, name: NetworkName, threads: number): Promise<Session> {
  const path = NETWORK_FILES[name];
  const bytes = await Bun.file(path).bytes();
  return ort.InferenceSession.create(path.endsWith(".zst") ? Bun.zstdDecompressSync(bytes) : bytes, {
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    // The arena keeps what it once took: 204 MB instead of 40 MB for the salient network, for 45 ms.
    enableCpuMemArena: false,
    logSeverityLevel: 3,
  });
}
