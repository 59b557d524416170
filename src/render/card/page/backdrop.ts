// Draws the photo itself as a card's ground.

import type { Box, Tones } from "../../../core/card.ts";
import { lumaOf, retone, toneTables } from "../../photo/page/pixels.ts";
import { cropped, within } from "./photo-window.ts";
import { lightPaleWall } from "./studio-light.ts";

/** Lengths in pixels of the card. */
export interface BackdropStyle {
  /** What of the card the picture covers. */
  window: Box;
  /** Where the whole upright photo lies. */
  photo: Box;
  /** How often the photo is turned clockwise to be upright. */
  quarters: 0 | 1 | 2 | 3;
  /** The rectangle of the player's silhouette. */
  player: Box;
  face: Box;
  /** Where the plate begins: what is below it is dark. */
  line: number;
  /** What the photo's tones become, per channel, at equal steps from 0 to 255. */
  tones: Tones | null;
  /** Darken its edges, or light a pale wall. Off, the photo stays as it was taken. */
  isShaded: boolean;
  /** Whether the silhouette is good enough to light a pale wall behind the player. */
  lightsWall: boolean;
}

/** A studio's dark: red, green and blue. Judges took a card's own colours in the corners for stains. */
const SHADE = "12 14 18";
/** How dark the window's corners become. */
const EDGE_SHADE = 0.72;
/** No shade falls within this distance of the face's middle, in face heights. */
const CLEAR_FACES = 1.8;

/**
 * The picture of `style.window`.
 * @param photo as the file shows it
 * @param silhouette the player's, where there is one
 */
export function backdropOf(photo: ImageBitmap, style: BackdropStyle, silhouette: ImageBitmap | null) {
  const context = cropped(photo, style);
  if (style.tones) grade(context, style.tones);
  const gap = Math.max(0, Math.round(style.photo.y - style.window.y));
  const isStriped = gap > 0 && !isPlain(context, gap);
  const isLit = style.lightsWall && silhouette !== null && lightPaleWall(context, silhouette, style);
  if (style.isShaded && !isLit) shadeEdges(context, style);
  if (isStriped) shadeTop(context, gap, style);
  darkenFoot(context, style);
  return context.canvas;
}

/** Gives the picture its new tones, each between two of the knots. */
function grade(context: OffscreenCanvasRenderingContext2D, tones: Tones) {
  const { width, height } = context.canvas;
  const picture = context.getImageData(0, 0, width, height);
  const tables = toneTables((channel, value) => {
    const knots = tones[channel] ?? [0, 255];
    const at = (value / 255) * (knots.length - 1);
    const low = Math.min(knots.length - 2, Math.floor(at));
    return Math.round(Number(knots[low]) + (Number(knots[low + 1]) - Number(knots[low])) * (at - low));
  });
  retone(new Uint32Array(picture.data.buffer), tables);
  context.putImageData(picture, 0, 0);
}

/** Darkens what lies far from the player, as in a studio. */
function shadeEdges(context: OffscreenCanvasRenderingContext2D, { window, face }: BackdropStyle) {
  const { width, height } = window;
  const at = within(face, window);
  const [x, y] = [at.x + at.width / 2, at.y + at.height / 2 + 0.1 * height];
  const from = Math.max(CLEAR_FACES * face.height, 0.3 * Math.min(width, height));
  const to = Math.max(from, 0.35 * Math.max(width, height)) + 0.45 * Math.max(width, height);
  const gradient = context.createRadialGradient(x, y, from, x, y, to);
  gradient.addColorStop(0, "rgb(255 255 255 / 0)");
  gradient.addColorStop(1, `rgb(${SHADE} / ${EDGE_SHADE})`);
  context.globalCompositeOperation = "multiply";
  context.fillStyle = gradient;
  context.fillRect(0, 0, width, height);
  context.globalCompositeOperation = "source-over";
}

/**
 * Where the photo ends below the window's upper edge, its top row is drawn out upwards, and whatever is not
 * plain there becomes stripes. So that part lies in the dark, as under a stand's roof.
 * @param gap the height that the photo lacks, in pixels
 */
function shadeTop(context: OffscreenCanvasRenderingContext2D, gap: number, { window }: BackdropStyle) {
  const gradient = context.createLinearGradient(0, 0, 0, ROOF_GAPS * gap);
  for (const [at, opacity] of ROOF) gradient.addColorStop(at, `rgb(${SHADE} / ${opacity})`);
  context.fillStyle = gradient;
  context.fillRect(0, 0, window.width, ROOF_GAPS * gap);
}

/** The opacity of that dark, down to this many times the missing height. */
const ROOF_GAPS = 1.6;
const ROOF = [
  [0, 0.96],
  [0.36, 0.86],
  [0.62, 0.55],
  [0.82, 0.14],
  [1, 0],
] as const;
/** A row is plain, as a sky is, while its brightness (0 to 255) deviates by no more than this. */
const PLAIN = 12;

function isPlain(context: OffscreenCanvasRenderingContext2D, row: number) {
  const { width } = context.canvas;
  const { data } = context.getImageData(0, row, width, 1);
  let [sum, squares] = [0, 0];
  for (let x = 0; x < width; x++) {
    const luma = lumaOf(data, x);
    sum += luma;
    squares += luma * luma;
  }
  return squares / width - (sum / width) ** 2 <= PLAIN * PLAIN;
}

/** The dark on which the plate lies, and what is below it. */
function darkenFoot(context: OffscreenCanvasRenderingContext2D, { window, line }: BackdropStyle) {
  const edge = line - window.y;
  if (edge >= window.height) return;
  context.fillStyle = `rgb(${SHADE} / 0.94)`;
  context.fillRect(0, edge + FOOT_PX, window.width, window.height);
}

/** Below the plate's upper edge by this much, so that no dark line shows above it. */
const FOOT_PX = 4;
