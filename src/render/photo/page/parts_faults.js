import { lookAtHead } from "./body_parts.js";
import { headBox } from "./head.js";
import { gridOver, sampleMask } from "./masks.js";
import { above, patches } from "./pixels.js";
import { FACE_SCORE } from "./scores.js";

/** @import { PlayerRefusal } from "../../../core/photo-refusals.ts" */
/** @import { Cut, PartsLook } from "./body_parts.js" */
/** @import { Finding } from "./examine.js" */
/** @import { Grid } from "./masks.js" */
/** @import { Numbers } from "./pixels.js" */
/** @import { Point } from "./rects.js" */

/**
 * A face is covered when less than MIN_FACE_SKIN of its oval is bare skin, and more than MIN_FACE_COVER is
 * neither skin nor hair. Ski goggles leave 0.45 of bare skin, a surgical mask with sunglasses 0.14.
 */
const MIN_FACE_SKIN = 0.25;
const MIN_FACE_COVER = 0.5;
/** In smaller faces, the body parts network sees no features. In search pixels. */
const MIN_FACE_WIDTH_PX = 40;
/** Cells across a face when its skin is counted. */
const FACE_CELLS = 32;

/** Another face with at least this fraction of the skin of the player's own is another player's. */
const EQUAL_FACE_PART = 0.75;
/**
 * Another face with at least this fraction of the player's own in the finished cutout was not cut away.
 * Measured where a player was pointed at: 0.02 beside others, from 0.34 on where they overlap.
 */
const KEPT_FACE_PART = 0.2;
/** Skin of an uncovered face, as a fraction of its box. */
const SKIN_PER_BOX = 0.75;
/** Cells along the longer side when faces are compared. */
const FACES_GRID_CELLS = 192;
/**
 * Faces nearer than this to the centre of the player's head are parts of the player's own. In sizes of that
 * head.
 */
const OTHER_FACE_HEADS = 0.6;

/**
 * What the body parts reveal against a photo in which a player was found.
 * @param {Cut} cut @param {Finding} player
 * @param {typeof lookAtHead} [closer] looks at the head again
 * @returns {Promise<PlayerRefusal | null>} null when there is nothing against it
 */
export async function refusalFromParts(cut, player, closer = lookAtHead) {
  // Enlarged, most faces that seemed covered show their skin.
  if (isFaceCovered(cut.look, player) && isFaceCovered(await closer(cut, player, cut.look), player))
    return "face_covered";
  return hasEqualFace(cut, player) ? "several_people" : null;
}

/** @param {PartsLook} look @param {Finding} player */
function isFaceCovered(look, { face }) {
  if (!face || face.score < FACE_SCORE.maybeCovered || face.width < MIN_FACE_WIDTH_PX) return false;
  const grid = { ...face, width: FACE_CELLS, height: FACE_CELLS, step: face.width / FACE_CELLS };
  const skin = sampleMask(look.face, grid);
  const hair = sampleMask(look.hair, grid);
  let [cells, skins, covers] = [0, 0, 0];
  for (let i = 0; i < skin.length; i++) {
    const x = ((i % FACE_CELLS) + 0.5) / FACE_CELLS - 0.5;
    const y = (Math.floor(i / FACE_CELLS) + 0.5) / FACE_CELLS - 0.5;
    if (Math.hypot(x, y) > 0.45) continue;
    cells++;
    skins += skin[i];
    covers += 1 - skin[i] - hair[i];
  }
  return skins < MIN_FACE_SKIN * cells && covers > MIN_FACE_COVER * cells;
}

/** @param {Cut} cut @param {Finding} player */
function hasEqualFace({ rect, look }, player) {
  const grid = gridOver(rect, FACES_GRID_CELLS);
  const { own, others } = facesOf(sampleMask(look.face, grid), player, grid);
  // Glasses, helmets and hands leave little skin, so the size is then estimated from the face's box.
  const box = player.face ? (SKIN_PER_BOX * player.face.width * player.face.height) / grid.step ** 2 : 0;
  return own > 0 && others.some((size) => size >= EQUAL_FACE_PART * Math.max(own, box));
}

/**
 * Whether another person's face is still in the finished cutout, as where people embrace.
 * @param {PartsLook} look @param {Finding} player
 * @param {Numbers} matte of the player, 0 to 1
 * @param {Grid} grid
 */
export function keepsOthersFace(look, player, matte, grid) {
  const face = sampleMask(look.face, grid);
  for (let cell = 0; cell < face.length; cell++) if (!(matte[cell] > 0.5)) face[cell] = 0;
  const { own, others } = facesOf(face, player, grid);
  return others.some((size) => size >= KEPT_FACE_PART * own);
}

/**
 * The sizes of the patches of face skin in cells: of the player's own, 0 if there is none, and of others'.
 * @param {Numbers} face @param {Finding} player @param {Grid} grid
 */
function facesOf(face, player, { x, y, width, step }) {
  const head = headBox(player);
  const { labels, sizes } = patches(above(face, 0.5), width);
  const faces = sizes.map((size) => ({ size, x: 0, y: 0 }));
  for (let i = 0; i < face.length; i++) {
    const own = labels[i] ? faces[labels[i]] : undefined;
    if (!own) continue;
    const share = step / own.size;
    own.x += share * ((i % width) + 0.5);
    own.y += share * (Math.floor(i / width) + 0.5);
  }
  const isOwn = (/** @type {Point} */ middle) =>
    Math.hypot((x + middle.x - head.x) / head.width - 0.5, (y + middle.y - head.y) / head.height - 0.5) <
    OTHER_FACE_HEADS;
  const [own, others] = [faces.slice(1).filter(isOwn), faces.slice(1).filter((one) => !isOwn(one))];
  return { own: Math.max(0, ...own.map(({ size }) => size)), others: others.map(({ size }) => size) };
}
