// What the process outside sends the page for a card, and what the page answers.

import type { Header } from "../../photo/page/decode.ts";
import type { BackdropStyle } from "./backdrop.ts";
import type { FitResult } from "./fit.ts";
import type { OutlineStyle } from "./outline.ts";
import type { Sides } from "./sides.ts";

/** A text to show. In no particular language, `lang` is empty and `direction` is "ltr". */
export interface CardText {
  text: string;
  lang: string;
  direction: "ltr" | "rtl";
}

export type CardList = { texts: Record<string, CardText>; variables: Record<string, string> }[];

/** Everything that differs from card to card. Texts are untrusted and only ever become text nodes. */
export interface CardFill {
  /** Custom properties without their dashes. */
  variables: Record<string, string>;
  /** By their names in `dataset`. */
  attributes: Record<string, string>;
  /** By path. Paths without a value are left out. */
  texts: Record<string, CardText>;
  lists: Record<string, CardList>;
  /** Addresses by name; null for one that the card does not have. */
  pictures: Record<string, string | null>;
  /** Rows of modules by path, "1" for dark. */
  codes: Record<string, string[]>;
  /** The player's, as a data URL. */
  outline: string;
  /** What the card shows of the player's width, as fractions of it. */
  seen: { from: number; to: number } | null;
  /** Its colour, and whether it comes from the right (1) or the left (-1). */
  light: { colour: string; side: 1 | -1 } | null;
  edge: OutlineStyle | null;
  backdrop: BackdropStyle | null;
  /** The photo's. */
  header: Header | null;
  sides: Sides | null;
  /** A word across the card. */
  watermark: string | null;
}

export interface FillResult {
  fits: FitResult[];
  timingsMs: Record<string, number>;
}
