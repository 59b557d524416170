import type { Page } from "puppeteer-core";
import type { Motion, MovingFormat } from "../../core/card.ts";
import { frameSize, MAX_MOVING_BYTES, MAX_STILL_WIDTH } from "../../core/moving-pictures.ts";
import { withStill } from "./formats/film-still.ts";
import { withMetadata } from "./formats/metadata.ts";
import type { Pixels } from "./formats/pixels.ts";
import { webm } from "./formats/webm.ts";
import { encodeWebp } from "./formats/webp.ts";
import { type WebpFrame, webpAnimation } from "./formats/webp-animation.ts";
import type { PlatesLaid } from "./page/plates.ts";
import type { PixelFile } from "./pixel-file.ts";
import { withTimeout } from "./within-time.ts";

/** What is to move, and as what. */
export interface FilmOrder {
  format: MovingFormat;
  motion: Motion;
  /** Whether the template marks foil at all. */
  hasFoil: boolean;
}

type Size = Pick<Pixels, "width" | "height">;

interface Opened {
  frames: number;
  framesPerSecond: number;
  plates: PlatesLaid;
}

/** What film.ts says of a browser that cannot make videos. */
export const NO_VIDEO_ENCODER = "this browser encodes no VP9";

/** What film.ts provides in the page. */
type InPage = { cardpressFilm: typeof import("./page/film.ts") };

const FRAME_TIMEOUT_MS = 12_000;
/** All frames of a video, on a machine that is busy with others. */
const VIDEO_TIMEOUT_MS = 120_000;

interface Shot extends Size {
  bytes: Uint8Array;
  plates: PlatesLaid;
  drawnAt: number;
}

/** A film that came out too large is made again at most this wide and high, of its own sides. */
const SMALLER = 0.8;
/** What of the bytes is aimed at then. */
const SMALLER_AIM = 0.85;

/**
 * Makes the card that the page shows move, in at most MAX_MOVING_BYTES: a card with more in it gets a lower
 * quality, then fewer frames, and in the end smaller ones, until it fits. For an MP4 it makes the video that
 * mp4.ts encodes again, with as many bytes as that takes.
 * @param size the card's own
 */
export async function shootFilm(page: Page, file: PixelFile, size: Size, order: FilmOrder): Promise<Shot> {
  const whole = frameSize(order, size);
  let shot = await shootAt(page, file, { card: size, frame: whole }, order);
  while (order.format !== "mp4" && shot.bytes.length > MAX_MOVING_BYTES) {
    const fitting = Math.sqrt((SMALLER_AIM * MAX_MOVING_BYTES) / shot.bytes.length);
    const scale = Math.min(SMALLER, fitting);
    const even = (side: number) => Math.max(2, 2 * Math.floor((side * scale) / 2));
    const frame = { width: even(shot.width), height: even(shot.height) };
    shot = await shootAt(page, file, { card: size, frame }, order, { isLast: true });
  }
  return shot;
}

/** See `shootFilm`, with frames of one size. `isLast`: at the lowest quality alone. */
async function shootAt(
  page: Page,
  file: PixelFile,
  { card: size, frame }: { card: Size; frame: Size },
  { format, motion, hasFoil }: FilmOrder,
  { isLast = false } = {},
): Promise<Shot> {
  const film = { ...frame, motion, isOpaque: format !== "webp-animated" };
  const opening = page.evaluate(
    (...given) => (globalThis as unknown as InPage).cardpressFilm.open(...given),
    ...([size.width, size.height, hasFoil, film] as const),
  );
  try {
    const opened = await withTimeout(opening, FRAME_TIMEOUT_MS, "drawing the card to be moved");
    const drawnAt = performance.now();
    const { width, height } = film;
    const still = await stillOf(page, file);
    const make = { webm: video, mp4: master, "webp-animated": animation }[format];
    const bytes = await make({ page, file, still, isLast }, { width, height }, opened);
    return { bytes, plates: opened.plates, drawnAt, width, height };
  } finally {
    await page.evaluate(() => (globalThis as unknown as InPage).cardpressFilm.close());
  }
}

/** An open film, the file that it is written to, and its still. */
interface Film {
  page: Page;
  file: PixelFile;
  still: Uint8Array;
  isLast: boolean;
}

async function stillOf(page: Page, file: PixelFile): Promise<Uint8Array> {
  const drawing = page.evaluate(
    (widest) => (globalThis as unknown as InPage).cardpressFilm.still(widest),
    MAX_STILL_WIDTH,
  );
  const { width, height } = await withTimeout(drawing, FRAME_TIMEOUT_MS, "drawing the still of a film");
  return withMetadata(await encodeWebp({ rgba: file.read(width * height * 4), width, height }), "webp");
}

/** VP9, profile 0, level 4.0, 8 bits: what 1080 x 1920 pixels need. */
const CODEC = "vp09.00.40.08";
/** What the encoder is asked for, in bits a second and pixel; a card needs less. */
const BITS_PER_PIXEL = 4;
/** The same of what is encoded a second time, so that it is not seen to be. */
const MASTER_BITS_PER_PIXEL = 8;
/** The part of the bytes that is aimed at: an encoder overshoots. */
const AIM = 0.8;
/** Tries, each at this part of the rate before. */
const VIDEO_TRIES = 3;
const LESS = 0.6;

async function video(film: Film, size: Size, opened: Opened): Promise<Uint8Array> {
  const { frames: count, framesPerSecond } = opened;
  const { isLast } = film;
  const most = (AIM * MAX_MOVING_BYTES * 8 * framesPerSecond) / count;
  let bitrate = Math.round(Math.min(most, BITS_PER_PIXEL * size.width * size.height));
  if (isLast) bitrate = Math.round(bitrate * LESS ** (VIDEO_TRIES - 1));
  for (let tries = isLast ? VIDEO_TRIES : 1; ; tries++) {
    const whole = await videoAt(bitrate, film, size, opened);
    if (whole.length <= MAX_MOVING_BYTES || tries === VIDEO_TRIES) return whole;
    bitrate = Math.round(bitrate * LESS);
  }
}

/** What an MP4 is made of. */
const master = (film: Film, size: Size, opened: Opened): Promise<Uint8Array> =>
  videoAt(MASTER_BITS_PER_PIXEL * size.width * size.height, film, size, opened);

async function videoAt(
  bitrate: number,
  { page, file, still }: Film,
  size: Size,
  { framesPerSecond }: Opened,
): Promise<Uint8Array> {
  const encoding = page.evaluate(
    (...given) => (globalThis as unknown as InPage).cardpressFilm.encode(...given),
    CODEC,
    bitrate,
  );
  const chunks = await withTimeout(encoding, VIDEO_TIMEOUT_MS, "encoding the video");
  const all = file.read(chunks.reduce((sum, { bytes }) => sum + bytes, 0));
  let end = 0;
  const frames = chunks.map(({ bytes, isKey }) => {
    end += bytes;
    return { bytes: all.slice(end - bytes, end), isKey };
  });
  return webm({ ...size, framesPerSecond, frames, still });
}

/** Of an animated WebP: how well its frames are encoded, and every how manieth is. */
const STEPS_DOWN = [
  { quality: 78, every: 1 },
  { quality: 62, every: 1 },
  { quality: 62, every: 2 },
  { quality: 40, every: 2 },
];

/** Of the bytes there may be: more than what a step or two save. */
const FAR = 2;

async function animation(
  { page, file, still, isLast }: Film,
  size: Size,
  opened: Opened,
): Promise<Uint8Array> {
  let smallest = new Uint8Array();
  const steps = STEPS_DOWN.slice(isLast ? -1 : 0);
  for (let step = steps.shift(); step; step = steps.shift()) {
    const frames = await webpFrames(page, file, opened, step);
    const whole = withMetadata(webpAnimation(size.width, size.height, frames), "webp");
    smallest = new Uint8Array(withStill(whole, still));
    if (smallest.length <= MAX_MOVING_BYTES) break;
    // What is far from it takes the shortest way: the whole picture has the time of any other.
    if (smallest.length > FAR * MAX_MOVING_BYTES) steps.splice(0, steps.length - 1);
  }
  return smallest;
}

async function webpFrames(
  page: Page,
  file: PixelFile,
  { frames: count, framesPerSecond }: Opened,
  { quality, every }: (typeof STEPS_DOWN)[number],
): Promise<WebpFrame[]> {
  const frames: WebpFrame[] = [];
  const milliseconds = (every * 1000) / framesPerSecond;
  for (let number = 0; number < count; number += every) {
    const drawing = page.evaluate((at) => (globalThis as unknown as InPage).cardpressFilm.frame(at), number);
    const change = await withTimeout(drawing, FRAME_TIMEOUT_MS, `drawing frame ${number}`);
    const last = frames.at(-1);
    if (change) {
      const { width, height } = change;
      const rgba = file.read(width * height * 4);
      frames.push({ ...change, milliseconds, file: await encodeWebp({ rgba, width, height }, quality) });
    } else if (last) last.milliseconds += milliseconds;
  }
  return frames;
}
