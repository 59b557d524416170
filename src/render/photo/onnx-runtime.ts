import { dlopen } from "bun:ffi";
import { writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { isMainThread } from "node:worker_threads";
import { Tensor } from "onnxruntime-common";
import { version } from "../../../node_modules/onnxruntime-node/package.json";
import { OperatorError } from "../../core/errors.ts";
import { glibcVersion, isOlder } from "../../system/c-library.ts";
import { unpackOnce } from "../../system/unpack-once.ts";
import { EMBEDDED_RUNTIME } from "./embedded-runtime.ts";

/**
 * The native runtime's own switch. Since 1.30, without it, loading the runtime writes a device id into the
 * home folder and logs into the temp folder, and reports the machine and the networks it runs to Microsoft.
 */
export const NO_TELEMETRY = { ORT_DISABLE_TELEMETRY: "1" };

/** The file name of the runtime's Node addon, which finds the shared library in its own folder. */
const BINDING = "onnxruntime_binding.node";
/** ONNX's log level for errors; the warnings below it are about optimisation. */
const LOG_ERRORS = 3;

/** A loaded network. Running it blocks this thread. */
export interface OnnxSession {
  inputNames: string[];
  outputNames: string[];
  /** Its inputs and outputs, in the order of the file. */
  inputs: TensorShape[];
  outputs: TensorShape[];
  run(inputs: Record<string, Tensor>): Record<string, Tensor>;
  /** Frees its memory. */
  end(): void;
}

/**
 * A tensor as the network file declares it: ONNX's type number, and the dimensions, -1 where any size will
 * do.
 */
export interface TensorShape {
  name: string;
  type: number;
  shape: number[];
}

/** The part of the addon used here; onnxruntime-node only wraps it to match its browser version. */
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
   * Loads a network file.
   * @param threads how many threads one run may use
   */
  open(network: Uint8Array, threads: number): OnnxSession;
}

/**
 * The native runtime is built for this glibc or later: Debian 10, Ubuntu 18.10 and Red Hat 8 are the first to
 * have it.
 */
const OLDEST_GLIBC = "2.28";

/** Throws an OperatorError on a system that is too old for the native runtime. */
export function refuseOldSystem(glibc: string | undefined): void {
  if (glibc === undefined || !isOlder(glibc, OLDEST_GLIBC)) return;
  throw new OperatorError(
    `cardpress needs glibc ${OLDEST_GLIBC} or later, and this system has ${glibc}. Run it on Debian 10, Ubuntu 20.04, Red Hat 8 or a later one, or in a container.`,
  );
}

/** Room for the unpacked runtime, which takes 46 MB. */
const RUNTIME_BYTES = 48 * 1024 * 1024;

/**
 * The folder of the native runtime: the npm package's own or, for the single-file program, one in `cacheDir`
 * into which it is unpacked on first use.
 */
export async function findOnnxRuntime(cacheDir: string): Promise<string> {
  refuseOldSystem(glibcVersion());
  const files = EMBEDDED_RUNTIME;
  if (files === null) return packagedRuntime();
  return unpackOnce(cacheDir, {
    kind: "onnxruntime",
    version,
    bytes: RUNTIME_BYTES,
    async unpack(folder) {
      for (const [name, path] of Object.entries(files))
        await writeFile(join(folder, name), await Bun.zstdDecompress(await Bun.file(path).bytes()));
    },
  });
}

/** The folder in the npm package, for running from source. */
export function packagedRuntime(): string {
  const root = dirname(Bun.resolveSync("onnxruntime-node/package.json", import.meta.dir));
  return join(root, "bin/napi-v6", process.platform, process.arch);
}

/**
 * Loads the native ONNX runtime with its telemetry off; throws when either fails. Nothing else in this
 * project may load it.
 */
export function loadOnnxRuntime(folder: string): OnnxRuntime {
  // No networks at all is better than one that reports to its vendor.
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
    // An arena never shrinks, and each network has its own; freed memory is kept once for all of them, see
    // below.
    enableCpuMemArena: false,
    logSeverityLevel: LOG_ERRORS,
  });
  const { inputMetadata: inputs, outputMetadata: outputs } = session;
  const inputNames = inputs.map(({ name }) => name);
  const outputNames = outputs.map(({ name }) => name);
  // Null lets the runtime allocate the output itself.
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

/** Parameters of mallopt, from glibc's malloc.h. */
const [M_TRIM_THRESHOLD, M_MMAP_THRESHOLD] = [-1, -3];
/** More than one network uses while it runs. */
const KEPT_BYTES = 1 << 29;

/**
 * Makes glibc keep the memory networks free. By default it returns large blocks to the system at once and
 * faults them in again page by page for every tensor: a quarter of the salient network's run time. What it
 * keeps is in fragments and grows from photo to photo, so `returnFreedMemory` has to be called now and then.
 */
function keepFreedMemory(): void {
  try {
    const { symbols } = dlopen("libc.so.6", { mallopt: { args: ["i32", "i32"], returns: "i32" } });
    symbols.mallopt(M_MMAP_THRESHOLD, KEPT_BYTES);
    symbols.mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
  } catch {
    // Not glibc: the library uses its own policy.
  }
}

/** Opened at the first call and kept: every opening compiles its calls anew. */
let mallocTrim: ((pad: number) => unknown) | undefined;

/**
 * Gives back to the system what glibc keeps free: after a dozen photos more than half of the worker's memory.
 * Takes 1 to 15 ms, and the next network faults in what it needs.
 */
export function returnFreedMemory(): void {
  try {
    mallocTrim ??= dlopen("libc.so.6", { malloc_trim: { args: ["usize"], returns: "i32" } }).symbols
      .malloc_trim;
    mallocTrim(0);
  } catch {
    // Not glibc: nothing was kept.
  }
}

/**
 * Sets an environment variable for native libraries, which do not see what is assigned to Bun's
 * `process.env`.
 */
function setForLibraries(name: string, value: string): boolean {
  for (const libc of ["libc.so.6", "libc.so", "libSystem.B.dylib"]) {
    try {
      const { symbols } = dlopen(libc, {
        setenv: { args: ["cstring", "cstring", "i32"], returns: "i32" },
      });
      return symbols.setenv(Buffer.from(`${name}\0`), Buffer.from(`${value}\0`), 1) === 0;
    } catch {
      // Another platform's C library has another name.
    }
  }
  return false;
}
