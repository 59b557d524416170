import type { Browser, Page } from "puppeteer-core";
import { openSealedPage, type PageFile } from "../../src/render/browser/browser.ts";

/** What two pictures differ by, over premultiplied RGBA channels of 0..255. */
export interface PixelDifference {
  sameSize: boolean;
  largest: number;
  mean: number;
  /** Peak signal to noise in decibels: how alike two pictures are; infinite for equal ones. */
  psnr: number;
  /** Part of the pixels of which some channel differs by more than 24. */
  changedShare: number;
}

export interface PixelLab {
  compare(a: Uint8Array, b: Uint8Array): Promise<PixelDifference>;
  /** A PNG of where two pictures of one size differ. */
  differences(a: Uint8Array, b: Uint8Array): Promise<Uint8Array>;
  /** A PNG of pictures of one size laid over each other, the rearmost first. */
  stack(pictures: Uint8Array[]): Promise<Uint8Array>;
  /** RGBA of the pixels at the given places. */
  pixelsAt(picture: Uint8Array, places: [x: number, y: number][]): Promise<number[][]>;
  /** The smallest box around everything that is not transparent. */
  inkBox(picture: Uint8Array): Promise<{ left: number; top: number; right: number; bottom: number }>;
  size(picture: Uint8Array): Promise<{ width: number; height: number }>;
  /** Mean absolute differences of all pairs, each picture shrunk to 48 x 60. */
  distances(pictures: Uint8Array[]): Promise<number[][]>;
  close(): Promise<void>;
}

/** Decodes and compares pictures in a page, whose decoder is the one that people see them through. */
export async function openPixelLab(browser: Browser): Promise<PixelLab> {
  const files = new Map<string, PageFile>([["/", { body: "<!doctype html>", contentType: "text/html" }]]);
  const page: Page = await openSealedPage(browser, (path) => files.get(path), "/");
  await page.addScriptTag({ content: `globalThis.pixels = ${readPixels.toString()}` });
  let next = 0;
  const put = (bytes: Uint8Array, contentType = "image/png") => {
    const path = `/${next++}`;
    files.set(path, { body: bytes, contentType });
    return path;
  };
  const lab: PixelLab = {
    async compare(a, b) {
      return page.evaluate(compareInPage, put(a), put(b));
    },
    async differences(a, b) {
      return Uint8Array.fromBase64(await page.evaluate(differencesInPage, put(a), put(b)));
    },
    async stack(pictures) {
      const paths = pictures.map((picture) => put(picture, "image/webp"));
      return Uint8Array.fromBase64(await page.evaluate(stackInPage, paths));
    },
    async pixelsAt(picture, places) {
      return page.evaluate(
        async (path, at) => {
          const { data, width } = await (globalThis as unknown as { pixels: typeof readPixels }).pixels(path);
          return at.map(([x, y]) => Array.from(data.slice((y * width + x) * 4, (y * width + x) * 4 + 4)));
        },
        put(picture),
        places,
      );
    },
    async inkBox(picture) {
      return page.evaluate(async (path) => {
        const { data, width, height } = await (globalThis as unknown as { pixels: typeof readPixels }).pixels(
          path,
        );
        const box = { left: width, top: height, right: 0, bottom: 0 };
        for (let i = 0; i < width * height; i++) {
          if ((data[i * 4 + 3] ?? 0) < 40) continue;
          box.left = Math.min(box.left, i % width);
          box.right = Math.max(box.right, (i % width) + 1);
          box.top = Math.min(box.top, Math.floor(i / width));
          box.bottom = Math.max(box.bottom, Math.floor(i / width) + 1);
        }
        return box;
      }, put(picture));
    },
    async size(picture) {
      return page.evaluate(async (path) => {
        const { width, height } = await (globalThis as unknown as { pixels: typeof readPixels }).pixels(path);
        return { width, height };
      }, put(picture));
    },
    async distances(pictures) {
      return page.evaluate(
        distancesInPage,
        pictures.map((picture) => put(picture, "image/svg+xml")),
      );
    },
    close: () => page.close(),
  };
  return lab;
}

async function readPixels(
  path: string,
  width?: number,
  height?: number,
): Promise<{ data: Uint8ClampedArray; width: number; height: number }> {
  const image = new Image();
  image.src = path;
  await image.decode();
  const [w, h] = [width ?? image.naturalWidth, height ?? image.naturalHeight];
  const context = new OffscreenCanvas(w, h).getContext("2d", {
    willReadFrequently: true,
  }) as OffscreenCanvasRenderingContext2D;
  context.drawImage(image, 0, 0, w, h);
  return { data: context.getImageData(0, 0, w, h).data, width: w, height: h };
}

async function compareInPage(pathA: string, pathB: string): Promise<PixelDifference> {
  const { pixels } = globalThis as unknown as { pixels: typeof readPixels };
  const [a, b] = [await pixels(pathA), await pixels(pathB)];
  if (a.width !== b.width || a.height !== b.height)
    return { sameSize: false, largest: 255, mean: 255, psnr: 0, changedShare: 1 };
  let [largest, sum, squares, changed] = [0, 0, 0, 0];
  for (let i = 0; i < a.data.length; i += 4) {
    let worst = 0;
    for (let k = 0; k < 4; k++) {
      const alphaA = k < 3 ? (a.data[i + 3] ?? 0) / 255 : 1;
      const alphaB = k < 3 ? (b.data[i + 3] ?? 0) / 255 : 1;
      const d = Math.abs((a.data[i + k] ?? 0) * alphaA - (b.data[i + k] ?? 0) * alphaB);
      sum += d;
      squares += d * d;
      worst = Math.max(worst, d);
    }
    largest = Math.max(largest, worst);
    if (worst > 24) changed++;
  }
  const count = a.width * a.height;
  return {
    sameSize: true,
    largest,
    mean: sum / (count * 4),
    psnr: 10 * Math.log10((255 * 255 * count * 4) / squares),
    changedShare: changed / count,
  };
}

/** Base64 of a PNG. */
async function stackInPage(paths: string[]): Promise<string> {
  const canvas = document.createElement("canvas");
  for (const src of paths) {
    const image = Object.assign(new Image(), { src });
    await image.decode();
    if (canvas.width !== image.width || canvas.height !== image.height)
      [canvas.width, canvas.height] = [image.width, image.height];
    canvas.getContext("2d")?.drawImage(image, 0, 0);
  }
  return canvas.toDataURL().split(",")[1] ?? "";
}

/** Base64 of a PNG, red where they differ. */
async function differencesInPage(pathA: string, pathB: string): Promise<string> {
  const { pixels } = globalThis as unknown as { pixels: typeof readPixels };
  const [a, b] = [await pixels(pathA), await pixels(pathB)];
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [a.width, a.height];
  const context = canvas.getContext("2d") as CanvasRenderingContext2D;
  const out = context.createImageData(a.width, a.height);
  for (let i = 0; i < a.data.length; i += 4) {
    const worst = Math.max(...[0, 1, 2, 3].map((k) => Math.abs((a.data[i + k] ?? 0) - (b.data[i + k] ?? 0))));
    out.data.set([worst * 4, 0, 0, 255], i);
  }
  context.putImageData(out, 0, 0);
  return canvas.toDataURL().split(",")[1] ?? "";
}

async function distancesInPage(paths: string[]): Promise<number[][]> {
  const { pixels } = globalThis as unknown as { pixels: typeof readPixels };
  const small: Uint8ClampedArray[] = [];
  for (const path of paths) small.push((await pixels(path, 48, 60)).data);
  return small.map((a) =>
    small.map((b) => a.reduce((sum, v, i) => sum + Math.abs(v - (b[i] ?? 0)), 0) / a.length),
  );
}

/** WCAG contrast of two colours, as RGB of 0..255. */
export function ratio(a: number[], b: number[]): number {
  const light = (rgb: number[]) => {
    const [r = 0, g = 0, bl = 0] = rgb.map((v) =>
      v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4,
    );
    return 0.2126 * r + 0.7152 * g + 0.0722 * bl + 0.05;
  };
  return Math.max(light(a), light(b)) / Math.min(light(a), light(b));
}
