import { InvalidArgumentError } from "commander";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../core/time.ts";

/** A parser for whole numbers within bounds. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < min || value > max) {
      throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
    }
    return value;
  };
}

/** A parser for one of a few words. */
export function oneOf<const T extends string>(words: readonly T[]): (text: string) => T {
  return (text) => {
    const word = words.find((known) => known === text);
    if (word === undefined) throw new InvalidArgumentError(`It must be one of ${words.join(", ")}.`);
    return word;
  };
}

/** A parser for a comma-separated list of a few known words. */
export function listOf<const T extends string>(words: readonly T[]): (text: string) => T[] {
  const parse = oneOf(words);
  return (text) => text.split(",").map((word) => parse(word.trim()));
}

/** A parser for an http or https URL. */
export function webAddress(text: string): string {
  const url = URL.parse(text);
  if (url?.protocol !== "http:" && url?.protocol !== "https:") {
    throw new InvalidArgumentError("It must be an address such as http://localhost:4000/hook.");
  }
  return url.href;
}

/**
 * A parser for a moment: an ISO time, or a duration ago such as 90m, 24h or 7d. Returns epoch milliseconds.
 */
export function moment(text: string): number {
  const ago = /^(\d{1,6})([mhd])$/.exec(text);
  if (ago)
    return Date.now() - Number(ago[1]) * { m: MINUTE_MS, h: HOUR_MS, d: DAY_MS }[ago[2] as "m" | "h" | "d"];
  const time = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time)) {
    throw new InvalidArgumentError(
      "It must be a time such as 2026-11-21T08:00:00Z, or an age such as 90m, 24h or 7d.",
    );
  }
  return time;
}
