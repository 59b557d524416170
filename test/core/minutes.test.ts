import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  countMinutes,
  firstMinute,
  hasMinute,
  MINUTES_A_DAY,
  minuteOf,
  NO_MINUTES,
  withMinute,
} from "../../src/core/minutes.ts";

const minute = fc.integer({ min: 0, max: MINUTES_A_DAY - 1 });

test("a day keeps exactly the minutes that were set, in any order and however often", () => {
  fc.assert(
    fc.property(fc.array(minute, { maxLength: 60 }), minute, minute, (set, one, other) => {
      const day = set.reduce(withMinute, NO_MINUTES);
      expect(day).toMatch(/^[0-9a-f]{360}$/);
      const wanted = new Set(set);
      for (let at = 0; at < MINUTES_A_DAY; at++) expect(hasMinute(day, at)).toBe(wanted.has(at));
      expect(firstMinute(day)).toBe(set.length === 0 ? undefined : Math.min(...set));
      const [from, to] = [Math.min(one, other), Math.max(one, other)];
      expect(countMinutes(day, from, to)).toBe([...wanted].filter((at) => at >= from && at < to).length);
    }),
    { numRuns: 50 },
  );
});

test("the minute of a day is that of UTC", () => {
  expect(minuteOf(Date.parse("2026-11-30T00:00:59Z"))).toBe(0);
  expect(minuteOf(Date.parse("2026-11-30T23:59:00Z"))).toBe(MINUTES_A_DAY - 1);
});
