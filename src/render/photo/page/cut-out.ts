import { type BodyParts, type Cut, segmentBody } from "./body-parts.ts";
import {
  BACKDROP,
  canvasOf,
  contextOf,
  makeSharp,
  type Photo,
  type PhotoPart,
  pixelsAt,
  pixelsPerSearchPx,
} from "./decode.ts";
import { dieCut, painted, smallSize } from "./die-cut.ts";
import type { Subject } from "./examine.ts";
import { lightCurve } from "./exposure.ts";
import { frameCutout } from "./framing.ts";
import { channelTones, gradeOf, steppedTones } from "./grade.ts";
import { FACE_BELOW_CROWN, faceBox, headBox } from "./head.ts";
import { boundsAbove, type Grid, gridOver, type Mask, sampleMask } from "./masks.ts";
import { fuseMatte } from "./matte.ts";
import { keepsOthersFace } from "./parts-faults.ts";
import { above, alphaOf, type Bytes, type Numbers, patches } from "./pixels.ts";
import { playerBounds } from "./player-masks.ts";
import { type Rect, type Size, scaled, seenFrom } from "./rects.ts";

/** Largest longer side of a cutout, which photo-page.ts says. */
const MAX_CUTOUT_PX = Number(document.documentElement.dataset.cutoutPx);
/** A photo that fills this part of the largest cutout's sides is sharp enough: nobody sees the difference. */
const NEARLY = 0.95;

/** Cells on the longer side of the grid on which masks are fused: finer than any network's output. */
const MATTE_GRID_CELLS = 384;

/** Background kept on each side, as a part of the player's size: the salient network needs some. */
const SURROUNDINGS_PART = 0.12;
/** A rectangle above this part of the photo's area is replaced by the whole photo, which is hardly larger. */
const WHOLE_PHOTO_PART = 0.7;

/** A rectangle grows by GROWTH on each side of which the body covers more than this part. */
const MIN_LEAVING_PART = 0.04;
const GROWTH = 0.5;
const MAX_GROWTHS = 2;
/** Cells on the longer side of the grid on which that is checked. */
const BORDER_CELLS = 128;

/** Margin around the trimmed player, so that scaling does not cut off the soft edge. */
const TRIM_MARGIN_PX = 4;
/** Up to this alpha (0 to 255), a pixel is outside the even edge that a cutout gets. */
const VISIBLE_ALPHA = 32;

/** The part of the photo that holds the player, with its body parts; larger if the body goes on beyond. */
export async function prepareCut(photo: Photo, player: Subject): Promise<Cut> {
  let cut = await takePart(photo, surroundings(photo, player));
  let parts = await segmentBody(cut, player);
  for (let round = 0; round < MAX_GROWTHS; round++) {
    const wider = grown(cut, parts, player);
    if (!wider) break;
    cut = await takePart(photo, wider);
    parts = await segmentBody(cut, player);
  }
  return { ...cut, parts };
}

/** The rectangle, grown where the body leaves it and the photo continues; null if it does nowhere. */
function grown({ rect, photoSize, atPhotoEdge }: PhotoPart, parts: BodyParts, player: Subject): Rect | null {
  const grid = gridOver(rect, BORDER_CELLS);
  const { width, height, step } = grid;
  const logOdds = sampleMask(parts.logOdds, grid);
  const { labels } = patches(above(logOdds, 0), width);
  const head = headBox(player);
  const at = (x: number, y: number) =>
    Math.max(0, Math.min(height - 1, Math.floor((y - rect.y) / step))) * width +
    Math.max(0, Math.min(width - 1, Math.floor((x - rect.x) / step)));
  const own = labels[at(head.x + head.width / 2, head.y + FACE_BELOW_CROWN * head.height)];
  const leaves = (length: number, cell: (k: number) => number) => {
    let cells = 0;
    for (let k = 0; k < length; k++) if (own && labels[cell(k)] === own) cells++;
    return cells > MIN_LEAVING_PART * length;
  };
  const room = { x: GROWTH * rect.width, y: GROWTH * rect.height };
  const left = !atPhotoEdge.left && leaves(height, (k) => k * width) ? room.x : 0;
  const right = !atPhotoEdge.right && leaves(height, (k) => k * width + width - 1) ? room.x : 0;
  const top = !atPhotoEdge.top && leaves(width, (k) => k) ? room.y : 0;
  const bottom = !atPhotoEdge.bottom && leaves(width, (k) => (height - 1) * width + k) ? room.y : 0;
  if (left + right + top + bottom === 0) return null;
  const [x, y] = [Math.max(0, rect.x - left), Math.max(0, rect.y - top)];
  return {
    x,
    y,
    width: Math.min(photoSize.width, rect.x + rect.width + right) - x,
    height: Math.min(photoSize.height, rect.y + rect.height + bottom) - y,
  };
}

async function takePart(photo: Photo, rect: Rect): Promise<PhotoPart> {
  await makeSharp(photo, rect, NEARLY * MAX_CUTOUT_PX);
  const perSearchPx = pixelsPerSearchPx(photo);
  const zoom = Math.min(perSearchPx, MAX_CUTOUT_PX / Math.max(rect.width, rect.height));
  const canvas = canvasOf(
    Math.max(1, Math.round(rect.width * zoom)),
    Math.max(1, Math.round(rect.height * zoom)),
  );
  const context = contextOf(canvas);
  context.imageSmoothingQuality = "high";
  const { x, y, width, height } = scaled(rect, perSearchPx);
  context.drawImage(photo.bitmap, x, y, width, height, 0, 0, canvas.width, canvas.height);
  const ownPixels = photo.transparent ? context.getImageData(0, 0, canvas.width, canvas.height).data : null;
  context.globalCompositeOperation = "destination-over";
  context.fillStyle = BACKDROP;
  context.fillRect(0, 0, canvas.width, canvas.height);
  const atPhotoEdge = {
    top: rect.y <= 0,
    right: rect.x + rect.width >= photo.search.width,
    bottom: rect.y + rect.height >= photo.search.height,
    left: rect.x <= 0,
  };
  const photoSize = { width: photo.search.width, height: photo.search.height };
  return { canvas, rect, zoom, atPhotoEdge, ownPixels, photoSize };
}

function surroundings({ search }: Photo, player: Subject): Rect {
  const bounds = playerBounds(player, gridOver(search, MATTE_GRID_CELLS / 2, Math.ceil));
  const left = Math.max(0, Math.floor(bounds.x - SURROUNDINGS_PART * bounds.width));
  const top = Math.max(0, Math.floor(bounds.y - SURROUNDINGS_PART * bounds.height));
  const right = Math.min(search.width, Math.ceil(bounds.x + (1 + SURROUNDINGS_PART) * bounds.width));
  const bottom = Math.min(search.height, Math.ceil(bounds.y + (1 + SURROUNDINGS_PART) * bounds.height));
  const rect = { x: left, y: top, width: right - left, height: bottom - top };
  const isMostOfPhoto = rect.width * rect.height > WHOLE_PHOTO_PART * search.width * search.height;
  return isMostOfPhoto ? { x: 0, y: 0, width: search.width, height: search.height } : rect;
}

/** Cuts the player out of the prepared part, using the salient network's output, and trims the result. */
export function cutOut(cut: Cut, player: Subject, salient: Mask) {
  const { canvas, rect } = cut;
  const grid = gridOver(rect, Math.min(MATTE_GRID_CELLS, Math.max(canvas.width, canvas.height)));
  const rgba = pixelsAt(canvas, grid.width, grid.height);
  const { matte, signs } = fuseMatte(player, cut.parts, salient, rgba, grid);
  const mask = cut.ownPixels
    ? ownMask(cut.ownPixels, canvas, matte, grid)
    : painted(matte, grid.width, grid.height, 1);
  const kept = cut.ownPixels ? matte.slice().fill(1) : matte;
  const trim = trimmed(mask, canvas);
  const { small, alpha } = smallCutout(canvas, mask, trim);
  const framing = frameCutout(cut, trim, alpha, small.w, player);
  const face = seenFrom(trim, small.w / trim.width, seenFrom(rect, cut.zoom, faceBox(player)));
  const curve = lightCurve(small.rgba, small.w, face);
  const tones = channelTones(curve, gradeOf(small.rgba, curve));
  const { silhouette, cut: cutPixels } = dieCut(trim, small, framing.head);
  return {
    /** Makes the pixels, for the cards that show them: red, green, blue and alpha, row by row. */
    pixels(): Bytes {
      const { data } = contextOf(canvas).getImageData(trim.x, trim.y, trim.width, trim.height);
      cutPixels(data, tones);
      return data;
    },
    silhouette,
    /** Whether one of the company is in it too. */
    keepsOthersFace: player.inCompany === true && keepsOthersFace(cut.parts, player, kept, grid),
    description: {
      width: trim.width,
      height: trim.height,
      framing,
      inPhoto: placeInPhoto(cut, trim),
      signs: { ...signs, loose: cut.ownPixels !== null },
      tones: steppedTones(tones),
    },
  };
}

/** The trimmed cutout, reduced, and its alpha. `trim` is in canvas pixels. */
function smallCutout(canvas: OffscreenCanvas, mask: OffscreenCanvas, { x, y, width, height }: Rect) {
  const { w, h } = smallSize({ width, height });
  const context = contextOf(canvasOf(w, h));
  const [perX, perY] = [mask.width / canvas.width, mask.height / canvas.height];
  context.imageSmoothingQuality = "high";
  context.drawImage(mask, x * perX, y * perY, width * perX, height * perY, 0, 0, w, h);
  context.globalCompositeOperation = "source-in";
  context.imageSmoothingQuality = "medium";
  context.drawImage(canvas, x, y, width, height, 0, 0, w, h);
  const rgba: Bytes = context.getImageData(0, 0, w, h).data;
  return { small: { rgba, w, h }, alpha: alphaOf(rgba) };
}

/** The trimmed cutout's place in the photo, as parts of the photo's sides. */
function placeInPhoto({ rect, zoom, photoSize }: Cut, trim: Rect): Rect {
  return {
    x: (rect.x + trim.x / zoom) / photoSize.width,
    y: (rect.y + trim.y / zoom) / photoSize.height,
    width: trim.width / zoom / photoSize.width,
    height: trim.height / zoom / photoSize.height,
  };
}

/**
 * The opacity of a player who was already cut out: the person who did that knew better. Patches that hold
 * nothing of the player are left out.
 */
function ownMask(own: Bytes, { width, height }: Size, matte: Numbers, grid: Grid): OffscreenCanvas {
  const cellAt = (pixel: number) => {
    const x = Math.floor(((pixel % width) * grid.width) / width);
    return Math.floor((Math.floor(pixel / width) * grid.height) / height) * grid.width + x;
  };
  const alpha = alphaOf(own);
  const { labels, sizes } = patches(above(alpha, VISIBLE_ALPHA), width);
  const isPlayers = sizes.map(() => false);
  for (let pixel = 0; pixel < labels.length; pixel++)
    if (labels[pixel] && matte[cellAt(pixel)] > 0.5) isPlayers[labels[pixel]] = true;
  for (let pixel = 0; pixel < alpha.length; pixel++) if (!isPlayers[labels[pixel]]) alpha[pixel] = 0;
  return painted(alpha, width, height);
}

/** The rectangle around what is visible of a mask, in the canvas's pixels. */
function trimmed(mask: OffscreenCanvas, { width, height }: Size): Rect {
  const alpha = alphaOf(contextOf(mask).getImageData(0, 0, mask.width, mask.height).data);
  const whole = { x: 0, y: 0, width: mask.width, height: mask.height };
  const bounds = boundsAbove(alpha, mask.width, VISIBLE_ALPHA) ?? whole;
  const [perX, perY] = [width / mask.width, height / mask.height];
  const left = Math.max(0, Math.floor(bounds.x * perX) - TRIM_MARGIN_PX);
  const top = Math.max(0, Math.floor(bounds.y * perY) - TRIM_MARGIN_PX);
  const right = Math.min(width, Math.ceil((bounds.x + bounds.width) * perX) + TRIM_MARGIN_PX);
  const bottom = Math.min(height, Math.ceil((bounds.y + bounds.height) * perY) + TRIM_MARGIN_PX);
  return { x: left, y: top, width: right - left, height: bottom - top };
}
