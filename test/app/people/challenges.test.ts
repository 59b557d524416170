import { beforeEach, expect, test } from "bun:test";
import { type Challenges, challenges } from "../../../src/app/people/challenges.ts";
import { memoryState } from "../../../src/state/memory-state.ts";
import { type FakeClock, fakeClock, seededRandom } from "../../harness.ts";

let clock: FakeClock;
let issued: Challenges;
beforeEach(() => {
  clock = fakeClock();
  issued = challenges({ clock, random: seededRandom(), state: memoryState(clock.now) });
});

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64url");

test("a flood of challenges pushes nobody's out", async () => {
  const mine = text(issued.make("sign in"));
  const others = new Set(Array.from({ length: 20_000 }, () => text(issued.make("sign in"))));
  expect(others.size).toBe(20_000);
  expect(await issued.isOpen(mine, "sign in")).toBeTrue();
});

test("a challenge is for one purpose, for five minutes and for one answer", async () => {
  const one = text(issued.make("sign in"));
  expect(await issued.isOpen(one, "add to usr_1")).toBeFalse();
  clock.advance(299_999);
  expect(await issued.isOpen(one, "sign in")).toBeTrue();
  clock.advance(1);
  expect(await issued.isOpen(one, "sign in")).toBeFalse();
  const other = text(issued.make("sign in"));
  expect(await Promise.all([issued.spend(other), issued.spend(other)])).toEqual([true, false]);
  expect(await issued.isOpen(other, "sign in")).toBeFalse();
  // Written otherwise it is still the same one.
  expect([await issued.isOpen(`${other}=`, "sign in"), await issued.spend(`${other}==`)]).toEqual([
    false,
    false,
  ]);
});

test("what was not made here is no challenge", async () => {
  const made = issued.make("sign in");
  const later = made.slice();
  later[6] = (later[6] ?? 0) ^ 1;
  const elsewhere = challenges({ clock, random: seededRandom(2), state: memoryState(clock.now) }).make(
    "sign in",
  );
  for (const other of [later, elsewhere, made.slice(1), new Uint8Array(made.length), new Uint8Array()])
    expect(await issued.isOpen(text(other), "sign in")).toBeFalse();
});
