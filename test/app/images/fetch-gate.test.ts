import { expect, test } from "bun:test";
import { fetchGate } from "../../../src/app/images/fetch-gate.ts";
import type { Refusal } from "../../../src/core/errors.ts";

const LIMITS = {
  places: 4,
  placesPerAccount: 2,
  reservedSlots: 0,
  waitingPerAccount: 3,
  waitMs: 60_000,
  promptMs: 1_000,
};

/** Work that continues until the test ends it. */
function held(started: string[], name: string) {
  const end = Promise.withResolvers<void>();
  const work = () => {
    started.push(name);
    return end.promise;
  };
  return { work, end: () => end.resolve() };
}

const code = (error: unknown) => (error as Refusal).code;

test("one account never takes all places, and beyond its waiting room it is asked to come back", async () => {
  const gate = fetchGate(LIMITS);
  const started: string[] = [];
  const jobs = Array.from({ length: 5 }, (_, n) => held(started, `slow-${n}`));
  const runs = jobs.map((job) => gate.run("slow", job.work));
  const refused = await gate.run("slow", async () => {}).catch((error) => error);
  expect(code(refused)).toBe("SERVICE_OVERLOADED");
  expect(refused.retryAfterSeconds).toBeGreaterThan(0);
  expect(refused.message).toContain("photos of this account");
  expect(started).toEqual(["slow-0", "slow-1"]);
  // Another account finds a place at once.
  expect(await gate.run("quick", async () => "fetched")).toBe("fetched");
  for (const job of jobs) job.end();
  await Promise.all(runs);
  expect(started).toHaveLength(5);
});

test("some places are only for accounts that hold none", async () => {
  const gate = fetchGate({ ...LIMITS, reservedSlots: 1 });
  const started: string[] = [];
  const jobs = ["a1", "a2", "b1", "b2"].map((name) => ({ name, ...held(started, name) }));
  const runs = jobs.map(({ name, work }) => gate.run(name.slice(0, 1), work));
  expect(started).toEqual(["a1", "a2", "b1"]);
  expect(await gate.run("newcomer", async () => "fetched")).toBe("fetched");
  for (const job of jobs) job.end();
  await Promise.all(runs);
});

test("slow hosts cost their account its places, until its fetches are prompt again", async () => {
  let now = 0;
  const gate = fetchGate({ ...LIMITS, placesPerAccount: 3 }, () => now);
  const started: string[] = [];
  const run = (name: string) => {
    const job = held(started, name);
    const ended = gate.run("a", job.work);
    return {
      end: () => {
        job.end();
        return ended;
      },
    };
  };
  const slow = run("slow");
  now += LIMITS.promptMs;
  // One hanging host leaves the account a place; several would leave it no more.
  const first = run("first");
  const second = run("second");
  expect(started).toEqual(["slow", "first"]);
  await slow.end();
  expect(started).toEqual(["slow", "first"]);
  const third = run("third");
  await first.end();
  expect(started).toEqual(["slow", "first", "second", "third"]);
  await Promise.all([second.end(), third.end()]);
});

test("who waits behind a fetch that turns out slow gets the account's other place by itself", async () => {
  let now = 0;
  const promptMs = 5;
  const gate = fetchGate({ ...LIMITS, placesPerAccount: 3, promptMs }, () => now);
  await gate.run("a", async () => {
    now += promptMs;
  });
  const hanging = held([], "hanging");
  const hangs = gate.run("a", hanging.work);
  const waiting = gate.run("a", async () => "fetched");
  now += promptMs;
  expect(await waiting).toBe("fetched");
  hanging.end();
  await hangs;
});

test("those who wait are served account by account, not in one account's order", async () => {
  const gate = fetchGate({ ...LIMITS, places: 1 });
  const started: string[] = [];
  const jobs = ["first", "a1", "a2", "a3", "b1", "b2"].map((name) => ({ name, ...held(started, name) }));
  const runs = jobs.map(({ name, work, end }) => {
    const run = gate.run(name.slice(0, 1), work);
    if (name !== "first") end();
    return run;
  });
  jobs[0]?.end();
  await Promise.all(runs);
  expect(started).toEqual(["first", "a1", "b1", "a2", "b2", "a3"]);
});

test("a wait that takes too long ends with 503, and its place in the queue is free again", async () => {
  const gate = fetchGate({ ...LIMITS, places: 1, waitingPerAccount: 1, waitMs: 1 });
  const slow = held([], "slow");
  const running = gate.run("a", slow.work);
  for (let n = 0; n < 3; n++) {
    const error = await gate.run("a", async () => {}).catch((thrown) => thrown);
    expect(code(error)).toBe("SERVICE_OVERLOADED");
    // Others may hold the places: the account is not at fault.
    expect(error.message).toMatch(/^Too many photos are being fetched at the moment\./);
  }
  slow.end();
  await running;
  expect(await gate.run("a", async () => 1)).toBe(1);
});

test("a fetch that fails gives its place back", async () => {
  const gate = fetchGate({ ...LIMITS, places: 1 });
  for (let n = 0; n < 3; n++) {
    await expect(gate.run("a", async () => Promise.reject(new Error("404")))).rejects.toThrow("404");
  }
});

test("a stop refuses those who wait and lets those who fetch go on", async () => {
  const gate = fetchGate({ ...LIMITS, places: 1 });
  const slow = held([], "slow");
  const running = gate.run("a", async () => {
    await slow.work();
    return "fetched";
  });
  const waiting = gate.run("b", async () => {}).catch((error) => error);
  gate.close();
  const later = await gate.run("c", async () => {}).catch((error) => error);
  for (const refused of [await waiting, later]) {
    expect(code(refused)).toBe("SERVICE_OVERLOADED");
    expect(refused.message).toContain("The service is stopping.");
  }
  slow.end();
  expect(await running).toBe("fetched");
});
