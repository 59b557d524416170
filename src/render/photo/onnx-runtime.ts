import { dlopen } from "bun:ffi";
import { createRequire } from "node:module";

export type OnnxRuntime = typeof import("onnxruntime-node");

/**
 * The native runtime's own switch. Without it, from 1.30 on, loading it writes a device id into the home folder and logs
 * into the temp folder, and tells Microsoft about the machine and the networks it runs.
 */
export const NO_TELEMETRY = { ORT_DISABLE_TELEMETRY: "1" };

/**
 * Loads the native ONNX runtime with its telemetry off, or throws when either cannot be done. Nothing else in this project
 * may load it.
 */
export function loadOnnxRuntime(): OnnxRuntime {
  // Better no networks than one that talks.
  if (!Object.entries(NO_TELEMETRY).every(([name, value]) => setForLibraries(name, value)))
    throw new Error("The ONNX runtime's telemetry could not be switched off, so it is not loaded.");
  return createRequire(import.meta.url)("onnxruntime-node");
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
