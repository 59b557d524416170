import { dlopen } from "bun:ffi";
import { readFileSync } from "node:fs";

/** What this process may use until it ends. */
export interface OwnLimits {
  /**
   * Memory beyond what it has already, in use or not: heap, stacks and whatever else it may write to. The
   * compiled program begins with itself, which is 300 MB.
   */
  moreMemoryBytes: number;
  cpuSeconds: number;
}

/** From linux/resource.h, the same on x64 and arm64. */
const RLIMIT_CPU = 0;
const RLIMIT_FSIZE = 1;
const RLIMIT_DATA = 2;
const RLIMIT_CORE = 4;

/**
 * Has the kernel bound this process, for good: memory beyond the limit is refused, which ends the program,
 * and time beyond it kills it, whatever it is busy with. Throws where that cannot be had.
 */
export function limitSelf({ moreMemoryBytes, cpuSeconds }: OwnLimits): void {
  const { symbols } = dlopen("libc.so.6", { setrlimit: { args: ["i32", "ptr"], returns: "i32" } });
  const limit = (resource: number, value: number) => {
    // Soft and hard limit: struct rlimit.
    if (symbols.setrlimit(resource, new BigUint64Array([BigInt(value), BigInt(value)])) !== 0)
      throw new Error(`limit ${resource} cannot be set to ${value}`);
  };
  limit(RLIMIT_CPU, cpuSeconds);
  limit(RLIMIT_DATA, writableBytes() + moreMemoryBytes);
  // What a stranger sent is not written to the disk when it ends the program.
  limit(RLIMIT_CORE, 0);
}

/** What another process may use; memory as above, but all of it. */
interface ProcessLimits {
  memoryBytes: number;
  cpuSeconds: number;
  /** The size of each file that it writes. */
  fileBytes: number;
}

/** Has the kernel bound a process of ours that has just begun, where the system can: on Linux with glibc. */
export function limitProcess(pid: number, { memoryBytes, cpuSeconds, fileBytes }: ProcessLimits): void {
  try {
    const { symbols } = dlopen("libc.so.6", {
      prlimit: { args: ["i32", "i32", "ptr", "ptr"], returns: "i32" },
    });
    const limit = (resource: number, value: number) =>
      symbols.prlimit(pid, resource, new BigUint64Array([BigInt(value), BigInt(value)]), null);
    limit(RLIMIT_CPU, cpuSeconds);
    limit(RLIMIT_FSIZE, fileBytes);
    limit(RLIMIT_DATA, memoryBytes);
    limit(RLIMIT_CORE, 0);
  } catch {
    // Elsewhere it is bounded by its time alone.
  }
}

/** What the kernel counts against the limit now. */
function writableBytes(): number {
  const [, kilobytes] = /^VmData:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8")) ?? [];
  if (kilobytes === undefined) throw new Error("/proc/self/status has no VmData");
  return Number(kilobytes) * 1024;
}

/** The memory that a process has in use; 0 once it has ended. */
export function residentBytes(pid: number): number {
  try {
    const [, pages = "0"] = readFileSync(`/proc/${pid}/statm`, "utf8").split(" ");
    return Number(pages) * PAGE_BYTES;
  } catch {
    return 0;
  }
}

/**
 * On x64, and on arm64 unless its kernel was built for larger ones, whose processes then seem smaller than
 * they are.
 */
const PAGE_BYTES = 4096;
