import { expect, test } from "bun:test";
import { join } from "node:path";
import { PNG } from "pngjs";
import { encode } from "../../../src/render/card/formats/encode.ts";
import type { Pixels } from "../../../src/render/card/formats/pixels.ts";

const GOLDEN = join(import.meta.dir, "../../golden/portrait-gold.webp");

function decode(png: Uint8Array): Pixels {
  const { width, height, data } = PNG.sync.read(Buffer.from(png));
  return { rgba: Uint8Array.from(data), width, height };
}

/** Of the pixels that are opaque in the first, in decibels. */
function psnr({ rgba: expected }: Pixels, { rgba: found }: Pixels): number {
  let [squares, count] = [0, 0];
  for (let i = 0; i < expected.length; i += 4) {
    if (expected[i + 3] !== 255) continue;
    for (let k = i; k < i + 3; k++) squares += ((expected[k] as number) - (found[k] as number)) ** 2;
    count += 3;
  }
  return 10 * Math.log10((255 * 255 * count) / squares);
}

const alphaOf = ({ rgba }: Pixels) => rgba.filter((_, i) => i % 4 === 3);

test("a WebP keeps every step of transparency, and colours as well as Bun's slower encoder", async () => {
  const card = decode(await new Bun.Image(GOLDEN).png().bytes());
  const bytes = await encode(card, "webp");
  const found = decode(await new Bun.Image(bytes).png().bytes());
  expect(alphaOf(card).some((alpha) => alpha > 0 && alpha < 255)).toBe(true);
  expect(Buffer.from(alphaOf(found)).equals(Buffer.from(alphaOf(card)))).toBe(true);
  const slow = decode(
    await new Bun.Image(await new Bun.Image(GOLDEN).webp({ quality: 90 }).bytes()).png().bytes(),
  );
  // The golden picture was encoded by the slow one, which gives it a start; nobody sees half a decibel.
  expect(psnr(card, found)).toBeGreaterThan(psnr(card, slow) - 0.5);
});

test("the same pixels make the same file, whatever was encoded between", async () => {
  const card = decode(await new Bun.Image(GOLDEN).png().bytes());
  const small = { rgba: card.rgba.slice(0, 64 * 64 * 4), width: 64, height: 64 };
  for (const format of ["png", "jpeg", "webp"] as const) {
    const first = await encode(card, format);
    await encode(small, format);
    expect(Buffer.from(await encode(card, format)).equals(Buffer.from(first))).toBe(true);
  }
});

test("a PNG gives back every pixel", async () => {
  const card = decode(await new Bun.Image(GOLDEN).png().bytes());
  for (const encoding of ["file", "screen"] as const)
    expect(Buffer.from(decode(await encode(card, "png", encoding)).rgba).equals(card.rgba)).toBe(true);
});

test("pictures that are encoded side by side come out as they do alone", async () => {
  const card = decode(await new Bun.Image(GOLDEN).png().bytes());
  const other = { ...card, rgba: card.rgba.map((value) => 255 - value) };
  for (const format of ["png", "jpeg", "webp"] as const) {
    const alone = [await encode(card, format), await encode(other, format)];
    const together = await Promise.all([encode(card, format), encode(other, format)]);
    for (const [i, bytes] of together.entries())
      expect(Buffer.from(bytes).equals(Buffer.from(alone[i] as Uint8Array))).toBe(true);
  }
});
