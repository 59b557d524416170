import { dlopen } from "bun:ffi";
import { existsSync, readdirSync } from "node:fs";
import { setPriority } from "node:os";

/** Linux' prctl(2) option and capability, from linux/prctl.h and linux/capability.h. */
const PR_CAPBSET_DROP = 24;
const CAP_SYS_NICE = 23;

/**
 * Lowers the priority of this process, all its threads and its children. On Linux priority is per thread, so setting it
 * for the process alone would leave the runtime's existing threads unchanged.
 */
export function lowerPriority(niceness: number): void {
  setPriority(niceness);
  if (!existsSync("/proc/self/task")) return;
  for (const thread of readdirSync("/proc/self/task")) {
    try {
      setPriority(Number(thread), niceness);
    } catch {
      // The thread has ended meanwhile.
    }
  }
  if (process.getuid?.() === 0) keepChildrenLow();
}

/**
 * As root, Chromium raises the priority of its own threads above everything else; without this capability it cannot.
 */
function keepChildrenLow(): void {
  for (const name of ["libc.so.6", "libc.so"]) {
    try {
      const { symbols } = dlopen(name, {
        prctl: { args: ["i32", "u64", "u64", "u64", "u64"], returns: "i32" },
      });
      symbols.prctl(PR_CAPBSET_DROP, CAP_SYS_NICE, 0, 0, 0);
      return;
    } catch {
      // Another libc, or none that can be loaded: renders then run at the priority of requests, nothing worse.
    }
  }
}
