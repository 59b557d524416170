import { InvalidArgumentError } from "commander";

/** A parser of whole numbers within bounds for command options. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < min || value > max) {
      throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
    }
    return value;
  };
}

/** A parser of one of a few words. */
export function oneOf<const T extends string>(words: readonly T[]): (text: string) => T {
  return (text) => {
    const word = words.find((known) => known === text);
    if (word === undefined) throw new InvalidArgumentError(`It must be one of ${words.join(", ")}.`);
    return word;
  };
}
