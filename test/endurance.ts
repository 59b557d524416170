import { join } from "node:path";
import { changedPaths } from "../scripts/suites/changed.ts";
import { DAY_MS } from "../src/core/time.ts";

// Endurance runs do a third of their work each time after a change of what they are about, and else a sixth,
// another part every day, and all of it in `bun run check:long`. scripts/test.ts shares out whole files by
// thirds.

const PARTS = 3;
const given = process.env.CARDPRESS_TEST_THIRD;

/** Whether everything is done. */
const IS_LONG = given === "all";
/** Counts runs: the same on every machine on the same day. */
const ROUND = Number(IS_LONG ? 0 : (given ?? Math.floor(Date.now() / DAY_MS))) % (2 * PARTS);
const THIRD = ROUND % PARTS;

/** Has what this process starts do the same part, also past midnight. */
export function pinThird(): void {
  process.env.CARDPRESS_TEST_THIRD = IS_LONG ? "all" : String(ROUND);
}

/** Whether it is the turn of a list's nth today; always in a long run. */
export const isTurn = (n: number): boolean => IS_LONG || n % PARTS === THIRD;
/** Today's third of a list; all of it in a long run. */
export const thirdOf = <T>(all: readonly T[]): T[] => all.filter((_, n) => isTurn(n));

let changed: string[] | undefined;

/** In how many parts a run's work is done that is about these places, the beginnings of their paths. */
function partsFor(about: readonly string[]): number {
  changed ??= changedPaths(join(import.meta.dir, ".."));
  const isTouched = changed.some((path) => about.some((place) => path.startsWith(place)));
  return isTouched ? PARTS : 2 * PARTS;
}

/** Whether a list's nth is due today where the list is about these places; always in a long run. */
export function isDue(n: number, about: readonly string[]): boolean {
  const parts = partsFor(about);
  return IS_LONG || n % parts === ROUND % parts;
}
/** What is due of a list today, or of a number; all of it in a long run. */
export const dueOf = <T>(all: readonly T[], about: readonly string[]): T[] =>
  all.filter((_, n) => isDue(n, about));
export const dueCount = (count: number, about: readonly string[]): number =>
  IS_LONG ? count : Math.ceil(count / partsFor(about));

/** Says which part an endurance run does, and how to have that one again. */
export function sayThird(what: string): void {
  console.log(
    IS_LONG
      ? `${what}: everything`
      : `${what}: third ${THIRD} of 0 to 2; CARDPRESS_TEST_THIRD=${ROUND} does it again, bun run check:long does everything`,
  );
}
