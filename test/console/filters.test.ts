import { expect, test } from "bun:test";
import { momentsOf, readDays } from "../../src/console/filters.tsx";

test("the days of a list are days that a calendar has, and the last one is meant whole", () => {
  expect(readDays(new URLSearchParams("from=2026-02-30&to=2026-02-28"))).toEqual({
    from: "",
    to: "2026-02-28",
  });
  expect(readDays(new URLSearchParams("from=yesterday"))).toEqual({ from: "", to: "" });
  expect(momentsOf({ from: "2026-02-28", to: "2026-02-28" })).toEqual({
    from: Date.UTC(2026, 1, 28),
    before: Date.UTC(2026, 2, 1),
  });
});
