import type { CDPSession, Page } from "puppeteer-core";
import type { StillFormat } from "../../core/card.ts";
import type { LayerPicture } from "../../core/layers.ts";
import { profileOf } from "../browser/browser.ts";
import { type Encoding, encode, JPEG_QUALITY } from "./formats/encode.ts";
import { withMetadata } from "./formats/metadata.ts";
import type { Pixels } from "./formats/pixels.ts";
import { WEBP_QUALITY } from "./formats/webp.ts";
import { shootLayers } from "./layered-picture.ts";
import { type FilmOrder, shootFilm } from "./moving-picture.ts";
import type { PlatesLaid } from "./page/plates.ts";
import { openPixelFile, type PixelFile } from "./pixel-file.ts";
import { withTimeout } from "./within-time.ts";

/** What a browser whose pictures are screenshots means, for operators. */
export const NO_CANVAS =
  "this Chromium draws no elements into a canvas: cards take longer, cannot move (webm, mp4, webp-animated), and have neither layers nor a foil plate for print. Update it, or let CARDPRESS_CHROMIUM name a newer one.";

const CAPTURE_TIMEOUT_MS = 12_000;

/**
 * How pictures leave a page. `canvas`: the page draws itself into a canvas and writes the pixels to a file,
 * and this process encodes them. `screenshot`: the browser encodes, and the file comes through the pipe as
 * text; works in any browser.
 */
export type CaptureMethod = "canvas" | "screenshot";

export interface Size {
  width: number;
  height: number;
}

/** Takes pictures of what a page shows. */
export interface Camera {
  readonly captureMethod: CaptureMethod;
  /** The picture as a finished file: the size of the page's viewport, transparent where nothing is drawn. */
  shoot(size: Size, format: StillFormat, encoding?: Encoding): Promise<Photograph>;
  /**
   * How much of each pixel is to be foiled, of 255: where elements with `data-foil` are seen. Valid until the
   * next picture; null where only the browser sees the pixels.
   */
  shootFoil(size: Size): Promise<Uint8Array | null>;
  /** The card's layers and its foil mask as WebP. Throws where only the browser sees the pixels. */
  shootLayers(size: Size): Promise<Record<LayerPicture, Uint8Array>>;
  /** The card in motion as a finished file. Throws where only the browser sees the pixels. */
  film(size: Size, order: FilmOrder): Promise<Photograph & Size>;
  close(): Promise<void>;
}

export interface Photograph {
  bytes: Uint8Array;
  /**
   * Time until the pixels were there, of that for its plates, and then until they were encoded; a screenshot
   * does all at once.
   */
  timingsMs: { pixels: number; encode: number } & PlatesTime;
}

export interface CameraOptions {
  /** Set when a test or an operator insists on one; otherwise the best that works is used. */
  captureMethod?: CaptureMethod | undefined;
}

/**
 * The time for a card's plates: `plates_kept` when all were there from earlier cards, `plates_drawn` when one
 * had to be drawn, nothing when it has none.
 */
type PlatesTime = { plates_kept?: number; plates_drawn?: number };

function platesTime({ drawn, kept, ms }: PlatesLaid): PlatesTime {
  if (drawn > 0) return { plates_drawn: ms };
  return kept > 0 ? { plates_kept: ms } : {};
}

/** What canvas.ts provides in the page. */
type InPage = { cardpressCanvas: typeof import("./page/canvas.ts") };

/**
 * Opens a camera for a page that has loaded canvas.ts. Uses the canvas if a probe of four colours comes out
 * unchanged; if anything about it fails, uses screenshots.
 */
export async function openCamera(
  page: Page,
  session: CDPSession,
  { captureMethod }: CameraOptions = {},
): Promise<Camera> {
  if (captureMethod === "screenshot") return screenshots(session);
  const canvas = await openCanvas(page).catch((error: unknown) => error);
  if (canvas instanceof Object && "shoot" in canvas) return canvas as Camera;
  if (captureMethod === "canvas") throw canvas;
  return screenshots(session);
}

/** Throws when the browser cannot do it, or changes the probe's colours. */
async function openCanvas(page: Page): Promise<Camera> {
  const profile = profileOf(page.browser());
  if (profile === undefined) throw new Error("the browser's profile is not known");
  const name = `pixels-${crypto.randomUUID()}`;
  const opened = await page.evaluate(
    (file) => (globalThis as unknown as InPage).cardpressCanvas.open(file),
    name,
  );
  if (!opened) throw new Error("the browser cannot draw elements into a canvas");
  let file: PixelFile | undefined;
  try {
    file = openPixelFile(profile, name);
    const camera = canvasCamera(page, file);
    await probe(page, file);
    return camera;
  } catch (error) {
    file?.close();
    await page.evaluate(() => (globalThis as unknown as InPage).cardpressCanvas.close());
    throw error;
  }
}

function canvasCamera(page: Page, file: PixelFile): Camera {
  return {
    captureMethod: "canvas",
    shoot: async (size, format, encoding) => {
      const started = performance.now();
      const { pixels, plates } = await draw(page, file, size);
      const drawn = performance.now();
      const bytes = withMetadata(await encode(pixels, format, encoding), format);
      const pixelsMs = drawn - started;
      const encodeMs = performance.now() - drawn;
      return { bytes, timingsMs: { pixels: pixelsMs, ...platesTime(plates), encode: encodeMs } };
    },
    shootFoil: async ({ width, height }) => {
      const drawn = page.evaluate(
        (...sides) => (globalThis as unknown as InPage).cardpressCanvas.shootFoil(...sides),
        width,
        height,
      );
      await withTimeout(drawn, CAPTURE_TIMEOUT_MS, "drawing the card's foil");
      return file.read(width * height);
    },
    shootLayers: (size) => shootLayers(page, file, size),
    film: async (size, order) => {
      const started = performance.now();
      const { plates, drawnAt, ...shot } = await shootFilm(page, file, size, order);
      const encode = performance.now() - drawnAt;
      return { ...shot, timingsMs: { pixels: drawnAt - started, ...platesTime(plates), encode } };
    },
    close: async () => file.close(),
  };
}

async function draw(
  page: Page,
  file: PixelFile,
  size: Size,
): Promise<{ pixels: Pixels; plates: PlatesLaid }> {
  const drawn = page.evaluate(
    (width, height) => (globalThis as unknown as InPage).cardpressCanvas.shoot(width, height),
    size.width,
    size.height,
  );
  const plates = await withTimeout(drawn, CAPTURE_TIMEOUT_MS, "drawing the card");
  return {
    pixels: { rgba: file.read(size.width * size.height * 4), width: size.width, height: size.height },
    plates,
  };
}

const PROBE: Size = { width: 64, height: 64 };
/** The squares canvas.ts paints: a point in the middle of each, and the colour to expect there. */
const PROBE_COLOURS: [x: number, y: number, colour: string][] = [
  [16, 16, "c8102eff"],
  [48, 16, "00843dff"],
  [16, 48, "1034a6ff"],
  [48, 48, "f6eb61ff"],
];

async function probe(page: Page, file: PixelFile): Promise<void> {
  // A page behind another one draws no frames.
  await page.bringToFront();
  await page.setViewport({ ...PROBE, deviceScaleFactor: 1 });
  await page.evaluate(() => (globalThis as unknown as InPage).cardpressCanvas.showProbe());
  const { rgba } = (await draw(page, file, PROBE)).pixels;
  await page.evaluate(() => (globalThis as unknown as InPage).cardpressCanvas.hideProbe());
  for (const [x, y, colour] of PROBE_COLOURS) {
    const at = (y * PROBE.width + x) * 4;
    const seen = rgba.slice(at, at + 4).toHex();
    if (seen !== colour) throw new Error(`the canvas shows ${seen} where ${colour} was painted`);
  }
}

function screenshots(session: CDPSession): Camera {
  return {
    captureMethod: "screenshot",
    shoot: async (_, format) => {
      const started = performance.now();
      const quality =
        format === "jpeg" ? { quality: JPEG_QUALITY } : format === "webp" ? { quality: WEBP_QUALITY } : {};
      const shot = session.send("Page.captureScreenshot", {
        format,
        ...quality,
        optimizeForSpeed: true,
        captureBeyondViewport: false,
      });
      const { data } = await withTimeout(shot, CAPTURE_TIMEOUT_MS, "photographing the card");
      const bytes = withMetadata(Uint8Array.fromBase64(data), format);
      return { bytes, timingsMs: { pixels: performance.now() - started, encode: 0 } };
    },
    shootFoil: async () => null,
    shootLayers: async () => {
      throw new Error(NO_CANVAS);
    },
    film: async () => {
      throw new Error(NO_CANVAS);
    },
    close: async () => {},
  };
}
