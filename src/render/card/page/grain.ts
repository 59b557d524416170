import { bounded } from "./bounded.ts";

/** Opacity, of 255, at which grain is visible as a texture but not as dots. */
const GRAIN_ALPHA = 12;

/** Held so that the browser keeps it: nobody waits for the pictures of a style sheet. */
const grain = new Image();

/**
 * A tile of fine grain as a blob URL, loaded, the same on every machine. Three pixels in ten are black or
 * white: noise on every pixel looks no better, takes 5 ms more to encode and 120 KB more to send.
 */
export async function makeGrain() {
  const size = 256;
  const canvas = new OffscreenCanvas(size, size);
  const context = canvas.getContext("2d") as OffscreenCanvasRenderingContext2D;
  const pixels = context.createImageData(size, size);
  let state = 0x9e3779b9;
  for (let i = 0; i < size * size; i++) {
    // xorshift32 (Marsaglia, 2003)
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    const noise = ((state >>> 8) & 31) - 15.5;
    const grey = noise > 0 ? 255 : 0;
    pixels.data.set([grey, grey, grey, Math.abs(noise) > 11 ? GRAIN_ALPHA : 0], i * 4);
  }
  context.putImageData(pixels, 0, 0);
  grain.src = URL.createObjectURL(await canvas.convertToBlob({ type: "image/png" }));
  await bounded("pictures", grain.decode());
  return grain.src;
}
