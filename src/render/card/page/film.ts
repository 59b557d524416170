// Draws a moving card frame by frame, and encodes it as a video.

import { drawCard, drawFoil, writePixels } from "./canvas.ts";
import { changeOf, drawFrame, FRAMES, FRAMES_PER_SECOND, groundOf, poseOf, type Scene } from "./moving.ts";

export interface Film {
  motion: "foil" | "reveal";
  width: number;
  height: number;
  isOpaque: boolean;
}

export interface Chunk {
  bytes: number;
  isKey: boolean;
}

/** Frames the encoder may be behind: each is a whole picture in memory. */
const FRAMES_AHEAD = 2;

let current:
  | {
      film: Film;
      scene: Scene;
      out: Uint8ClampedArray<ArrayBuffer>;
      spare: Uint8ClampedArray;
      shown: Uint8ClampedArray;
    }
  | undefined;

/**
 * Draws the card that the page shows, once, for all its frames. Answers how many there are, and how long
 * each is.
 * @param width the card's own, as `height`
 * @param hasFoil whether the template marks foil
 */
export async function open(width: number, height: number, hasFoil: boolean, film: Film) {
  const card = await drawCard(width, height);
  const coverage = hasFoil ? await drawFoil(width, height) : null;
  const size = { width: film.width, height: film.height };
  const rgba = scaled(card.data, size);
  const foil = coverage?.some((share) => share > 0) ? scaledFoil(coverage, { width, height }, size) : null;
  const scene = { ...size, rgba, foil, ground: film.isOpaque ? groundOf({ ...size, rgba }) : null };
  const buffer = () => new Uint8ClampedArray(rgba.length);
  current = { film, scene, out: buffer(), spare: buffer(), shown: buffer() };
  return { frames: FRAMES[film.motion], framesPerSecond: FRAMES_PER_SECOND, plates: card.laid };
}

export function close() {
  current = undefined;
}

/** The open film, with this frame drawn. */
function drawn(number: number) {
  if (!current) throw new Error("no film is open");
  const { film, scene, out, spare } = current;
  drawFrame(scene, poseOf(film.motion, number), out, spare);
  return current;
}

/**
 * Draws a frame and writes to the file what differs from the one before; null when nothing does.
 * @param number from 0, one frame after the other
 */
export async function frame(number: number) {
  const { out, shown, film } = drawn(number);
  if (number === 0) shown.fill(0);
  const changed = changeOf(out, shown, film.width, film.height);
  if (!changed) return null;
  const { change, pixels } = changed;
  await writePixels(pixels.buffer);
  // There is nothing below the first frame.
  return number === 0 ? { ...change, isPatch: false } : change;
}

/** Writes the card as it stands to the file, at most this wide: for where nothing can move. */
export async function still(widest: number) {
  if (!current) throw new Error("no film is open");
  const { width, height, rgba } = current.scene;
  const size =
    width > widest ? { width: widest, height: Math.round((height * widest) / width) } : { width, height };
  const pixels = scaled(new ImageData(new Uint8ClampedArray(rgba), width, height), size);
  await writePixels(pixels.buffer);
  return size;
}

const NO_ENCODER = "this browser encodes no VP9";

/**
 * Encodes all frames as a video and writes its chunks to the file, one after the other.
 * @param bitrate in bits a second
 */
export async function encode(codec: string, bitrate: number) {
  if (!current) throw new Error("no film is open");
  const { width, height, motion } = current.film;
  if (!("VideoEncoder" in globalThis)) throw new Error(NO_ENCODER);
  const planes = new Uint8Array((width * height * 3) / 2);
  const chunks: Chunk[] = [];
  const parts: Uint8Array[] = [];
  let broken: Error | undefined;
  const encoder = new VideoEncoder({
    output: (chunk) => {
      const bytes = new Uint8Array(chunk.byteLength);
      chunk.copyTo(bytes);
      parts.push(bytes);
      chunks.push({ bytes: bytes.length, isKey: chunk.type === "key" });
    },
    error: (error) => {
      // Asking beforehand (isConfigSupported) spoils the colours of what this Chromium then encodes.
      broken = error.name === "NotSupportedError" ? new Error(NO_ENCODER) : error;
    },
  });
  try {
    encoder.configure({
      ...{ codec, width, height, bitrate, framerate: FRAMES_PER_SECOND },
      ...{ latencyMode: "quality", bitrateMode: "variable" },
    });
    for (let number = 0; number < FRAMES[motion]; number++) {
      const { out } = drawn(number);
      const duration = 1_000_000 / FRAMES_PER_SECOND;
      const timestamp = number * duration;
      intoPlanes(out, planes, width, height);
      const picture = new VideoFrame(planes, {
        ...{ format: "I420", codedWidth: width, codedHeight: height, timestamp, duration },
        colorSpace: { matrix: "bt709", primaries: "bt709", transfer: "bt709", fullRange: false },
      });
      encoder.encode(picture, { keyFrame: number === 0 });
      picture.close();
      while (encoder.encodeQueueSize > FRAMES_AHEAD && !broken)
        await new Promise((resolve) => encoder.addEventListener("dequeue", resolve, { once: true }));
    }
    await encoder.flush();
  } catch (error) {
    throw broken ?? error;
  } finally {
    if (encoder.state !== "closed") encoder.close();
  }
  if (broken) throw broken;
  const whole = new Uint8Array(chunks.reduce((sum, { bytes }) => sum + bytes, 0));
  let at = 0;
  for (const one of parts) {
    whole.set(one, at);
    at += one.length;
  }
  await writePixels(whole.buffer);
  return chunks;
}

/**
 * The brightness of each pixel, then the two colours of each four pixels: ITU-R BT.709, narrow range. Left
 * to itself the browser takes the full range, which many players take for the narrow one.
 */
function intoPlanes(rgba: Uint8ClampedArray, planes: Uint8Array, width: number, height: number) {
  const row = width * 4;
  for (let pixel = 0, at = 0; at < rgba.length; pixel++, at += 4)
    planes[pixel] =
      16.5 + 0.18259 * Number(rgba[at]) + 0.61423 * Number(rgba[at + 1]) + 0.06201 * Number(rgba[at + 2]);
  let blue = width * height;
  let red = blue + blue / 4;
  for (let y = 0; y < height; y += 2)
    for (let x = 0; x < width; x += 2) {
      const at = y * row + x * 4;
      const mean = (k: number) =>
        (Number(rgba[k]) + Number(rgba[k + 4]) + Number(rgba[k + row]) + Number(rgba[k + row + 4])) / 4;
      const r = mean(at);
      const g = mean(at + 1);
      const b = mean(at + 2);
      planes[blue++] = 128.5 - 0.10064 * r - 0.33857 * g + 0.43922 * b;
      planes[red++] = 128.5 + 0.43922 * r - 0.39894 * g - 0.04027 * b;
    }
}

interface Size {
  width: number;
  height: number;
}

function scaled(card: ImageData, { width, height }: Size) {
  if (card.width === width && card.height === height) return card.data;
  const canvas = new OffscreenCanvas(card.width, card.height);
  canvas.getContext("2d")?.putImageData(card, 0, 0);
  const context = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
  if (!context) throw new Error("no canvas for the frames");
  context.imageSmoothingQuality = "high";
  context.drawImage(canvas, 0, 0, width, height);
  return context.getImageData(0, 0, width, height).data;
}

function scaledFoil(coverage: Uint8Array, from: Size, to: Size) {
  if (from.width === to.width && from.height === to.height) return coverage;
  const grey = new ImageData(from.width, from.height);
  for (let at = 0; at < coverage.length; at++) grey.data.fill(Number(coverage[at]), at * 4, at * 4 + 3);
  for (let at = 3; at < grey.data.length; at += 4) grey.data[at] = 255;
  const data = scaled(grey, to);
  return Uint8Array.from({ length: to.width * to.height }, (_, at) => Number(data[at * 4]));
}

Object.assign(globalThis, { cardpressFilm: { open, close, still, frame, encode } });
