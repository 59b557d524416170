import { beforeEach, expect, test } from "bun:test";
import { type Challenges, challenges } from "../../../src/app/people/challenges.ts";
import { memoryState } from "../../../src/state/memory-state.ts";
import { type FakeClock, fakeClock, seededRandom } from "../../harness.ts";

let clock: FakeClock;
let board: Challenges;
beforeEach(() => {
  clock = fakeClock();
  board = challenges({ clock, random: seededRandom(), state: memoryState(clock.now) });
});

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64url");

test("a flood of challenges pushes nobody's out", async () => {
  const mine = text(board.make("sign in"));
  const others = new Set(Array.from({ length: 20_000 }, () => text(board.make("sign in"))));
  expect(others.size).toBe(20_000);
  expect(await board.isOpen(mine, "sign in")).toBeTrue();
});

test("a challenge is for one purpose, for five minutes and for one answer", async () => {
  const one = text(board.make("sign in"));
  expect(await board.isOpen(one, "add to usr_1")).toBeFalse();
  clock.advance(299_999);
  expect(await board.isOpen(one, "sign in")).toBeTrue();
  clock.advance(1);
  expect(await board.isOpen(one, "sign in")).toBeFalse();
  const other = text(board.make("sign in"));
  expect(await Promise.all([board.spend(other), board.spend(other)])).toEqual([true, false]);
  expect(await board.isOpen(other, "sign in")).toBeFalse();
  // Written otherwise it is still the same one.
  expect([await board.isOpen(`${other}=`, "sign in"), await board.spend(`${other}==`)]).toEqual([
    false,
    false,
  ]);
});

test("what was not made here is no challenge", async () => {
  const made = board.make("sign in");
  const later = made.slice();
  later[6] = (later[6] ?? 0) ^ 1;
  const elsewhere = challenges({ clock, random: seededRandom(2), state: memoryState(clock.now) }).make(
    "sign in",
  );
  for (const other of [later, elsewhere, made.slice(1), new Uint8Array(made.length), new Uint8Array()])
    expect(await board.isOpen(text(other), "sign in")).toBeFalse();
});
