import { expect, test } from "bun:test";
import { usagePeriodDays } from "../../src/core/time.ts";

const at = (iso: string) => Date.parse(iso);

test.each([
  ["current_month", "2026-11-21T23:59:59.999Z", { from: "2026-11-01", to: "2026-11-21", label: "2026-11" }],
  ["previous_month", "2026-01-01T00:00:00.000Z", { from: "2025-12-01", to: "2025-12-31", label: "2025-12" }],
  ["previous_month", "2028-03-31T12:00:00.000Z", { from: "2028-02-01", to: "2028-02-29", label: "2028-02" }],
  ["last_30_days", "2026-03-01T00:00:00.000Z", { from: "2026-01-31", to: "2026-03-01", label: "2026-03" }],
] as const)("%s at %s", (period, now, days) => {
  expect(usagePeriodDays(period, at(now))).toEqual(days);
});
