import { describe, expect, test } from "bun:test";
import { memoryState } from "../../src/state/memory-state.ts";
import { fakeClock } from "../harness.ts";

// What every way to keep short-lived state promises; each one joins the list below.

const BOUNDS = { forMs: 1_000, maxKeys: 3 };

function inMemory() {
  const clock = fakeClock();
  return { clock, state: memoryState(clock.now) };
}

describe.each([["in memory", inMemory]] as const)("state %s", (_, make) => {
  test("gives a value out once, for as long as it is kept", async () => {
    const { clock, state } = make();
    const values = state.values<string>("notes", BOUNDS);
    await values.put("a", "first");
    await values.put("a", "second");
    expect([await values.take("a"), await values.take("a")]).toEqual(["second", undefined]);
    await values.put("a", "late");
    clock.advance(999);
    expect(await values.has("a")).toBe(true);
    clock.advance(1);
    expect([await values.has("a"), await values.take("a")]).toEqual([false, undefined]);
  });

  test("shows a value as often as it is asked for, until its time is over", async () => {
    const { clock, state } = make();
    const values = state.values<string>("notes", BOUNDS);
    await values.put("a", "kept");
    expect([await values.get("a"), await values.get("a"), await values.get("b")]).toEqual([
      "kept",
      "kept",
      undefined,
    ]);
    clock.advance(1_000);
    expect(await values.get("a")).toBeUndefined();
  });

  test("takes one of several values that would all be the first, until its time is over", async () => {
    const { clock, state } = make();
    const values = state.values<number>("once", BOUNDS);
    const told = await Promise.all([1, 2, 3].map((value) => values.putNew("a", value)));
    expect(told.filter(Boolean)).toHaveLength(1);
    clock.advance(1_000);
    expect(await values.putNew("a", 4)).toBe(true);
  });

  test("sums from the first addition on, not from the last", async () => {
    const { clock, state } = make();
    const counters = state.counters("calls", BOUNDS);
    expect(await counters.add("a", 5)).toBe(5);
    clock.advance(600);
    expect([await counters.add("a", -2), await counters.sum("a"), await counters.sum("b")]).toEqual([
      3, 3, 0,
    ]);
    clock.advance(400);
    expect([await counters.sum("a"), await counters.add("a", 1)]).toEqual([0, 1]);
    await counters.forget("a");
    expect(await counters.sum("a")).toBe(0);
  });

  test("keeps names apart, and lets the oldest of too many keys go", async () => {
    const { state } = make();
    const [here, there] = [state.counters("here", BOUNDS), state.counters("there", BOUNDS)];
    for (const key of ["a", "b", "c", "d"]) await here.add(key, 1);
    expect(await Promise.all(["a", "b", "c", "d"].map((key) => here.sum(key)))).toEqual([0, 1, 1, 1]);
    expect(await there.sum("d")).toBe(0);
  });
});
