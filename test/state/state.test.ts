import { afterAll, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { secretBox } from "../../src/core/secret-box.ts";
import { memoryState } from "../../src/state/memory-state.ts";
import { sharedState } from "../../src/state/shared-state.ts";
import type { ShortLivedState } from "../../src/state/state.ts";
import { type FakeClock, fakeClock } from "../harness.ts";
import { ENGINE, openTestPostgresStore } from "../postgres.ts";

// What every way to keep short-lived state promises; each one joins the list below.

const BOUNDS = { forMs: 1_000, maxKeys: 3 };

function inMemory() {
  const clock = fakeClock();
  return { clock, state: memoryState(clock.now) };
}

const opened: ReturnType<typeof openTestPostgresStore>[] = [];
afterAll(async () => {
  for (const store of opened) await (await store).close();
});

/** `of` names the database. */
async function onPostgres(of = crypto.randomUUID(), secrets = secretBox(new Uint8Array(32), randomBytes)) {
  const store = openTestPostgresStore(`state ${of}`);
  opened.push(store);
  const clock = fakeClock();
  const { rawQuery } = await store;
  return { clock, rawQuery, state: sharedState({ rawQuery, now: clock.now, secrets }) };
}

const ways: [string, () => Promise<{ clock: FakeClock; state: ShortLivedState }>][] = [
  ["in memory", async () => inMemory()],
];
if (ENGINE === "postgres") ways.push(["on Postgres", () => onPostgres()]);

describe.each(ways)("state %s", (_, make) => {
  test("gives a value out once, for as long as it is kept", async () => {
    const { clock, state } = await make();
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
    const { clock, state } = await make();
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
    const { clock, state } = await make();
    const values = state.values<number>("once", BOUNDS);
    const stored = await Promise.all([1, 2, 3].map((value) => values.putNew("a", value)));
    expect(stored.filter(Boolean)).toHaveLength(1);
    clock.advance(1_000);
    expect(await values.putNew("a", 4)).toBe(true);
  });

  test("counts the values that are kept now", async () => {
    const { clock, state } = await make();
    const values = state.values<string>("notes", BOUNDS);
    expect(await values.size()).toBe(0);
    await values.put("a", "first");
    clock.advance(500);
    await values.put("b", "second");
    await state.values<string>("others", BOUNDS).put("c", "third");
    expect(await values.size()).toBe(2);
    clock.advance(500);
    expect(await values.size()).toBe(1);
    await values.take("b");
    expect(await values.size()).toBe(0);
  });

  test("sums from the first addition on, not from the last", async () => {
    const { clock, state } = await make();
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
    const { state } = await make();
    const [here, there] = [state.counters("here", BOUNDS), state.counters("there", BOUNDS)];
    for (const key of ["a", "b", "c", "d"]) await here.add(key, 1);
    expect(await Promise.all(["a", "b", "c", "d"].map((key) => here.sum(key)))).toEqual([0, 1, 1, 1]);
    expect(await there.sum("d")).toBe(0);
  });
});

describe.skipIf(ENGINE !== "postgres")("state that machines share", () => {
  test("counts what all of them add, at once, as one sum", async () => {
    const of = crypto.randomUUID();
    const states = [await onPostgres(of), await onPostgres(of), await onPostgres(of)];
    const added = await Promise.all(
      Array.from({ length: 60 }, (_, n) => states[n % 3]?.state.counters("calls", BOUNDS).add("a", 1)),
    );
    expect(added.toSorted((a, b) => Number(a) - Number(b))).toEqual(
      Array.from({ length: 60 }, (_, n) => n + 1),
    );
  });

  test("gives a value to one of those that take it at once", async () => {
    const of = crypto.randomUUID();
    const values = [await onPostgres(of), await onPostgres(of)].map(({ state }) =>
      state.values<string>("notes", BOUNDS),
    );
    await values[0]?.put("a", "secret");
    const taken = await Promise.all([...values, ...values].map((at) => at.take("a")));
    expect(taken.filter((value) => value !== undefined)).toEqual(["secret"]);
  });

  test("holds neither keys nor values in readable form, and takes any text", async () => {
    const { state, rawQuery } = await onPostgres();
    const values = state.values<{ text: string }>("notes", { forMs: 1_000, maxKeys: 3 });
    await values.put("maya@rovers.example \0", { text: "crd_live_\0\ud800" });
    const rows = await rawQuery("SELECT name, key, value FROM short_lived_state", []);
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toMatch(/maya|crd_live/);
    expect(await values.get("maya@rovers.example \0")).toEqual({ text: "crd_live_\0\ud800" });
  });

  test("a sweep leaves what is kept, and nothing that has expired", async () => {
    const { state, rawQuery, clock } = await onPostgres();
    const counters = state.counters("calls", BOUNDS);
    await counters.add("old", 1);
    clock.advance(1_000);
    await counters.add("new", 1);
    await state.sweep();
    expect(await rawQuery("SELECT amount::int FROM short_lived_state", [])).toEqual([{ amount: 1 }]);
    expect(await counters.sum("new")).toBe(1);
  });

  test("a flood from several machines at once ends at the bound, without a fault", async () => {
    const of = crypto.randomUUID();
    const states = [await onPostgres(of), await onPostgres(of), await onPostgres(of)];
    const counters = states.map(({ state }) => state.counters("calls", BOUNDS));
    await Promise.all(Array.from({ length: 90 }, (_, n) => counters[n % 3]?.add(`key ${n}`, 1)));
    await counters[0]?.add("last", 1);
    expect(await states[0]?.rawQuery("SELECT count(*)::int AS n FROM short_lived_state", [])).toEqual([
      { n: 3 },
    ]);
    expect(await counters[1]?.sum("last")).toBe(1);
  });
});
