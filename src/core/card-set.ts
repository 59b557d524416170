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
export type SetCardState = (typeof SET_CARD_STATES)[number];

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
