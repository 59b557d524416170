/**
 * The pictures by which networks are quantised: on them it is measured how large the values in a network
 * become.
 */
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launchBrowser } from "../../src/render/browser/browser.ts";
import { findChromium } from "../../src/render/browser/chromium.ts";

const PHOTOS = join(import.meta.dir, "../../test/photos");

/**
 * Crops of a photo (x, y, width, height as fractions) and the brightness at which the network is shown them.
 */
const CALIBRATION_CROPS = [
  [0, 0, 1, 1, 1],
  [0.1, 0, 0.7, 0.8, 0.6],
  [0.25, 0.1, 0.5, 0.9, 1.3],
  [0.3, 0.05, 0.4, 0.5, 1],
];
/** About this many pixels are fed to the network, with sides its five halvings divide evenly. */
const CALIBRATION_CELLS = 65_536;

/** Bytes in the order red, green, blue. */
export interface Crop {
  width: number;
  height: number;
  rgb: Uint8Array;
}

/**
 * Every crop of every photo in test/photos, in order of file name.
 * @param side of the squares that they are drawn into; without it each keeps its shape, at about
 *   CALIBRATION_CELLS pixels
 */
export async function calibrationCrops(side?: number): Promise<Crop[]> {
  const cacheDir = join(tmpdir(), "cardpress-test-cache");
  mkdirSync(cacheDir, { recursive: true });
  const chromium = await findChromium({ configuredPath: process.env.CARDPRESS_CHROMIUM, cacheDir });
  const browser = await launchBrowser({ chromium, profilesDir: tmpdir(), noSandbox: true });
  const page = await browser.newPage();
  const found: Crop[] = [];
  for (const name of readdirSync(PHOTOS).sort()) {
    if (!/\.(png|jpg)$/.test(name)) continue;
    const crops = await page.evaluate(
      async (base64, shares, cells, side) => {
        const photo = await fetch(`data:application/octet-stream;base64,${base64}`);
        const bitmap = await createImageBitmap(await photo.blob());
        return shares.map(([x = 0, y = 0, w = 1, h = 1, brightness = 1]) => {
          const from = { width: bitmap.width * w, height: bitmap.height * h };
          const scale = Math.sqrt(cells / (from.width * from.height)) / 16;
          const width = side ?? Math.max(4, Math.round(from.width * scale)) * 16;
          const height = side ?? Math.max(4, Math.round(from.height * scale)) * 16;
          const context = new OffscreenCanvas(width, height).getContext("2d");
          if (!context) throw new Error("no canvas");
          context.filter = `brightness(${brightness})`;
          context.imageSmoothingQuality = "high";
          const at = [bitmap.width * x, bitmap.height * y] as const;
          context.drawImage(bitmap, ...at, from.width, from.height, 0, 0, width, height);
          const { data } = context.getImageData(0, 0, width, height);
          let rgb = "";
          for (let i = 0; i < data.length; i += 4) rgb += String.fromCharCode(...data.subarray(i, i + 3));
          return { width, height, rgb: btoa(rgb) };
        });
      },
      readFileSync(join(PHOTOS, name)).toString("base64"),
      CALIBRATION_CROPS,
      CALIBRATION_CELLS,
      side,
    );
    for (const { rgb, ...size } of crops) found.push({ ...size, rgb: Uint8Array.fromBase64(rgb) });
  }
  await browser.close();
  return found;
}
