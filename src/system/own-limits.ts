import { dlopen } from "bun:ffi";

/** What this process may use until it ends. */
export interface OwnLimits {
  /** Its own memory: what it may write to, heap and stacks, whether it is in use or not. */
  memoryBytes: number;
  cpuSeconds: number;
}

/** From linux/resource.h, the same on x64 and arm64. */
const RLIMIT_CPU = 0;
const RLIMIT_DATA = 2;
const RLIMIT_CORE = 4;

/**
 * Has the kernel bound this process, for good: memory beyond the limit is refused, which ends the program, and time
 * beyond it kills it, whatever it is busy with. Throws where that cannot be had.
 */
export function limitSelf({ memoryBytes, cpuSeconds }: OwnLimits): void {
  const { symbols } = dlopen("libc.so.6", { setrlimit: { args: ["i32", "ptr"], returns: "i32" } });
  const limit = (resource: number, value: number) => {
    // Soft and hard limit: struct rlimit.
    if (symbols.setrlimit(resource, new BigUint64Array([BigInt(value), BigInt(value)])) !== 0)
      throw new Error(`limit ${resource} cannot be set to ${value}`);
  };
  limit(RLIMIT_CPU, cpuSeconds);
  limit(RLIMIT_DATA, memoryBytes);
  // What a stranger sent is not written to the disk when it ends the program.
  limit(RLIMIT_CORE, 0);
}
