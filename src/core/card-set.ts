import { type Static, Type } from "@sinclair/typebox";
import { attachment } from "./file-name.ts";
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
  /**
   * Only of an open edition, which has no size: until then each card gets the next number, and how many there
   * are is known afterwards. Epoch ms.
   */
  closesAt?: number;
}

/** Whether cards of a parallel have numbers. */
export const isNumbered = ({ size, closesAt }: Omit<Parallel, "name">): boolean =>
  size !== null || closesAt !== undefined;

/** Whether a parallel is an open edition whose time is over. */
export const isClosed = ({ closesAt }: Pick<Parallel, "closesAt">, now: number): boolean =>
  closesAt !== undefined && closesAt <= now;

/**
 * A card's number as people read it: 12/50, or No. 12 where the number of all is unknown; empty without one.
 */
export function serialLabel({ serial, size }: { serial?: number | null; size?: number | null }): string {
  if (typeof serial !== "number") return "";
  return typeof size === "number" ? `${serial}/${size}` : `No. ${serial}`;
}

/** A parallel and the number of one of its cards, such as gold 12/50. */
export const placeLabel = ({ parallel, ...number }: Pick<SetPlace, "parallel" | "serial" | "size">): string =>
  [parallel, serialLabel(number)].filter((text) => text !== "").join(" ");

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
  /** Null in a parallel without numbers. */
  serial: number | null;
  /** Null where the number of cards is not known beforehand. */
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

/** The set and its season as people say them; a name that has the season already says it once. */
function setTitle({ name, season }: Pick<SetPlace, "name" | "season">): string {
  return season === "" || name.includes(season) ? name : `${name} ${season}`;
}

/** The `Content-Disposition` of a file of a set, such as its album. */
export function setAttachment(
  set: Pick<SetPlace, "id" | "name" | "season">,
  what: string,
  extension: string,
): string {
  return attachment(`${setTitle(set)} ${what}`, `${set.id}-${what}`, extension);
}

/** What a card shows of its place. */
export function shownSet({ name, season, parallel, serial, size }: SetPlace): ShownSet {
  return {
    name,
    parallel,
    ...(season === "" ? {} : { season }),
    ...(serial === null ? {} : { serial }),
    ...(size === null ? {} : { size }),
  };
}
