import { canvasOf, contextOf, type PhotoPart, pixelsAt } from "./decode.ts";
import type { Subject } from "./examine.ts";
import { headBox } from "./head.ts";
import type { Mask } from "./masks.ts";
import { runNetwork } from "./networks.ts";
import { floats, type Numbers } from "./pixels.ts";
import { type Crop, type Rect, seenFrom } from "./rects.ts";

/** Side of the network's square input and output, in pixels. */
const SIDE = 256;
/** In the network's order: background, hair, body skin, face skin, clothes, and other things worn. */
const CLASSES = 6;
const [HAIR, FACE] = [1, 3];

/** Crops are squeezed into the square by this factor at most: the network never saw people made thin. */
const MAX_SQUEEZE = 1.5;
/** A head whose brightest quarter starts below this (0 to 255) is brightened, by at most this factor. */
const DARK_HEAD = 110;
const MAX_HEAD_GAIN = 6;
/** Below this median brightness (0 to 255), shadows are lifted: 1 - (1 - x)^2, this many times. */
const DARK_PART = 45;
const SHADOW_LIFTS = 2;
/** Side of the small picture on which brightness is measured, in pixels. */
const LIGHT_PX = 24;

/** The close-up of the head: its side, and how far its centre is below the head's, both in head heights. */
const CLOSE_UP_PER_HEAD = 2.6;
const CLOSE_UP_BELOW_HEAD = 0.35;
/** The close-up is left out unless it enlarges by this factor. */
const MIN_ENLARGED = 1.2;

/** What the network sees in a crop. */
export interface BodyParts {
  /** Log odds that a cell belongs to a person: -2.4 on plain background, up to about 5. */
  logOdds: Mask;
  /** 0 to 1. */
  hair: Mask;
  /** 0 to 1. */
  face: Mask;
}

/** A part of the photo with the body parts seen in it. */
export type Cut = PhotoPart & { parts: BodyParts };

/** Looks at the whole part of the photo. */
export function segmentBody(part: PhotoPart, player: Subject): Promise<BodyParts> {
  return segment(part, player, cropWithin(part.rect, part.rect));
}

/** The same for head and shoulders, enlarged; `body` where that showed them as large already. */
export async function segmentHead(part: PhotoPart, player: Subject, body: BodyParts): Promise<BodyParts> {
  const crop = headCrop(part, player);
  const { width, height } = body.logOdds.crop;
  const larger = Math.max(width, height) / Math.max(crop.width, crop.height);
  return larger < MIN_ENLARGED ? body : segment(part, player, crop);
}

/**
 * The part as the network is shown it, which is blind in the dark: all of it brighter where the head is dark,
 * and shadows lifted for a dark suit in front of a dark stand.
 */
function lit({ canvas, rect, zoom }: PhotoPart, player: Subject): OffscreenCanvas {
  const lights = lightsOf(canvas, seenFrom(rect, zoom, headBox(player)));
  const bright = Number(lights[Math.floor(0.75 * lights.length)]);
  const gain = Math.min(MAX_HEAD_GAIN, Math.max(1, DARK_HEAD / Math.max(1, bright)));
  const all = lightsOf(canvas);
  const isDark = Number(all[all.length >> 1]) < DARK_PART;
  if (gain <= 1 && !isDark) return canvas;
  const out = canvasOf(canvas.width, canvas.height);
  const context = contextOf(out);
  context.filter = `brightness(${gain})`;
  context.drawImage(canvas, 0, 0);
  if (!isDark) return out;
  context.filter = "none";
  context.globalCompositeOperation = "screen";
  for (let round = 0; round < SHADOW_LIFTS; round++) context.drawImage(out, 0, 0);
  return out;
}

/** Each pixel's brightest channel in a reduced copy of the canvas, or of a part of it, darkest first. */
function lightsOf(canvas: OffscreenCanvas, rect?: Rect): number[] {
  const rgba = pixelsAt(canvas, LIGHT_PX, LIGHT_PX, rect);
  const lights = Array.from({ length: LIGHT_PX ** 2 }, (_, i) =>
    Math.max(rgba[4 * i], rgba[4 * i + 1], rgba[4 * i + 2]),
  );
  return lights.sort((a, b) => a - b);
}

function headCrop({ rect }: PhotoPart, player: Subject): Crop {
  const box = headBox(player);
  const side = CLOSE_UP_PER_HEAD * box.height;
  return cropWithin(rect, {
    x: box.x + box.width / 2 - side / 2,
    y: box.y + (0.5 + CLOSE_UP_BELOW_HEAD) * box.height - side / 2,
    width: side,
    height: side,
  });
}

/** A rectangle's part inside another, since black beyond a photo looks like an edge; see MAX_SQUEEZE. */
function cropWithin(within: Rect, wanted: Rect): Crop {
  const left = Math.max(within.x, wanted.x);
  const top = Math.max(within.y, wanted.y);
  const width = Math.max(8, Math.min(within.x + within.width, wanted.x + wanted.width) - left);
  const height = Math.max(8, Math.min(within.y + within.height, wanted.y + wanted.height) - top);
  return {
    cx: left + width / 2,
    cy: top + height / 2,
    width: Math.max(width, height / MAX_SQUEEZE),
    height: Math.max(height, width / MAX_SQUEEZE),
    rotation: 0,
  };
}

/** @param crop in search pixels */
async function segment(part: PhotoPart, player: Subject, crop: Crop): Promise<BodyParts> {
  const { rect, zoom } = part;
  const inCut = {
    cx: (crop.cx - rect.x) * zoom,
    cy: (crop.cy - rect.y) * zoom,
    width: crop.width * zoom,
    height: crop.height * zoom,
    rotation: 0,
  };
  return readParts(await scoresIn(lit(part, player), inCut), crop);
}

/** The network's output for a crop of a picture, for `readParts`. */
export async function scoresIn(picture: OffscreenCanvas, crop: Crop): Promise<Numbers> {
  const [scores] = await runNetwork("bodyParts", picture, crop, SIDE);
  return scores;
}

/**
 * Turns the network's output into masks.
 * @param scores of 256 x 256 cells, CLASSES each, before softmax
 */
export function readParts(scores: Numbers, crop: Crop): BodyParts {
  const cells = SIDE * SIDE;
  const logOdds = floats(cells);
  const hair = floats(cells);
  const face = floats(cells);
  const weights = new Float64Array(CLASSES);
  for (let i = 0, at = 0; i < cells; i++, at += CLASSES) {
    let person = 0;
    for (let k = 1; k < CLASSES; k++) person += weights[k] = Math.exp(scores[at + k] - scores[at]);
    logOdds[i] = Math.log(person);
    hair[i] = Number(weights[HAIR]) / (1 + person);
    face[i] = Number(weights[FACE]) / (1 + person);
  }
  const size = { width: SIDE, height: SIDE };
  const mask = (values: Numbers) => ({ values, ...size, crop });
  return { logOdds: mask(logOdds), hair: mask(hair), face: mask(face) };
}
