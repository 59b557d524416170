import { NETWORK_FILES } from "./network-files.ts";
import { loadOnnxRuntime, type OnnxRuntime } from "./onnx-runtime.ts";

export type NetworkName = keyof typeof NETWORK_FILES;

type Session = Awaited<ReturnType<OnnxRuntime["InferenceSession"]["create"]>>;

/** Bytes for the networks that take a picture (1 x height x width x 3), floats for the salient one. */
export interface NetworkInput {
  data: Uint8Array | Float32Array;
  dims: number[];
}

/** Outputs by their names in the network's file, their channels last. */
export type NetworkOutputs = Record<string, Float32Array>;

export interface Networks {
  /** Runs one network; it is loaded when it is first asked for, and kept. */
  run(name: NetworkName, input: NetworkInput): Promise<NetworkOutputs>;
}

/**
 * Every network of the photo half, in this process.
 * @param threads how many a network may use; one for each worker's core
 */
export function openNetworks(threads: number): Networks {
  const ort = loadOnnxRuntime();
  if (!ort) throw new Error("The native ONNX runtime does not load on this machine.");
  const sessions = new Map<NetworkName, Promise<Session>>();
  const sessionOf = (name: NetworkName) => {
    const session = sessions.get(name) ?? load(name);
    sessions.set(name, session);
    return session;
  };
  const load = async (name: NetworkName) =>
    ort.InferenceSession.create(await readNetwork(NETWORK_FILES[name]), {
      intraOpNumThreads: threads,
      interOpNumThreads: 1,
      // The arena keeps what it once took: 204 MB instead of 40 MB for the salient network, for 45 ms.
      enableCpuMemArena: false,
      logSeverityLevel: 3,
    });
  return {
    async run(name, { data, dims }) {
      const session = await sessionOf(name);
      const [input = ""] = session.inputNames;
      const type = data instanceof Uint8Array ? "uint8" : "float32";
      const outputs = await session.run({ [input]: new ort.Tensor(type, data, dims) });
      return Object.fromEntries(
        Object.entries(outputs).map(([name, { data }]) => [name, data as Float32Array]),
      );
    },
  };
}

async function readNetwork(path: string): Promise<Uint8Array> {
  const bytes = await Bun.file(path).bytes();
  return path.endsWith(".zst") ? Bun.zstdDecompressSync(bytes) : bytes;
}
