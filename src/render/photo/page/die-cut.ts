import { canvasOf, contextOf } from "./decode.ts";
import { dilate } from "./dilate.ts";
import {
  above,
  alphaOf,
  type Bytes,
  below,
  type Numbers,
  patches,
  retone,
  toneTables,
  type Words,
} from "./pixels.ts";
import { type Rect, type Size, scaled } from "./rects.ts";

/** The longer side of the silhouette in pixels: fine enough for an outline on the largest card. */
const SILHOUETTE_PX = 640;
// All lengths below are in pixels of the silhouette.
/**
 * How much the edge is smoothed, and the alpha (0 to 255) at which the smooth edge is cut: wisps go, small
 * notches close. More so around the head, since wisps of hair are where every cutout shows.
 */
const EDGE = { blur: 2, cut: 128 };
const HAIR = { blur: 4.2, cut: 112 };
/** The steepness of the new edge: it is about one pixel wide. */
const STEEPNESS = 2.2;
/** Whatever has nothing solid within this distance is haze: a smear of the background, a shadow. */
const HAZE_PX = 8;
const DENSE_ALPHA = 225;
/** A loose piece below this part of the player's area is a speck; a hole up to HOLE_PX squared is a fault. */
const SPECK_PART = 0.004;
const HOLE_PX = 12;
/** From this alpha on a colour is carried outwards; stricter than OPAQUE_ALPHA, since faults would spread. */
const INSIDE_ALPHA = 250;
/** How far inner colours are carried outwards, at half the silhouette's size: near ones first. */
const CARRIED_PX = [1.2, 3, 8, 20];
/** How far around the head hair may be, in head sizes: at both sides, above and below its upper edge. */
const HAIR_REACH = { sides: 0.6, above: 0.5, below: 1.6 };

/** The reduced cutout, with straight alpha. */
export interface Small {
  rgba: Bytes;
  w: number;
  h: number;
}

/** For each channel what becomes of its 256 tones. */
export type ToneCurves = Uint8ClampedArray[];

/** The size of a reduced cutout. */
export function smallSize({ width, height }: Size): { w: number; h: number } {
  const scale = Math.min(1, SILHOUETTE_PX / Math.max(width, height));
  return { w: Math.max(4, Math.round(width * scale)), h: Math.max(4, Math.round(height * scale)) };
}

/**
 * The die-cut of a player: an even, closed edge, and along it the player's own colours instead of those of
 * the old background. Its silhouette is there at once, its pixels when they are asked for.
 * @param size of the cutout
 * @param small with the player's alpha
 * @param head in pixels of the cutout
 */
export function dieCut({ width, height }: Size, { rgba: data, w, h }: Small, head: Rect) {
  const alpha = withoutHaze(alphaOf(data), w);
  const edge = evenEdge(alpha, w, h, scaled(head, w / width));
  const silhouette = painted(edge, w, h);
  return {
    /** In black, small. */
    silhouette,
    /** Cuts the opaque pixels of the cutout's rectangle in place, and gives them their new tones. */
    cut(rgba: Bytes, tones: ToneCurves | null): void {
      const inside = lowestAround(alpha, w);
      const carried = carriedColours(data, inside, w, h);
      const kept: Bytes = new Uint8ClampedArray(alpha.length);
      for (let i = 0; i < kept.length; i++) kept[i] = 255 * keptPart(alpha[i] / 255, inside[i]);
      takeInnerColours(rgba, { width, height }, { silhouette, edge, kept, carried }, tones);
    },
  };
}

/**
 * A picture in black.
 * @param full the value of an opaque pixel
 */
export function painted(opacities: Bytes | Numbers, w: number, h: number, full = 255): OffscreenCanvas {
  const canvas = canvasOf(w, h);
  const picture = new ImageData(w, h);
  const { data } = picture;
  for (let i = 0, k = 3; k < data.length; i++, k += 4) data[k] = (255 / full) * opacities[i];
  contextOf(canvas).putImageData(picture, 0, 0);
  return canvas;
}

/** Clears what is nowhere near anything solid, in place. */
function withoutHaze(alpha: Bytes, w: number): Bytes {
  const near = dilate(new Float32Array(above(alpha, DENSE_ALPHA - 1)), w, HAZE_PX);
  for (let i = 0; i < alpha.length; i++) if (near[i] === 0) alpha[i] = 0;
  return alpha;
}

/** The silhouette's alpha with an even edge, but for where the photo cuts the player off. */
function evenEdge(alpha: Bytes, w: number, h: number, head: Rect): Bytes {
  const from = painted(alpha, w, h);
  const body = smoothed(from, w, h, EDGE);
  const hair = smoothed(from, w, h, HAIR);
  const left = head.x - HAIR_REACH.sides * head.width;
  const right = head.x + (1 + HAIR_REACH.sides) * head.width;
  const top = head.y - HAIR_REACH.above * head.height;
  const bottom = head.y + HAIR_REACH.below * head.height;
  for (let y = Math.max(0, Math.round(top)); y < Math.min(h, bottom); y++)
    for (let x = Math.max(0, Math.round(left)); x < Math.min(w, right); x++) {
      const share = Math.min(1, Math.min(x - left, right - x, y - top, bottom - y) / (0.15 * head.width));
      const i = y * w + x;
      body[i] = body[i] + (hair[i] - body[i]) * Math.max(0, share);
    }
  closePatches(body, w);
  return body;
}

function smoothed(from: OffscreenCanvas, w: number, h: number, { blur, cut }: typeof EDGE): Bytes {
  const pad = Math.ceil(3 * blur);
  const wide = canvasOf(w + 2 * pad, h + 2 * pad);
  const context = contextOf(wide);
  // Each border row and column once more, as far as the blur sees: nothing thins out towards the photo's own
  // edge.
  context.drawImage(from, 0, 0, 1, h, 0, pad, pad, h);
  context.drawImage(from, w - 1, 0, 1, h, w + pad, pad, pad, h);
  context.drawImage(from, 0, 0, w, 1, pad, 0, w, pad);
  context.drawImage(from, 0, h - 1, w, 1, pad, h + pad, w, pad);
  context.drawImage(from, pad, pad);
  const soft = canvasOf(w, h);
  const softContext = contextOf(soft);
  softContext.filter = `blur(${blur}px)`;
  softContext.drawImage(wide, -pad, -pad);
  const { data } = softContext.getImageData(0, 0, w, h);
  const out: Bytes = new Uint8ClampedArray(w * h);
  for (let i = 0, k = 3; i < out.length; i++, k += 4)
    out[i] = 127.5 + (Number(data[k]) - cut) * blur * STEEPNESS;
  return out;
}

/** Drops specks and fills small holes, in place. */
function closePatches(alpha: Bytes, w: number): void {
  const n = alpha.length;
  const own = patches(above(alpha, 127), w);
  const area = own.sizes.slice(1).reduce((sum, size) => sum + size, 0);
  for (let i = 0; i < n; i++) {
    const label = own.labels[i];
    if (label && Number(own.sizes[label]) < SPECK_PART * area) alpha[i] = 0;
  }
  const holes = patches(below(alpha, 128), w);
  const open = new Set();
  for (let x = 0; x < w; x++) open.add(holes.labels[x]).add(holes.labels[n - w + x]);
  for (let i = 0; i < n; i += w) open.add(holes.labels[i]).add(holes.labels[i + w - 1]);
  for (let i = 0; i < n; i++) {
    const label = holes.labels[i];
    if (label && !open.has(label) && Number(holes.sizes[label]) <= HOLE_PX ** 2) alpha[i] = 255;
  }
}

/** The lowest alpha of each pixel and those around it: what is solid in it lies wholly inside the player. */
function lowestAround(alpha: Bytes, w: number): Numbers {
  const missing: Numbers = new Float32Array(alpha.length);
  for (let i = 0; i < missing.length; i++) missing[i] = 255 - alpha[i];
  const lowest = dilate(missing, w, 1);
  for (let i = 0; i < lowest.length; i++) lowest[i] = 255 - lowest[i];
  return lowest;
}

/**
 * For each place the mean colour of what is surely the player near it, or further off where nothing near is.
 * @returns four channels, at half the size
 */
function carriedColours(data: Bytes, inside: Numbers, w: number, h: number): Plane {
  const sure = new ImageData(w, h);
  const from = new Uint32Array(data.buffer);
  const to = new Uint32Array(sure.data.buffer);
  for (let i = 0; i < to.length; i++) if (inside[i] >= INSIDE_ALPHA) to[i] = Number(from[i]) | 0xff000000;
  const full = canvasOf(w, h);
  contextOf(full).putImageData(sure, 0, 0);
  const half = canvasOf(Math.ceil(w / 2), Math.ceil(h / 2));
  const halfContext = contextOf(half);
  halfContext.imageSmoothingQuality = "medium";
  halfContext.drawImage(full, 0, 0, half.width, half.height);
  const out = canvasOf(half.width, half.height);
  const context = contextOf(out);
  context.drawImage(half, 0, 0);
  context.globalCompositeOperation = "destination-over";
  for (const blur of CARRIED_PX) {
    context.filter = `blur(${blur}px)`;
    // Twice: the blur of a thin edge is mostly transparent.
    context.drawImage(half, 0, 0);
    context.drawImage(half, 0, 0);
  }
  return context.getImageData(0, 0, out.width, out.height);
}

/**
 * How much of a pixel's own colour stays at the edge, 0 to 1: 1 wholly inside the player, little where the
 * player was hardly there.
 * @param here how much of the player the pixel shows
 * @param inside its lowest alpha around
 */
const keptPart = (here: number, inside: number) =>
  inside >= INSIDE_ALPHA ? 1 : Math.min(0.99, 0.05 + (0.5 * here * here * inside) / 255 + 0.3 * here ** 4);

interface Plane extends Size {
  data: Uint8ClampedArray;
}

/** What the small cutout has for the large one. */
interface SmallParts {
  silhouette: OffscreenCanvas;
  /** The silhouette's alpha. */
  edge: Bytes;
  /** How much of each pixel's own colour stays; 255 is all of it. */
  kept: Bytes;
  carried: Plane;
}

/** The side of the squares in which the cutout is looked at: most lie wholly inside or outside the player. */
const TILE_PX = 64;
/** An enlarged pixel depends on small ones up to this far away. */
const ENLARGED_FROM_PX = 3;

/** A square of the cutout, in its pixels. */
interface Tile {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** Gives the cutout the new edge, and pixels along it the carried colours; and all pixels their new tones. */
function takeInnerColours(rgba: Bytes, { width, height }: Size, small: SmallParts, tones: ToneCurves | null) {
  const tables = toneTables((channel, tone) => tones?.[channel]?.[tone] ?? tone);
  const pixels: Words = new Uint32Array(rgba.buffer);
  const tile = contextOf(canvasOf(TILE_PX, TILE_PX));
  tile.imageSmoothingQuality = "high";
  tile.globalCompositeOperation = "copy";
  for (let top = 0; top < height; top += TILE_PX)
    for (let left = 0; left < width; left += TILE_PX) {
      const [right, bottom] = [Math.min(width, left + TILE_PX), Math.min(height, top + TILE_PX)];
      const box = { left, top, right, bottom };
      const side = sideOfEdge(small, { width, height }, box);
      if (side === "outside") {
        for (let y = top; y < bottom; y++) pixels.fill(0, y * width + left, y * width + right);
        continue;
      }
      if (side === "across") {
        tile.drawImage(small.silhouette, -left, -top, width, height);
        const { data } = tile.getImageData(0, 0, TILE_PX, TILE_PX);
        cutTile(rgba, { width, height }, box, small, data);
      }
      for (let y = top; y < bottom; y++) retone(pixels, tables, y * width + left, y * width + right);
    }
}

/** On which side of the player's edge a tile lies. */
function sideOfEdge(
  { silhouette: { width: w, height: h }, edge, kept }: SmallParts,
  size: Size,
  { left, top, right, bottom }: Tile,
): "outside" | "inside" | "across" {
  const [perX, perY] = [w / size.width, h / size.height];
  const first = Math.max(0, Math.floor(left * perX) - ENLARGED_FROM_PX);
  const last = Math.min(w - 1, Math.floor((right - 1) * perX) + ENLARGED_FROM_PX);
  const end = Math.min(h - 1, Math.floor((bottom - 1) * perY) + ENLARGED_FROM_PX);
  let [isEmpty, isWhole] = [true, true];
  for (let y = Math.max(0, Math.floor(top * perY) - ENLARGED_FROM_PX); y <= end; y++)
    for (let i = y * w + first; i <= y * w + last; i++) {
      if (edge[i] > 0) isEmpty = false;
      if (edge[i] < 255 || kept[i] < 255) isWhole = false;
    }
  return isEmpty ? "outside" : isWhole ? "inside" : "across";
}

/**
 * Gives a tile its alpha, and the pixels along the edge the carried colours.
 * @param enlarged the silhouette's part, in rows of TILE_PX pixels
 */
function cutTile(
  rgba: Bytes,
  { width, height }: Size,
  { left, top, right, bottom }: Tile,
  small: SmallParts,
  enlarged: Uint8ClampedArray,
): void {
  const { kept, carried } = small;
  const { width: w, height: h } = small.silhouette;
  const own = { data: kept, width: w, height: h };
  // Enlarged, the edge is as wide as it is enlarged: made steep again.
  const steep = Math.max(1, Math.min(width / w, 3));
  for (let y = top; y < bottom; y++) {
    const row = Math.min(h - 1, Math.floor((y * h) / height)) * w;
    for (let x = left; x < right; x++) {
      const k = 4 * (y * width + x);
      const shown = Number(enlarged[4 * ((y - top) * TILE_PX + x - left) + 3]);
      if (shown === 0) rgba[k + 3] = 0;
      else if (kept[row + Math.min(w - 1, Math.floor((x * w) / width))] === 255) rgba[k + 3] = 255;
      else {
        takeOuter(rgba, k, { carried, own }, (x + 0.5) / width, (y + 0.5) / height);
        rgba[k + 3] = 127.5 + (shown - 127.5) * steep;
      }
    }
  }
}

/**
 * Gives the pixel at `k` the carried colours, as far as it has not its own. `between` says what u and v are.
 */
function takeOuter(
  rgba: Bytes,
  k: number,
  { own, carried }: { own: Plane; carried: Plane },
  u: number,
  v: number,
): void {
  if (between(carried, 4, 3, u, v) < 8) return;
  const keep = between(own, 1, 0, u, v) / 255;
  for (let c = 0; c < 3; c++) rgba[k + c] = rgba[k + c] * keep + between(carried, 4, c, u, v) * (1 - keep);
}

/**
 * A channel's value at a place between pixels, as u and v, 0 at the left and upper edge, 1 at the right and
 * lower one: enlarged, single pixels would show as blocks.
 */
function between({ data, width, height }: Plane, channels: number, channel: number, u: number, v: number) {
  const x = Math.min(width - 1, Math.max(0, u * width - 0.5));
  const y = Math.min(height - 1, Math.max(0, v * height - 0.5));
  const [left, top] = [Math.floor(x), Math.floor(y)];
  const i = (top * width + left) * channels + channel;
  const right = left < width - 1 ? channels : 0;
  const below = top < height - 1 ? channels * width : 0;
  const [fx, fy] = [x - left, y - top];
  const upper = Number(data[i]) * (1 - fx) + Number(data[i + right]) * fx;
  const lower = Number(data[i + below]) * (1 - fx) + Number(data[i + below + right]) * fx;
  return upper * (1 - fy) + lower * fy;
}
