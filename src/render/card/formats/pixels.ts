/**
 * A picture as rows of red, green, blue and alpha from the top, one byte each; alpha is not premultiplied.
 */
export interface Pixels {
  /** Starts at a multiple of four in its buffer. */
  rgba: Uint8Array;
  width: number;
  height: number;
}
