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
