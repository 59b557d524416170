import { expect, test } from "bun:test";
import { LEASE_MS, MOST_RENDER_MS, RENDER_TIMEOUT_MS } from "../../../src/core/limits.ts";
import { type LimitPorts, limitGivenTime, waitsBelow } from "../../../src/render/browser/withheld.ts";

/**
 * When a limit of 45 s is over for work that gets this part of the processor; null for one that was cancelled
 * first.
 */
function overAt(given: (at: number) => number, cancelAt = Number.POSITIVE_INFINITY): number | null {
  let now = 0;
  let waited = 0;
  let next: { at: number; then: () => void } | undefined;
  const ports: LimitPorts = {
    waits: () => new Map([[1, waited]]),
    after: (ms, then) => {
      next = { at: now + ms, then };
      return () => {
        next = undefined;
      };
    },
  };
  let over: number | null = null;
  const onOver = () => {
    over = now;
  };
  const limit = { limitMs: RENDER_TIMEOUT_MS, mostMs: MOST_RENDER_MS, root: 1, onOver };
  const cancel = limitGivenTime(limit, ports);
  while (next && over === null) {
    const { at, then } = next;
    next = undefined;
    if (at > cancelAt) {
      cancel();
      break;
    }
    waited += (at - now) * (1 - given(now));
    now = at;
    then();
  }
  return over;
}

test("a render on a quiet machine, or one that waits for no processor, has its 45 s and not more", () => {
  expect(overAt(() => 1)).toBeCloseTo(RENDER_TIMEOUT_MS, -2);
});

test("time in which the processor was withheld is not counted, up to three times the limit", () => {
  const half = overAt(() => 0.5) ?? 0;
  expect(half).toBeGreaterThanOrEqual(2 * RENDER_TIMEOUT_MS - 1);
  expect(half).toBeLessThan(2.4 * RENDER_TIMEOUT_MS);
  expect(overAt(() => 0.02)).toBeCloseTo(MOST_RENDER_MS, -2);
  // Work that was let in at last, and goes on for ever, has no claim to the time that others waited.
  expect(overAt((at) => (at < 20_000 ? 0.1 : 1)) ?? 0).toBeLessThan(MOST_RENDER_MS);
});

test("work that ends in time is never looked at again", () => {
  expect(overAt(() => 0.5, 60_000)).toBeNull();
});

test("a lease outlasts the longest render", () => {
  expect(LEASE_MS).toBeGreaterThan(MOST_RENDER_MS + 30_000);
});

test.if(process.platform === "linux")(
  "the waits of a process are those of its threads and its descendants",
  () => {
    const child = Bun.spawn(["sleep", "60"]);
    try {
      const below = waitsBelow(child.pid);
      const own = waitsBelow(process.pid);
      expect(below.has(child.pid)).toBe(true);
      expect(own.size).toBeGreaterThan(below.size);
      for (const thread of below.keys()) expect(own.has(thread)).toBe(true);
    } finally {
      child.kill("SIGKILL");
    }
  },
);
