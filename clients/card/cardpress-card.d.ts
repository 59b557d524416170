/** A card that tilts, shines and turns over: `<cardpress-card>`. Importing the package defines it. */
export declare class CardpressCard extends HTMLElement {
  /** Whether its back is shown. */
  flipped: boolean;
  /** Turns it over, if it has a back. */
  flip(): void;
  /** Leans it: across and along from -1 to 1, lifted from 0 to 1. */
  lean(x: number, y: number, lift?: number): void;
}

declare global {
  interface HTMLElementTagNameMap {
    "cardpress-card": CardpressCard;
  }
  interface HTMLElementEventMap {
    "cardpress-flip": CustomEvent<{ flipped: boolean }>;
  }
}
