import { riffChunk, riffChunksOf, riffHead } from "./riff.ts";

// Animated WebP: RFC 9649, section 2.7.1. Frames are whole WebP files, whose pixels are taken over as they
// are.

/** A frame: where it lies, for how long, and whether it is laid over what is shown or replaces it. */
export interface WebpFrame {
  /** Even numbers: the container counts in twos. */
  x: number;
  y: number;
  width: number;
  height: number;
  milliseconds: number;
  isPatch: boolean;
  /** A WebP picture of that size. */
  file: Uint8Array;
}

const HAS_ANIMATION = 0x02;
const HAS_ALPHA = 0x10;
const DO_NOT_BLEND = 0x02;
/** What a frame's picture consists of; the rest of its file is for pictures that stand alone. */
const PICTURE_CHUNKS = ["ALPH", "VP8 ", "VP8L"];

/** Joins frames into a picture that moves for ever. */
export function webpAnimation(width: number, height: number, frames: readonly WebpFrame[]): Uint8Array {
  const extended = new Uint8Array(10);
  extended[0] = HAS_ANIMATION | HAS_ALPHA;
  setUint24(extended, 4, width - 1);
  setUint24(extended, 7, height - 1);
  // The ground is see-through, and the number of turns 0: without end.
  const body = Buffer.concat([
    Buffer.from("WEBP"),
    riffChunk("VP8X", extended),
    riffChunk("ANIM", new Uint8Array(6)),
    ...frames.map(frameChunk),
  ]);
  return Buffer.concat([riffHead("RIFF", body.length), body]);
}

function frameChunk({ x, y, width, height, milliseconds, isPatch, file }: WebpFrame): Uint8Array {
  const head = new Uint8Array(16);
  for (const [place, value] of [x / 2, y / 2, width - 1, height - 1, milliseconds].entries())
    setUint24(head, place * 3, value);
  head[15] = isPatch ? 0 : DO_NOT_BLEND;
  const picture = riffChunksOf(file).filter(({ type }) => PICTURE_CHUNKS.includes(type));
  return riffChunk("ANMF", Buffer.concat([head, ...picture.map(({ type, data }) => riffChunk(type, data))]));
}

function setUint24(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value & 0xff;
  bytes[at + 1] = (value >> 8) & 0xff;
  bytes[at + 2] = (value >> 16) & 0xff;
}
