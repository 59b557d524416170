import { MINUTE_MS } from "./time.ts";

// A day as a bit for each minute, in hex: small enough to be kept for months and read at once.

export const MINUTES_A_DAY = 1_440;
const DIGITS = MINUTES_A_DAY / 4;
export const NO_MINUTES = "0".repeat(DIGITS);

/** The minute of its day, in UTC. */
export function minuteOf(at: number): number {
  return Math.floor(at / MINUTE_MS) % MINUTES_A_DAY;
}

/** The same with this minute set. */
export function withMinute(minutes: string, minute: number): string {
  const place = Math.floor(minute / 4);
  const digit = Number.parseInt(minutes[place] ?? "0", 16) | (8 >> (minute % 4));
  return minutes.slice(0, place) + digit.toString(16) + minutes.slice(place + 1);
}

export function hasMinute(minutes: string, minute: number): boolean {
  return (Number.parseInt(minutes[Math.floor(minute / 4)] ?? "0", 16) & (8 >> (minute % 4))) !== 0;
}

/** How many are set from `from` up to, and without, `to`. */
export function countMinutes(minutes: string, from = 0, to = MINUTES_A_DAY): number {
  let count = 0;
  for (let minute = from; minute < to; minute++) if (hasMinute(minutes, minute)) count++;
  return count;
}

/** The first that is set; undefined when none is. */
export function firstMinute(minutes: string): number | undefined {
  for (let minute = 0; minute < MINUTES_A_DAY; minute++) if (hasMinute(minutes, minute)) return minute;
  return undefined;
}
