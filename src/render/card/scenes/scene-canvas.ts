/**
 * The colours of one scene, `#rrggbb`: from the darkest edge to the light behind the head, and a second hue.
 */
export interface SceneColours {
  deep: string;
  mid: string;
  light: string;
  accent: string;
  glow: string;
}

/** What a painter works on: 1000 units wide, `height` high, the player's head at (`x`, `y`). */
export interface Canvas {
  height: number;
  x: number;
  y: number;
  colours: SceneColours;
  /** Two or more colours that the text names, such as a flag's; otherwise empty. */
  tones: string[];
  /** The next number of a sequence, from `low` to `high`; the sequence differs for each variant. */
  random: (low: number, high: number) => number;
  /** Likewise, but equal for each text: what all cards of one theme share. */
  shared: (low: number, high: number) => number;
}

/** Draws a scene, or what lies over one, as SVG. */
export type Painter = (canvas: Canvas) => string;
