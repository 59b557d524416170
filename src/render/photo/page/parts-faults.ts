import type { PlayerRefusal } from "../../../core/photo-refusals.ts";
import { type BodyParts, type Cut, segmentHead } from "./body-parts.ts";
import type { Subject } from "./examine.ts";
import { headBox } from "./head.ts";
import { type Grid, gridOver, sampleMask } from "./masks.ts";
import { above, type Numbers, patches } from "./pixels.ts";
import type { Point } from "./rects.ts";
import { FACE_SCORE } from "./scores.ts";

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
/** Faces nearer than this to the centre of the player's head are parts of it. In sizes of that head. */
const OTHER_FACE_HEADS = 0.6;

/**
 * What the body parts reveal against a photo in which a player was found; null if nothing.
 * @param closer looks at the head again
 */
export async function refusalFromParts(
  cut: Cut,
  player: Subject,
  closer = segmentHead,
): Promise<PlayerRefusal | null> {
  // Enlarged, most faces that seemed covered show their skin.
  if (isFaceCovered(cut.parts, player) && isFaceCovered(await closer(cut, player, cut.parts), player))
    return "face_covered";
  return hasEqualFace(cut, player) ? "several_people" : null;
}

function isFaceCovered(parts: BodyParts, { face }: Subject): boolean {
  if (!face || face.score < FACE_SCORE.maybeCovered || face.width < MIN_FACE_WIDTH_PX) return false;
  const grid = { ...face, width: FACE_CELLS, height: FACE_CELLS, step: face.width / FACE_CELLS };
  const skin = sampleMask(parts.face, grid);
  const hair = sampleMask(parts.hair, grid);
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

function hasEqualFace({ rect, parts }: Cut, player: Subject): boolean {
  const grid = gridOver(rect, FACES_GRID_CELLS);
  const { own, others } = facesOf(sampleMask(parts.face, grid), player, grid);
  // Glasses, helmets and hands leave little skin, so the size is then estimated from the face's box.
  const box = player.face ? (SKIN_PER_BOX * player.face.width * player.face.height) / grid.step ** 2 : 0;
  return own > 0 && others.some((size) => size >= EQUAL_FACE_PART * Math.max(own, box));
}

/**
 * Whether another person's face is still in the finished cutout, as where people embrace.
 * @param matte of the player, 0 to 1
 */
export function keepsOthersFace(parts: BodyParts, player: Subject, matte: Numbers, grid: Grid): boolean {
  const face = sampleMask(parts.face, grid);
  for (let cell = 0; cell < face.length; cell++) if (!(matte[cell] > 0.5)) face[cell] = 0;
  const { own, others } = facesOf(face, player, grid);
  return others.some((size) => size >= KEPT_FACE_PART * own);
}

/**
 * The sizes of the patches of face skin in cells: of the player's own, 0 if there is none, and of others'.
 */
function facesOf(face: Numbers, player: Subject, { x, y, width, step }: Grid) {
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
  const isOwn = (middle: Point) =>
    Math.hypot((x + middle.x - head.x) / head.width - 0.5, (y + middle.y - head.y) / head.height - 0.5) <
    OTHER_FACE_HEADS;
  const [own, others] = [faces.slice(1).filter(isOwn), faces.slice(1).filter((one) => !isOwn(one))];
  return { own: Math.max(0, ...own.map(({ size }) => size)), others: others.map(({ size }) => size) };
}
