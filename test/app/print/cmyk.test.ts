import { expect, test } from "bun:test";
import { cmykConverter } from "../../../src/app/print/cmyk.ts";
import { encodeCmykJpeg } from "../../../src/app/print/cmyk-jpeg.ts";
import { openCmyk, sharedPress } from "../../../src/app/print/cmyk-process.ts";
import { profileFault } from "../../../src/app/print/print-profile.ts";
import { encodePng } from "../../../src/render/card/formats/encode.ts";
import { SRGB_PROFILE } from "../../../src/render/card/formats/srgb-profile.ts";
import { cmykCommand } from "../../../src/service/system.ts";
import { pressProfile } from "./press-profile.ts";

/** Prints greys with black alone. */
const blackAlone = pressProfile(([l]) => [0, 0, 0, 1 - l / 100], { name: "Black alone" });
/** Prints greys with all four inks, up to 400 %. */
const allInks = pressProfile(([l]) => Array(4).fill(1 - l / 100));
/** A colour's warmth is yellow ink, its cold is cyan. */
const warmAndCold = pressProfile(([, , b]) => [Math.max(0, -b / 128), 0, Math.max(0, b / 128), 0]);

const [WHITE, BLACK, CLEAR] = [
  [255, 255, 255, 255],
  [0, 0, 0, 255],
  [0, 0, 0, 0],
] as const;

/** The inks of each of these colours, as rows of four. */
async function inksOf(profile: Uint8Array, limit: number, colours: readonly (readonly number[])[]) {
  const converter = await cmykConverter(profile);
  const rgba = Uint8Array.from(colours.flat());
  const cmyk = converter.convert({ rgba, width: colours.length, height: 1 }, limit);
  expect(cmyk.length).toBe(rgba.length);
  return colours.map((_, n) => [...cmyk.subarray(n * 4, n * 4 + 4)]);
}

test("colours become the inks that the profile's table names", async () => {
  expect(await inksOf(blackAlone, 300, [WHITE, BLACK])).toEqual([
    [0, 0, 0, 0],
    [0, 0, 0, 255],
  ]);
  const [[, , , middle = 0] = []] = await inksOf(blackAlone, 300, [[119, 119, 119, 255]]);
  // L is 50 there.
  expect(Math.abs(middle - 127.5)).toBeLessThan(3);
  const [yellow = [], blue = []] = await inksOf(warmAndCold, 300, [
    [255, 255, 0, 255],
    [0, 0, 255, 255],
  ]);
  expect(yellow[2]).toBeGreaterThan(150);
  expect(yellow[0]).toBe(0);
  expect(blue[0]).toBeGreaterThan(190);
  expect(blue[2]).toBe(0);
});

test("no place gets more ink than the limit, black stays whole, and what is below stays as it is", async () => {
  const greys = Array.from({ length: 256 }, (_, v) => [v, v, v, 255]);
  const free = await inksOf(allInks, 400, greys);
  expect(free[0]).toEqual([255, 255, 255, 255]);
  for (const limit of [240, 300]) {
    const limited = await inksOf(allInks, limit, greys);
    const most = (limit * 255) / 100;
    limited.forEach((inks, grey) => {
      const before = free[grey] as number[];
      const sum = inks.reduce((all, ink) => all + ink, 0);
      expect(sum).toBeLessThanOrEqual(most);
      expect(inks[3]).toBe(before[3] as number);
      if (before.reduce((all, ink) => all + ink, 0) <= most) expect(inks).toEqual(before);
      // Three inks rounded down.
      else expect(sum).toBeGreaterThan(most - 3.01);
    });
  }
});

test("what is clear shows paper, and what is half clear half of it", async () => {
  const [clear, half, grey] = await inksOf(blackAlone, 300, [CLEAR, [0, 0, 0, 127], [128, 128, 128, 255]]);
  expect(clear).toEqual([0, 0, 0, 0]);
  expect(half).toEqual(grey as number[]);
});

test("a picture of more pixels than one band comes out whole and in order", async () => {
  const [width, height] = [300, 500];
  const rgba = new Uint8Array(width * height * 4);
  for (let n = 0; n < width * height; n++) rgba.set(n % 7 === 0 ? BLACK : WHITE, n * 4);
  const cmyk = (await cmykConverter(blackAlone)).convert({ rgba, width, height }, 300);
  const wrong = Array.from({ length: width * height }, (_, n) => n).filter(
    (n) => cmyk[n * 4 + 3] !== (n % 7 === 0 ? 255 : 0),
  );
  expect(wrong).toEqual([]);
});

test("a file that is no profile of a press is named for what it is", () => {
  expect(profileFault(blackAlone)).toBeNull();
  expect(profileFault(new TextEncoder().encode("<html>".repeat(100)))).toBe("is not an ICC profile");
  expect(profileFault(new Uint8Array())).toBe("is not an ICC profile");
  expect(profileFault(blackAlone.subarray(0, 500))).toStartWith("is cut off: it has 500 of ");
  expect(profileFault(SRGB_PROFILE)).toBe(
    'is of the kind "mntr" for RGB colours; a press needs one of the kind "prtr" for CMYK',
  );
  // As bytes that lie within others, too.
  const within = new Uint8Array(blackAlone.length + 5);
  within.set(blackAlone, 5);
  expect(profileFault(within.subarray(5))).toBeNull();
});

test("another process turns pictures of any format into inks, one after the other", async () => {
  const cmyk = await openCmyk({ command: cmykCommand(), profile: blackAlone });
  try {
    expect(cmyk.name).toBe("Black alone");
    const rgba = Uint8Array.from([...WHITE, ...BLACK, ...BLACK, ...WHITE, ...CLEAR, ...BLACK]);
    const png = encodePng({ rgba, width: 2, height: 3 });
    const webp = await new Bun.Image(png).webp({ lossless: true }).bytes();
    const [ofPng, ofWebp] = await Promise.all([cmyk.convert(png, 300), cmyk.convert(webp, 300)]);
    expect(ofPng).toEqual(ofWebp as typeof ofPng);
    const [none, full] = [Array(4).fill(0), [0, 0, 0, 255]];
    const inks = [none, full, full, none, none, full].flat();
    const wanted = encodeCmykJpeg(Uint8Array.from(inks), 2, 3, 95);
    expect(ofPng).toEqual({ width: 2, height: 3, jpeg: new Uint8Array(wanted) });
    await expect(cmyk.convert(new TextEncoder().encode("no picture"), 300)).rejects.toThrow();
    await expect(cmyk.convert(png, 20)).rejects.toThrow("the ink limit must be 100 to 400 percent");
    // One that cannot be read costs no other.
    expect((await cmyk.convert(png, 300)).width).toBe(2);
  } finally {
    cmyk.close();
  }
  await expect(cmyk.convert(new Uint8Array(), 300)).rejects.toThrow(
    "the process that converts colours ended",
  );
});

test("a profile whose tables are damaged is refused by name, and its process ends", async () => {
  const damaged = blackAlone.slice();
  // The tags' places point behind the end.
  damaged.fill(0xff, 132, 132 + 7 * 12);
  await expect(openCmyk({ command: cmykCommand(), profile: damaged })).rejects.toThrow("the print profile");
});

test("print files share one process, which ends with the last and begins anew", async () => {
  const press = sharedPress({ command: cmykCommand(), profile: blackAlone });
  const png = encodePng({ rgba: Uint8Array.from(BLACK), width: 1, height: 1 });
  const [one, other] = await Promise.all([press.use(), press.use()]);
  one.close();
  one.close();
  expect((await other.convert(png, 300)).width).toBe(1);
  other.close();
  await expect(other.convert(png, 300)).rejects.toThrow("ended");
  const next = await press.use();
  expect((await next.convert(png, 300)).width).toBe(1);
  next.close();
});
