import { DAY_MS } from "../src/core/time.ts";

// Endurance runs do a third of their work each time, another one every day, and all of it in `bun run
// check:long`. scripts/test.ts shares out whole files the same way.

const PARTS = 3;
const given = process.env.CARDPRESS_TEST_THIRD;

/** Whether everything is done. */
const IS_LONG = given === "all";
/** 0, 1 or 2: the same on every machine on the same day. */
const THIRD = Number(IS_LONG ? 0 : (given ?? Math.floor(Date.now() / DAY_MS))) % PARTS;

/** Has what this process starts do the same part, also past midnight. */
export function pinThird(): void {
  process.env.CARDPRESS_TEST_THIRD = IS_LONG ? "all" : String(THIRD);
}

/** Whether it is the turn of a list's nth today; always in a long run. */
export const isTurn = (n: number): boolean => IS_LONG || n % PARTS === THIRD;
/** Today's third of a list, or of a number; all of it in a long run. */
export const thirdOf = <T>(all: readonly T[]): T[] => all.filter((_, n) => isTurn(n));
export const thirdOfCount = (count: number): number => (IS_LONG ? count : Math.ceil(count / PARTS));

/** Says which part an endurance run does, and how to have that one again. */
export function sayThird(what: string): void {
  console.log(
    IS_LONG
      ? `${what}: everything`
      : `${what}: third ${THIRD} of 0 to 2; CARDPRESS_TEST_THIRD=${THIRD} does it again, bun run check:long does everything`,
  );
}
