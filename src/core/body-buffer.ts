import { MAX_TINY_PIECES, MIN_PIECE_BYTES } from "./outbound-limits.ts";

/** Initial buffer for a body of unknown length; doubled as it grows. */
const FIRST_BYTES = 64 * 1024;

/**
 * What has arrived of a body: in one buffer, so that it costs its own size however many pieces it arrives in.
 * A body in pieces of a few bytes, each of which costs a turn of the event loop, is to be given up.
 */
export class BodyBuffer {
  readonly #maxBytes: number;
  #buffer: Uint8Array;
  #bytes = 0;
  #pieces = 0;

  /** @param declaredBytes its length as announced; NaN when it was not */
  constructor(maxBytes: number, declaredBytes: number) {
    this.#maxBytes = maxBytes;
    this.#buffer = new Uint8Array(
      declaredBytes >= 0 && declaredBytes <= maxBytes ? declaredBytes : Math.min(FIRST_BYTES, maxBytes),
    );
  }

  /** Keeps as much of a piece as fits. `full`: not all of it did. */
  add(piece: Uint8Array): "kept" | "full" | "trickling" {
    const kept = piece.subarray(0, this.#maxBytes - this.#bytes);
    const neededBytes = this.#bytes + kept.length;
    if (neededBytes > this.#buffer.length) this.#grow(neededBytes);
    this.#buffer.set(kept, this.#bytes);
    this.#bytes = neededBytes;
    this.#pieces += 1;
    if (kept.length < piece.length) return "full";
    return this.#pieces > MAX_TINY_PIECES && this.#bytes < this.#pieces * MIN_PIECE_BYTES
      ? "trickling"
      : "kept";
  }

  #grow(neededBytes: number): void {
    const larger = new Uint8Array(Math.max(neededBytes, Math.min(2 * this.#buffer.length, this.#maxBytes)));
    larger.set(this.#buffer);
    this.#buffer = larger;
  }

  /** What was kept so far. */
  get whole(): Uint8Array {
    return this.#buffer.subarray(0, this.#bytes);
  }

  /** For the log. */
  get size(): string {
    return `${this.#bytes} bytes came in ${this.#pieces} pieces`;
  }
}
