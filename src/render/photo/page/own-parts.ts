import type { BodyParts } from "./body-parts.ts";
import { dilate } from "./dilate.ts";
import type { Subject } from "./examine.ts";
import { headBox } from "./head.ts";
import { type Grid, gridOver, sampleMask } from "./masks.ts";
import { above, floats, type Numbers, patches, smoothStep } from "./pixels.ts";
import type { Rect } from "./rects.ts";

/** Body parts this near to pose and person mask are the player's, as a part of the grid's longer side. */
const OWN_REACH_PART = 0.02;

/**
 * A connected patch of body parts further away is an extra. It is the player's when it is small enough, shows
 * no face, touches the body or stands out clearly, and is salient or sure. It may have at most this part of
 * the body's size: less where more than MAX_EXTRA_HAIR of it is hair, as on a head turned away.
 */
const MAX_EXTRA_PART = { skin: 0.4, hair: 0.2 };
const MAX_EXTRA_HAIR = 0.1;
/** At most this fraction of an extra is face. */
const MAX_EXTRA_FACE = 0.06;
/**
 * The mean salience of an extra that touches the body, and of one that does not, as of a thing held out; the
 * latter needs nobody else near.
 */
const MIN_EXTRA_SALIENCE = { touching: 0.35, apart: 0.85 };
/** These mean log odds stand for the salience of one that touches, as of a trophy in the dark. */
const SURE_EXTRA_LOG_ODDS = 3.1;

/** How far from the head's centre the player's own hair lies, in head heights. */
const OWN_HAIR_HEADS = 0.975;
/** Parts within this distance of the player's body touch it. */
const BESIDE_CELLS = 4;

/** Where a face was seen, hair and face are at least this part of the person; less means a raised hand. */
const MIN_FACE_PARTS = 0.2;
/** Cells across a face's box when that is measured. */
const FACE_CELLS = 32;

/** Cells that another person's pose claims more strongly than the player's, from 0 to 1. */
export function rivalsOf(player: Subject, grid: Grid, posed: Numbers | null, parts: BodyParts): Numbers {
  const rivals = floats(grid.width * grid.height);
  for (const mask of player.rivals) {
    if (mask.byFace && !isHead(mask.byFace, parts)) continue;
    const rival = sampleMask(mask, grid);
    for (let i = 0; i < rival.length; i++) {
      const own = posed ? posed[i] : 0;
      if (rival[i] < 0.3 || own > rival[i]) continue;
      rivals[i] = Math.max(rivals[i], smoothStep(rival[i] - own, 0.2, 0.6));
    }
  }
  return rivals;
}

/** Whether the body parts in the box of a detected face are those of a head. */
function isHead(box: Rect, parts: BodyParts): boolean {
  const grid = gridOver(box, FACE_CELLS);
  const logOdds = sampleMask(parts.logOdds, grid);
  const hair = sampleMask(parts.hair, grid);
  const face = sampleMask(parts.face, grid);
  let [person, heads] = [0, 0];
  for (let i = 0; i < logOdds.length; i++) {
    if (logOdds[i] <= 0) continue;
    person++;
    heads += hair[i] + face[i];
  }
  return person > 0 && heads >= MIN_FACE_PARTS * person;
}

/** 1 where body parts may be the player's rather than others'. The maps are those of `MatteJob`. */
export function ownParts(
  player: Subject,
  maps: Record<"logOdds" | "faces" | "hair" | "core" | "salience" | "rivals", Numbers>,
  grid: Grid,
): Numbers {
  const { logOdds, faces, hair, core, salience, rivals } = maps;
  const { width, height } = grid;
  const radius = Math.max(3, Math.round(OWN_REACH_PART * Math.max(width, height)));
  const near = dilate(core, width, radius);
  const around = ownHair(player, grid);
  const own = floats(logOdds.length);
  const body = floats(logOdds.length);
  const elsewhere = above(logOdds, 0);
  let playerCells = 0;
  for (let i = 0; i < own.length; i++) {
    if (near[i] <= 0.4 && around[i] <= 0.5) continue;
    own[i] = 1;
    elsewhere[i] = 0;
    if (logOdds[i] > 0 && rivals[i] < 0.5) body[i] = 1;
    playerCells += body[i];
  }
  const { labels, sizes, sums } = patches(elsewhere, width);
  const touches = sums(above(dilate(body, width, BESIDE_CELLS), 0));
  const total = {
    logOdds: sums(logOdds),
    face: sums(faces),
    hair: sums(hair),
    salience: sums(salience),
  };
  const inCompany = rivals.some((value) => value > 0.5);
  const isOwn = sizes.map((size, label) => {
    const isHairy = total.hair[label] > MAX_EXTRA_HAIR * size;
    const meanSalience = total.salience[label] / size;
    return (
      size <= (isHairy ? MAX_EXTRA_PART.hair : MAX_EXTRA_PART.skin) * playerCells &&
      (touches[label] > 0 || (!inCompany && meanSalience >= MIN_EXTRA_SALIENCE.apart)) &&
      total.face[label] <= MAX_EXTRA_FACE * size &&
      (meanSalience >= MIN_EXTRA_SALIENCE.touching || total.logOdds[label] >= SURE_EXTRA_LOG_ODDS * size)
    );
  });
  for (let i = 0; i < own.length; i++) if (labels[i] && isOwn[labels[i]]) own[i] = 1;
  return dilate(own, width, 1);
}

/** 1 around the player's head, as far as hair reaches. */
function ownHair(player: Subject, grid: Grid): Numbers {
  const head = headBox(player);
  const [cx, cy] = [head.x + head.width / 2, head.y + head.height / 2];
  const map = floats(grid.width * grid.height);
  const radius = OWN_HAIR_HEADS * head.height;
  const top = Math.max(0, Math.floor((cy - radius - grid.y) / grid.step));
  const bottom = Math.min(grid.height, Math.ceil((cy + radius - grid.y) / grid.step));
  for (let row = top; row < bottom; row++) {
    const dy = grid.y + (row + 0.5) * grid.step - cy;
    for (let column = 0, i = row * grid.width; column < grid.width; column++, i++) {
      const dx = grid.x + (column + 0.5) * grid.step - cx;
      if (dx * dx + dy * dy < radius * radius) map[i] = 1;
    }
  }
  return map;
}
