import { lookAtBody } from "./body_parts.js";
import { BACKDROP, canvasOf, contextOf, makeSharp, pixelsAt, pixelsPerSearchPx } from "./decode.js";
import { dieCut, painted, smallSize } from "./die_cut.js";
import { lightCurve } from "./exposure.js";
import { frameCutout } from "./framing.js";
import { channelTones, gradeOf, steppedTones } from "./grade.js";
import { faceBox, headBox } from "./head.js";
import { boundsAbove, gridOver, sampleMask } from "./masks.js";
import { fuseMatte } from "./matte.js";
import { keepsOthersFace } from "./parts_faults.js";
import { above, alphaOf, patches } from "./pixels.js";
import { playerBounds } from "./player_masks.js";

/** @import { CutoutSigns, Framing, Tones } from "../../../core/card.ts" */
/** @import { Cut, PartsLook } from "./body_parts.js" */
/** @import { Photo, PhotoPart } from "./decode.js" */
/** @import { Finding } from "./examine.js" */
/** @import { Grid, Mask } from "./masks.js" */
/** @import { Bytes, Numbers } from "./pixels.js" */
/** @import { Rect } from "./rects.js" */

/** Largest longer side of a cutout, which photo-page.ts says. */
const MAX_CUTOUT_PX = Number(document.documentElement.dataset.cutoutPx);
/** Of the largest cutout's sides, a photo need only fill this part: nobody sees the difference. */
const NEARLY = 0.95;

/** Cells on the longer side of the grid on which masks are fused: finer than any network's output. */
const MATTE_GRID_CELLS = 384;

/**
 * Background kept on each side of the player, as a part of the player's size: the salient network needs some
 * to tell the two apart.
 */
const SURROUNDINGS_PART = 0.12;
/** A rectangle above this part of the photo's area is replaced by the whole photo, which is hardly larger. */
const WHOLE_PHOTO_PART = 0.7;

/**
 * A body that covers more than this part of one of the rectangle's sides continues beyond it. The rectangle
 * then grows on that side by GROWTH of its width or height.
 */
const MIN_LEAVING_PART = 0.04;
const GROWTH = 0.5;
const MAX_GROWTHS = 2;
/** Cells on the longer side of the grid on which that is checked. */
const BORDER_CELLS = 128;

/** Margin around the trimmed player, so that scaling does not cut off the soft edge. */
const TRIM_MARGIN_PX = 4;
/** Up to this alpha (0 to 255), a pixel is outside the even edge that a cutout gets. */
const VISIBLE_ALPHA = 32;

/**
 * Takes the part of the photo that holds the player and finds the body parts in it. If the body continues
 * beyond the part, takes a larger one and looks again.
 * @param {Photo} photo @param {Finding} player
 * @returns {Promise<Cut>}
 */
export async function prepareCut(photo, player) {
  let cut = await takePart(photo, surroundings(photo, player));
  let look = await lookAtBody(cut, player);
  for (let round = 0; round < MAX_GROWTHS; round++) {
    const wider = grown(cut, look, player);
    if (!wider) break;
    cut = await takePart(photo, wider);
    look = await lookAtBody(cut, player);
  }
  return { ...cut, look };
}

/**
 * The rectangle, grown on the sides where the player's body leaves it and the photo continues; null if there
 * are none.
 * @param {PhotoPart} part @param {PartsLook} look @param {Finding} player
 * @returns {Rect | null}
 */
function grown({ rect, photoSize, atPhotoEdge }, look, player) {
  const grid = gridOver(rect, BORDER_CELLS);
  const { width, height, step } = grid;
  const odds = sampleMask(look.odds, grid);
  const { labels } = patches(above(odds, 0), width);
  const head = headBox(player);
  const at = (/** @type {number} */ x, /** @type {number} */ y) =>
    Math.max(0, Math.min(height - 1, Math.floor((y - rect.y) / step))) * width +
    Math.max(0, Math.min(width - 1, Math.floor((x - rect.x) / step)));
  const own = labels[at(head.x + head.width / 2, head.y + 0.6 * head.height)];
  const leaves = (/** @type {number} */ length, /** @type {(k: number) => number} */ cell) => {
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

/** @param {Photo} photo @param {Rect} rect @returns {Promise<PhotoPart>} */
async function takePart(photo, rect) {
  await makeSharp(photo, rect, NEARLY * MAX_CUTOUT_PX);
  const perSearchPx = pixelsPerSearchPx(photo);
  const zoom = Math.min(perSearchPx, MAX_CUTOUT_PX / Math.max(rect.width, rect.height));
  const canvas = canvasOf(
    Math.max(1, Math.round(rect.width * zoom)),
    Math.max(1, Math.round(rect.height * zoom)),
  );
  const context = contextOf(canvas);
  context.imageSmoothingQuality = "high";
  const from = [
    rect.x * perSearchPx,
    rect.y * perSearchPx,
    rect.width * perSearchPx,
    rect.height * perSearchPx,
  ];
  const [x = 0, y = 0, width = 0, height = 0] = from;
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

/** @param {Photo} photo @param {Finding} player @returns {Rect} */
function surroundings({ search }, player) {
  const bounds = playerBounds(player, gridOver(search, MATTE_GRID_CELLS / 2, Math.ceil));
  const left = Math.max(0, Math.floor(bounds.x - SURROUNDINGS_PART * bounds.width));
  const top = Math.max(0, Math.floor(bounds.y - SURROUNDINGS_PART * bounds.height));
  const right = Math.min(search.width, Math.ceil(bounds.x + (1 + SURROUNDINGS_PART) * bounds.width));
  const bottom = Math.min(search.height, Math.ceil(bounds.y + (1 + SURROUNDINGS_PART) * bounds.height));
  const rect = { x: left, y: top, width: right - left, height: bottom - top };
  const isMostOfPhoto = rect.width * rect.height > WHOLE_PHOTO_PART * search.width * search.height;
  return isMostOfPhoto ? { x: 0, y: 0, width: search.width, height: search.height } : rect;
}

/**
 * @typedef {object} CutPlayer the player without background, trimmed
 * @property {() => Bytes} pixels makes them, for the cards that show them: red, green, blue and alpha, row by
 *   row
 * @property {OffscreenCanvas} silhouette in black, small
 * @property {boolean} keepsOthersFace whether one of the company is in it too
 * @property {{ width: number, height: number, framing: Framing, inPhoto: Rect, signs: CutoutSigns, tones:
 *   Tones | null }} description
 */

/**
 * Cuts the player out of the prepared part, using the salient network's output, and trims the result.
 * @param {Cut} cut @param {Finding} player @param {Mask} salient
 * @returns {CutPlayer}
 */
export function cutOut(cut, player, salient) {
  const { canvas, rect } = cut;
  const grid = gridOver(rect, Math.min(MATTE_GRID_CELLS, Math.max(canvas.width, canvas.height)));
  const rgba = pixelsAt(canvas, grid.width, grid.height);
  const { matte, signs } = fuseMatte(player, cut.look, salient, rgba, grid);
  const mask = cut.ownPixels
    ? ownMask(cut.ownPixels, canvas, matte, grid)
    : painted(matte, grid.width, grid.height, 1);
  const kept = cut.ownPixels ? matte.slice().fill(1) : matte;
  const trim = trimmed(mask, canvas);
  const { small, alpha } = smallCutout(canvas, mask, trim);
  const framing = frameCutout(cut, trim, { alpha, width: small.w }, player);
  const scale = small.w / trim.width;
  const face = faceBox(player);
  const curve = lightCurve(small.rgba, small.w, {
    x: ((face.x - rect.x) * cut.zoom - trim.x) * scale,
    y: ((face.y - rect.y) * cut.zoom - trim.y) * scale,
    width: face.width * cut.zoom * scale,
    height: face.height * cut.zoom * scale,
  });
  const tones = channelTones(curve, gradeOf(small.rgba, curve));
  const { silhouette, cut: cutPixels } = dieCut(trim, small, framing.head);
  return {
    pixels() {
      const { data } = contextOf(canvas).getImageData(trim.x, trim.y, trim.width, trim.height);
      cutPixels(data, tones);
      return data;
    },
    silhouette,
    keepsOthersFace: player.inCompany === true && keepsOthersFace(cut.look, player, kept, grid),
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

/**
 * The trimmed cutout, reduced, and its alpha.
 * @param {OffscreenCanvas} canvas @param {OffscreenCanvas} mask @param {Rect} trim in canvas pixels
 */
function smallCutout(canvas, mask, { x, y, width, height }) {
  const { w, h } = smallSize({ width, height });
  const context = contextOf(canvasOf(w, h));
  const [perX, perY] = [mask.width / canvas.width, mask.height / canvas.height];
  context.imageSmoothingQuality = "high";
  context.drawImage(mask, x * perX, y * perY, width * perX, height * perY, 0, 0, w, h);
  context.globalCompositeOperation = "source-in";
  context.imageSmoothingQuality = "medium";
  context.drawImage(canvas, x, y, width, height, 0, 0, w, h);
  const rgba = /** @type {Bytes} */ (context.getImageData(0, 0, w, h).data);
  return { small: { rgba, w, h }, alpha: alphaOf(rgba) };
}

/**
 * The trimmed cutout's place in the photo, as parts of the photo's sides.
 * @param {Cut} cut @param {Rect} trim
 * @returns {Rect}
 */
function placeInPhoto({ rect, zoom, photoSize }, trim) {
  return {
    x: (rect.x + trim.x / zoom) / photoSize.width,
    y: (rect.y + trim.y / zoom) / photoSize.height,
    width: trim.width / zoom / photoSize.width,
    height: trim.height / zoom / photoSize.height,
  };
}

/**
 * The opacity of a player who was already cut out: whoever did that knew better. Without the patches that
 * hold nothing of the player.
 * @param {Bytes} own @param {{ width: number, height: number }} size
 * @param {Numbers} matte @param {Grid} grid
 */
function ownMask(own, { width, height }, matte, grid) {
  const cellAt = (/** @type {number} */ pixel) => {
    const x = Math.floor(((pixel % width) * grid.width) / width);
    return Math.floor((Math.floor(pixel / width) * grid.height) / height) * grid.width + x;
  };
  const alpha = alphaOf(own);
  const { labels, sizes } = patches(above(alpha, VISIBLE_ALPHA), width);
  const player = sizes.map(() => 0);
  for (let pixel = 0; pixel < labels.length; pixel++) {
    if (labels[pixel] && matte[cellAt(pixel)] > 0.5) player[labels[pixel]] = (player[labels[pixel]] ?? 0) + 1;
  }
  for (let pixel = 0; pixel < alpha.length; pixel++) if (!player[labels[pixel]]) alpha[pixel] = 0;
  return painted(alpha, width, height);
}

/**
 * The rectangle around what is visible of a mask, in the canvas's pixels.
 * @param {OffscreenCanvas} mask
 * @param {OffscreenCanvas} canvas
 * @returns {Rect}
 */
function trimmed(mask, { width, height }) {
  const alpha = alphaOf(contextOf(mask).getImageData(0, 0, mask.width, mask.height).data);
  const bounds = boundsAbove(alpha, mask.width, VISIBLE_ALPHA) ?? {
    x: 0,
    y: 0,
    width: mask.width,
    height: mask.height,
  };
  const [perX, perY] = [width / mask.width, height / mask.height];
  const left = Math.max(0, Math.floor(bounds.x * perX) - TRIM_MARGIN_PX);
  const top = Math.max(0, Math.floor(bounds.y * perY) - TRIM_MARGIN_PX);
  const right = Math.min(width, Math.ceil((bounds.x + bounds.width) * perX) + TRIM_MARGIN_PX);
  const bottom = Math.min(height, Math.ceil((bounds.y + bounds.height) * perY) + TRIM_MARGIN_PX);
  return { x: left, y: top, width: right - left, height: bottom - top };
}
