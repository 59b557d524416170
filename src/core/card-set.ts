import { type Static, Type } from "@sinclair/typebox";
import {
  MAX_ACCOUNT_NAME_CHARS,
  MAX_PARALLEL_NAME_CHARS,
  MAX_PARALLEL_SIZE,
  MAX_SEASON_CHARS,
} from "./limits.ts";
import { compileValidator } from "./validate.ts";

/** One of the versions that a set prints of each card, such as gold of 50. */
export interface Parallel {
  name: string;
  /** How many there are of each player; null: as many as anybody wants, and no numbers. */
  size: number | null;
}

/**
 * What became of a card's place in its set. `held` while the card is made, `final` when it is; `released`
 * when it was not, and `replaced` when another card took over its number.
 */
export const SET_CARD_STATES = ["held", "final", "released", "replaced"] as const;

/** Where a card stands in its set, as its row keeps it: what a set says never changes. */
export interface SetPlace {
  id: string;
  name: string;
  /** Empty without one. */
  season: string;
  parallel: string;
  /** Null in a parallel without size. */
  serial: number | null;
  size: number | null;
}

/** The stored place of an image; null for one outside of sets. */
export function readSetPlace(stored: string | null): SetPlace | null {
  return stored === null ? null : JSON.parse(stored);
}

/** The value of `set.serial` that asks for the player's own shirt number. */
export const SHIRT_NUMBER = "shirt_number";

const serialNumber = Type.Integer({ minimum: 1, maximum: MAX_PARALLEL_SIZE });

/** What a card shows of its set, and what a template's sample says of one. */
export const ShownSet = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: MAX_ACCOUNT_NAME_CHARS }),
    season: Type.Optional(Type.String({ minLength: 1, maxLength: MAX_SEASON_CHARS })),
    parallel: Type.String({ minLength: 1, maxLength: MAX_PARALLEL_NAME_CHARS }),
    serial: Type.Optional(serialNumber),
    size: Type.Optional(serialNumber),
  },
  { additionalProperties: false },
);
export type ShownSet = Static<typeof ShownSet>;

/** Checks the set of a sample. */
export const shownSetValidator = compileValidator(ShownSet, "set");

/** What a card shows of its place. */
export function shownSet({ name, season, parallel, serial, size }: SetPlace): ShownSet {
  return {
    name,
    parallel,
    ...(season === "" ? {} : { season }),
    ...(serial === null || size === null ? {} : { serial, size }),
  };
}
