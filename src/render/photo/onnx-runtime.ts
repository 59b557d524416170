import { dlopen } from "bun:ffi";
import { writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { isMainThread } from "node:worker_threads";
import { Tensor } from "onnxruntime-common";
import { version } from "../../../node_modules/onnxruntime-node/package.json";
import { unpackOnce } from "../../system/unpack-once.ts";
import { EMBEDDED_RUNTIME } from "./embedded-runtime.ts";

/**
 * The native runtime's own switch. Without it, from 1.30 on, loading it writes a device id into the home folder and logs
 * into the temp folder, and tells Microsoft about the machine and the networks it runs.
 */
export const NO_TELEMETRY = { ORT_DISABLE_TELEMETRY: "1" };

/** Node's own name for it; it finds the library in its folder. */
const BINDING = "onnxruntime_binding.node";
/** Warnings are about what it optimises; this and worse are told. */
const LOG_ERRORS = 3;

/** A loaded network. Running it blocks this thread. */
export interface OnnxSession {
  inputNames: string[];
  outputNames: string[];
  /** What it takes and gives, in its file's order. */
  inputs: TensorShape[];
  outputs: TensorShape[];
  run(inputs: Record<string, Tensor>): Record<string, Tensor>;
  /** Gives its memory back. */
  end(): void;
}

/** A tensor as a network's file declares it: ONNX' number of its type, and its sides, -1 where any will do. */
export interface TensorShape {
  name: string;
  type: number;
  shape: number[];
}

/** What the binding has of the runtime; onnxruntime-node wraps the same for browsers' sake. */
interface Binding {
  initOrtOnce(logLevel: number, tensor: typeof Tensor, mainThread: boolean): void;
  InferenceSession: new () => {
    inputMetadata: TensorShape[];
    outputMetadata: TensorShape[];
    dispose(): void;
    loadModel(file: ArrayBufferLike, offset: number, length: number, options: object): void;
    run(
      feeds: Record<string, Tensor>,
      fetches: Record<string, null>,
      options: object,
    ): Record<string, Tensor>;
  };
}

export interface OnnxRuntime {
  /**
   * Loads a network's file.
   * @param threads how many one run may use
   */
  open(network: Uint8Array, threads: number): OnnxSession;
}

/**
 * The folder of the native runtime: the package's own, or, of a program in one file, one in `cacheDir` into which it is
 * unpacked on first use.
 */
export async function findOnnxRuntime(cacheDir: string): Promise<string> {
  const files = EMBEDDED_RUNTIME;
  if (files === null) return packagedRuntime();
  return unpackOnce(cacheDir, {
    kind: "onnxruntime",
    version,
    async unpack(folder) {
      for (const [name, path] of Object.entries(files))
        await writeFile(join(folder, name), await Bun.zstdDecompress(await Bun.file(path).bytes()));
    },
  });
}

/** The folder in the npm package, for programs that run from their sources. */
export function packagedRuntime(): string {
  const root = dirname(Bun.resolveSync("onnxruntime-node/package.json", import.meta.dir));
  return join(root, "bin/napi-v6", process.platform, process.arch);
}

/**
 * Loads the native ONNX runtime with its telemetry off, or throws when either cannot be done. Nothing else in this project
 * may load it.
 */
export function loadOnnxRuntime(folder: string): OnnxRuntime {
  // Better no networks than one that talks.
  if (!Object.entries(NO_TELEMETRY).every(([name, value]) => setForLibraries(name, value)))
    throw new Error("The ONNX runtime's telemetry could not be switched off, so it is not loaded.");
  keepFreedMemory();
  const binding: Binding = createRequire(import.meta.url)(join(folder, BINDING));
  binding.initOrtOnce(LOG_ERRORS, Tensor, isMainThread);
  return { open: (network, threads) => openSession(binding, network, threads) };
}

function openSession(binding: Binding, network: Uint8Array, threads: number): OnnxSession {
  const session = new binding.InferenceSession();
  session.loadModel(network.buffer, network.byteOffset, network.byteLength, {
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    // The arena keeps what it once took, for every network its own; freed memory is kept once for all, see below.
    enableCpuMemArena: false,
    logSeverityLevel: LOG_ERRORS,
  });
  const { inputMetadata: inputs, outputMetadata: outputs } = session;
  const inputNames = inputs.map(({ name }) => name);
  const outputNames = outputs.map(({ name }) => name);
  // Null asks for an output in memory of the runtime's own choice.
  const fetches = Object.fromEntries(outputNames.map((name) => [name, null]));
  return {
    inputNames,
    outputNames,
    inputs,
    outputs,
    run: (values) => session.run(values, fetches, {}),
    end: () => session.dispose(),
  };
}

/** mallopt's parameters in glibc's malloc.h. */
const [M_TRIM_THRESHOLD, M_MMAP_THRESHOLD] = [-1, -3];
/** More than one network holds while it runs. */
const KEPT_BYTES = 1 << 29;

/**
 * Lets glibc keep what networks free. It gives large blocks back to the system at once and gets them again page by page,
 * for every tensor: a quarter of the salient network's time. The process keeps 200 MB more.
 */
function keepFreedMemory(): void {
  try {
    const { symbols } = dlopen("libc.so.6", { mallopt: { args: ["i32", "i32"], returns: "i32" } });
    symbols.mallopt(M_MMAP_THRESHOLD, KEPT_BYTES);
    symbols.mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
  } catch {
    // Another system's library, which decides for itself.
  }
}

/** Sets an environment variable for native libraries: they do not see what is put into Bun's `process.env`. */
function setForLibraries(name: string, value: string): boolean {
  for (const libc of ["libc.so.6", "libc.so", "libSystem.B.dylib"]) {
    try {
      const { symbols } = dlopen(libc, {
        setenv: { args: ["cstring", "cstring", "i32"], returns: "i32" },
      });
      return symbols.setenv(Buffer.from(`${name}\0`), Buffer.from(`${value}\0`), 1) === 0;
    } catch {
      // Another system's name for it.
    }
  }
  return false;
}
