import { dlopen } from "bun:ffi";
import { expect, test } from "bun:test";
import { takeShortTurns } from "../../src/system/short-turns.ts";

/** sched_getattr(2). */
const SCHED_GETATTR: Partial<Record<NodeJS.Architecture, bigint>> = { x64: 315n, arm64: 275n };

/** How long the turns of a thread are, in nanoseconds; 0 on a system that does not say. */
function turnNs(thread = 0): number {
  const call = SCHED_GETATTR[process.arch];
  if (process.platform !== "linux" || call === undefined) return 0;
  const { symbols } = dlopen("libc.so.6", {
    syscall: { args: ["i64", "i32", "ptr", "u32", "u32"], returns: "i64" },
  });
  const attributes = new BigUint64Array(6);
  return symbols.syscall(call, thread, attributes, 48, 0) === 0n ? Number(attributes[3]) : 0;
}

const usual = turnNs();

test.if(usual > 0)(
  "a server answers in short turns, and the workers it starts have the system's",
  async () => {
    takeShortTurns();
    expect(turnNs()).toBe(100_000);
    const child = Bun.spawn(["cat"], { stdin: "pipe" });
    expect(turnNs(child.pid)).toBe(usual);
    child.stdin.end();
    await child.exited;
  },
);
