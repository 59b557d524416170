import { readFileSync } from "node:fs";
import { uptime } from "node:os";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Clock } from "../core/ports.ts";
import type { ClockMark } from "../core/steady-clock.ts";
import { SECOND_MS } from "../core/time.ts";
import { writeWhole } from "./write-whole.ts";

let last = { wall: Date.now(), running: performance.now(), elapsed: uptime() * 1000 };

/** The clocks of this machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => {
    const running = performance.now();
    const wall = Date.now();
    // A process does not feel that the machine sleeps; the machine does. Asking it takes a hundred times as long.
    const felt = wall - last.wall - (running - last.running);
    if (Math.abs(felt) > SECOND_MS) last = { wall, running, elapsed: uptime() * 1000 };
    return last.elapsed + running - last.running;
  },
};

const Kept = Type.Object({ boot: Type.String(), wall: Type.Number(), elapsed: Type.Number() });

/** Keeps a mark for the next process on this machine. */
export async function keepClockMark(path: string, mark: ClockMark): Promise<void> {
  await writeWhole(path, JSON.stringify({ boot: bootId(), ...mark }));
}

/**
 * The mark an earlier process kept, unless the machine was started anew since: then nothing is known. `passed` is the
 * clock's elapsed time now.
 */
export function readClockMark(path: string, passed: number): ClockMark | undefined {
  try {
    const { boot, wall, elapsed } = Value.Decode(Kept, JSON.parse(readFileSync(path, "utf8")));
    return boot !== "" && boot === bootId() && elapsed <= passed ? { wall, elapsed } : undefined;
  } catch {
    return undefined;
  }
}

/** A different one at each start of the machine; "" where the system has none, as elsewhere than on Linux. */
function bootId(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return "";
  }
}
