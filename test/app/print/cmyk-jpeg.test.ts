import { afterAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { encodeCmykJpeg } from "../../../src/app/print/cmyk-jpeg.ts";
import { openCmyk } from "../../../src/app/print/cmyk-process.ts";
import { pdfOf } from "../../../src/app/print/pdf.ts";
import { readPrintProfile } from "../../../src/app/print/print-profile.ts";
import { cmykCommand } from "../../../src/service/system.ts";
import { testFolder } from "../../harness.ts";
import { pressProfile } from "./press-profile.ts";

const folder = testFolder();
afterAll(() => folder.remove());

/** The inks that Ghostscript reads out of the picture, four bytes a pixel. */
async function decoded(jpeg: Uint8Array, width: number, height: number): Promise<Uint8Array> {
  const whole = { x: 0, y: 0, width, height };
  const picture = { bytes: jpeg, colour: "cmyk" as const, width, height };
  async function* pages() {
    const placed = { ...picture, at: whole, clip: whole, quarters: 0 as const };
    yield { width, height, trim: whole, bleed: whole, pictures: [placed], marks: [] };
  }
  const intent = { profile: pressProfile(() => [0, 0, 0, 0]), name: "any", standard: "pdfx_1a" as const };
  const info = { title: "", producer: "", createdAt: 0, id: "00", intent };
  const [pdf, pam] = [join(folder.dir, "a.pdf"), join(folder.dir, "a.pam")];
  await Bun.write(pdf, Buffer.concat(await Array.fromAsync(pdfOf(pages(), info))));
  const gs = ["gs", "-q", "-dBATCH", "-dNOPAUSE", "-dUsePDFX3Profile=false", "-sDEVICE=pamcmyk32", "-r72"];
  const { exitCode, stderr } = Bun.spawnSync([...gs, `-sOutputFile=${pam}`, pdf]);
  expect([exitCode, stderr.toString()]).toEqual([0, ""]);
  return (await Bun.file(pam).bytes()).slice(-width * height * 4);
}

/** Cards with much dark ink and hard edges. */
const CARDS = ["action_card/golden/gold@print.webp", "full_bleed/golden/season@print.webp"];

/** How far the worst ink of a pixel is off, in each. */
function furthest(found: Uint8Array, wanted: Uint8Array): number[] {
  const most = [0, 0, 0, 0];
  wanted.forEach((value, n) => {
    most[n % 4] = Math.max(most[n % 4] as number, Math.abs(value - (found[n] as number)));
  });
  return most;
}

describe.skipIf(!Bun.which("gs"))("read by Ghostscript", () => {
  // Neither is a multiple of eight: the last blocks stand over.
  const [width, height] = [61, 43];
  const drawn = (inkAt: (x: number, y: number, ink: number) => number) =>
    Uint8Array.from({ length: width * height * 4 }, (_, n) => {
      const pixel = n >> 2;
      return inkAt(pixel % width, Math.floor(pixel / width), n & 3);
    });

  test("gradients of each ink come back, at every pixel", async () => {
    const inks = drawn((x, y, ink) => [x * 4, y * 5, 240 - x * 3, Math.round((x + y) * 2.4)][ink] as number);
    const found = await decoded(encodeCmykJpeg(inks, width, height, 95), width, height);
    for (const worst of furthest(found, inks)) expect(worst).toBeLessThanOrEqual(4);
  });

  test("flat inks come back exactly, from none to all", async () => {
    for (const flat of [
      [0, 0, 0, 0],
      [255, 255, 255, 255],
      [0, 0, 0, 255],
      [255, 0, 0, 0],
    ]) {
      const inks = drawn((_x, _y, ink) => flat[ink] as number);
      const found = await decoded(encodeCmykJpeg(inks, width, height, 95), width, height);
      for (const worst of furthest(found, inks)) expect(worst).toBeLessThanOrEqual(1);
    }
  });

  test("black type on paper puts nothing on the other three plates", async () => {
    const inks = drawn((x, y, ink) => (ink === 3 && x % 5 < 2 && y % 9 > 2 ? 255 : 0));
    const found = await decoded(encodeCmykJpeg(inks, width, height, 95), width, height);
    const [cyan, magenta, yellow, black = 255] = furthest(found, inks);
    expect([cyan, magenta, yellow]).toEqual([0, 0, 0]);
    expect(black).toBeLessThan(20);
  });

  const PRESS = "/usr/share/color/icc/ghostscript/default_cmyk.icc";
  test.skipIf(!existsSync(PRESS))("no pixel of a card has more ink than the printer allows", async () => {
    const cmyk = await openCmyk({ command: cmykCommand(), profile: readPrintProfile(PRESS) });
    try {
      for (const card of CARDS)
        for (const limit of [240, 300]) {
          const file = await Bun.file(join(import.meta.dir, "../../../templates", card)).bytes();
          const { jpeg, ...sides } = await cmyk.convert(file, limit);
          const found = await decoded(jpeg, sides.width, sides.height);
          let most = 0;
          for (let at = 0; at < found.length; at += 4)
            most = Math.max(
              most,
              found.subarray(at, at + 4).reduce((sum, ink) => sum + ink),
            );
          expect([card, limit, Math.ceil((most * 100) / 255) <= limit]).toEqual([card, limit, true]);
        }
    } finally {
      cmyk.close();
    }
  });

  test("noise, which takes the longest codes, comes back too", async () => {
    let seed = 1;
    const random = () => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed & 255;
    };
    const inks = drawn(random);
    const found = await decoded(encodeCmykJpeg(inks, width, height, 100), width, height);
    for (const worst of furthest(found, inks)) expect(worst).toBeLessThanOrEqual(6);
  });
});
