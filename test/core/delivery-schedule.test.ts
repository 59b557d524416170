import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { DELIVERY_WAITS_MS, nextAttemptAt, retryAfterMs } from "../../src/core/delivery-schedule.ts";

const NOW = Date.parse("2026-11-15T12:00:00Z");
const DAY_MS = 86_400_000;

describe("the schedule", () => {
  test("is the promised one: ten attempts in a little over three days", () => {
    const seconds = DELIVERY_WAITS_MS.map((ms) => ms / 1000);
    expect(seconds).toEqual([0, 5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]);
  });

  test("spreads every wait by a fifth to both sides, and no further", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 9 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (made, random) => {
          const wait = (nextAttemptAt({ made, now: NOW, random, retryAfterMs: null }) ?? 0) - NOW;
          const planned = DELIVERY_WAITS_MS[made] ?? 0;
          expect(wait).toBeGreaterThanOrEqual(planned * 0.8);
          expect(wait).toBeLessThanOrEqual(planned * 1.2);
        },
      ),
    );
    const waitAt = (random: number) =>
      (nextAttemptAt({ made: 1, now: 0, random, retryAfterMs: null }) ?? 0) / 5_000;
    expect([0, 0.5, 1].map(waitAt)).toEqual([0.8, 1, 1.2]);
  });

  test("ends after the tenth attempt, whatever Retry-After says", () => {
    expect(nextAttemptAt({ made: 10, now: NOW, random: 0.5, retryAfterMs: 1_000 })).toBeNull();
  });
});

describe("Retry-After", () => {
  test("makes a wait longer, never shorter", () => {
    const next = (retryAfterMs: number) => nextAttemptAt({ made: 2, now: NOW, random: 0.5, retryAfterMs });
    expect(next(900_000)).toBe(NOW + 900_000);
    expect(next(1_000)).toBe(NOW + 300_000);
  });

  test.each([
    ["120", 120_000],
    [" 0 ", 0],
    ["Sun, 15 Nov 2026 12:02:00 GMT", 120_000],
    ["Sun, 15 Nov 2026 11:00:00 GMT", 0],
    ["86401", DAY_MS],
    ["9".repeat(400), DAY_MS],
    ["Sun, 15 Nov 2099 12:00:00 GMT", DAY_MS],
  ])("%s is understood, up to a day", (header, waitMs) => {
    expect(retryAfterMs(header, NOW)).toBe(waitMs);
  });

  test.each([undefined, "", "-5", "1.5", "soon", "1e3", "0x10", "GMT", "2026-11-15"])(
    "%p is no wait at all",
    (header) => {
      expect(retryAfterMs(header, NOW)).toBeNull();
    },
  );
});
