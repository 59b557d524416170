import { readFileSync } from "node:fs";
import { uptime } from "node:os";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Clock } from "../core/ports.ts";
import type { ClockMark } from "../core/steady-clock.ts";
import { SECOND_MS } from "../core/time.ts";
import { writeWhole } from "./write-whole.ts";

let last = { wall: Date.now(), running: performance.now(), elapsed: uptime() * 1000 };

/** The machine's clocks. */
export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => {
    const running = performance.now();
    const wall = Date.now();
    // A process's clock stops while the machine sleeps; the machine's does not, but reading it takes a
    // hundred times as long.
    const drift = wall - last.wall - (running - last.running);
    if (Math.abs(drift) > SECOND_MS) last = { wall, running, elapsed: uptime() * 1000 };
    return last.elapsed + running - last.running;
  },
};

const Kept = Type.Object({
  boot: Type.String(),
  wall: Type.Number(),
  elapsed: Type.Number(),
  doubtedAt: Type.Optional(Type.Number()),
});

/** Writes a mark for the next process on this machine. */
export async function keepClockMark(path: string, mark: ClockMark): Promise<void> {
  await writeWhole(path, JSON.stringify({ boot: bootId(), ...mark }));
}

/**
 * The mark an earlier process wrote, unless the machine has been restarted since. `passed` is the clock's
 * elapsed time now.
 */
export function readClockMark(path: string, passed: number): ClockMark | undefined {
  try {
    const { boot, ...mark } = Value.Decode(Kept, JSON.parse(readFileSync(path, "utf8")));
    return boot !== "" && boot === bootId() && mark.elapsed <= passed ? mark : undefined;
  } catch {
    return undefined;
  }
}

/** Differs at each boot; "" where the system has none, as on anything but Linux. */
function bootId(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return "";
  }
}
