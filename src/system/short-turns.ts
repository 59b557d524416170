import { dlopen } from "bun:ffi";
import { getPriority } from "node:os";

/** The number of sched_setattr(2), for which glibc has no function before 2.41. */
const SCHED_SETATTR: Partial<Record<NodeJS.Architecture, bigint>> = { x64: 314n, arm64: 274n };
const SCHED_FLAG_RESET_ON_FORK = 1n;
/** Linux takes 0.1 to 100 ms, and uses 1 to 3 ms where nothing is asked for. */
const TURN_NS = 100_000n;

/**
 * Asks Linux to run this thread in short turns: of two that wait for a processor, the one with the shorter
 * turn goes first (EEVDF, since Linux 6.12). A server that answers within a fraction of a millisecond waits
 * for whole turns of the renderers otherwise. It gets no more of the processor in all, and what it starts has
 * the system's turns. On other systems nothing happens.
 */
export function takeShortTurns(): void {
  const call = SCHED_SETATTR[process.arch];
  if (process.platform !== "linux" || call === undefined) return;
  // struct sched_attr of linux/sched/types.h: its size and the usual policy, 0, flags, niceness and priority,
  // and the turn as `sched_runtime`.
  const niceness = BigInt.asUintN(32, BigInt(getPriority()));
  const attributes = new BigUint64Array([48n, SCHED_FLAG_RESET_ON_FORK, niceness, TURN_NS, 0n, 0n]);
  try {
    const { symbols } = dlopen("libc.so.6", {
      syscall: { args: ["i64", "i32", "ptr", "u32"], returns: "i64" },
    });
    symbols.syscall(call, 0, attributes, 0);
  } catch {
    // Another libc: the turns stay the system's.
  }
}
