import type { CutoutSigns } from "../../../core/card.ts";
import { sortBelongings } from "./belongings.ts";
import type { BodyParts } from "./body-parts.ts";
import type { Subject } from "./examine.ts";
import { type Grid, type Mask, sampleMask } from "./masks.ts";
import { ownParts, rivalsOf } from "./own-parts.ts";
import { above, type Bytes, below, floats, type Numbers, patches, smoothStep } from "./pixels.ts";
import { playerMasks } from "./player-masks.ts";
import { signsOf } from "./signs.ts";

/**
 * What of a photo is kept in its cutout: maps of the part of the photo around the player, one value a cell.
 */
export interface MatteJob {
  player: Subject;
  parts: BodyParts;
  salient: Mask;
  /** The picture. */
  rgba: Bytes;
  grid: Grid;
  /** The body parts network's log odds that a cell belongs to a person, no matter which. */
  logOdds: Numbers;
  faces: Numbers;
  hair: Numbers;
  /** The chance that it stands out from the background. */
  salience: Numbers;
  /** The pose's mask. */
  posed: Numbers | null;
  /** The patch of the person mask that fits the pose. */
  patch: Numbers;
  /** The chance that it belongs to the player: a blend of those two. */
  core: Numbers;
  /** How far other people claim it. */
  rivals: Numbers;
  /**
   * 1 where body parts may be the player's: near the core or the head, and on patches further away that are
   * small enough, nobody else's, and touch the body or stand out.
   */
  own: Numbers;
  /** How far salience and core both see the player. */
  claimed: Numbers;
  /**
   * 1 on things that the player holds: they touch the body, and are salient and small enough or mostly core.
   */
  held: Numbers;
  /** 1 on all other things. */
  dropped: Numbers;
  /** What is kept, 0 to 1. */
  matte: Numbers;
}

/**
 * From what the networks see to the matte, in this order: each step takes some maps and adds others. Then
 * die-cut.ts evens the edge out and removes haze and specks. A photo that was already cut out keeps its own
 * transparency, except for patches without any of the player (cut-out.ts).
 */
const STEPS: Record<string, (job: MatteJob) => Partial<MatteJob>> = {
  sample: ({ parts, salient, grid }) => ({
    logOdds: sampleMask(parts.logOdds, grid),
    faces: sampleMask(parts.face, grid),
    hair: sampleMask(parts.hair, grid),
    salience: sampleMask(salient, grid),
  }),
  identify: ({ player, grid }) => playerMasks(player, grid),
  findRivals: ({ player, parts, grid, posed }) => ({ rivals: rivalsOf(player, grid, posed, parts) }),
  findOwn: ({ player, grid, ...maps }) => ({ own: ownParts(player, maps, grid) }),
  claim: ({ salience, core, rgba }) => ({ claimed: claimedBy(salience, core, rgba) }),
  sort: ({ grid, ...maps }) => sortBelongings(maps, grid.width),
  sum: (maps) => ({ matte: summed(maps) }),
  closeHoles: ({ matte, core, grid }) => ({ matte: withoutHoles(matte, core, grid.width) }),
  dropPatches: ({ matte, grid }) => ({ matte: withoutPatches(matte, grid.width) }),
};

/** Opinions are limited to these log odds either way; all but the body parts' are weighted too. */
const MAX_PARTS_LOG_ODDS = 3.5;
const WEIGHT = { salience: 0.45, core: 0.35 };
const MAX_LOG_ODDS = 2.5;
/**
 * Log odds added where pose and person mask are both sure, and on things the player holds; PENALTY is
 * subtracted from whatever belongs to somebody else. Pose and person mask outvote the body parts only if the
 * salient network agrees.
 */
const BONUS_AGREED = 2;
const AGREED = { low: 0.8, high: 0.97 };
const BONUS_HELD = 6;
const PENALTY = 8;
/**
 * The body parts network learned from portraits and misses legs. Where masks and salience both see the
 * player, its "nobody" loses up to DOUBTED_PARTS of its weight: nothing while the less sure of them is below
 * `low`, all of that above `high`.
 */
const CLAIMED = { low: 0.5, high: 0.85 };
const DOUBTED_PARTS = 0.7;
/** Chances below `low` are background, above `high` the player; the soft edge lies between. */
const MATTE_EDGE = { low: 0.15, high: 0.85 };

/** A picture is dark when over 99% of its pixels are no brighter than this (0 to 255). */
const BRIGHT_LEVEL = 150;

/** Patches apart from the player below this part of the player's size are dropped. */
const MIN_PATCH_PART = 0.2;
/**
 * Smaller holes, as a part of the player's size, are mistakes; larger ones are gaps between arms and body.
 */
const MAX_FILLED_HOLE_PART = 0.0025;
/** A hole of any size is filled when pose and person mask claim it at least this surely on average. */
const CLAIMED_HOLE = 0.75;

/**
 * Combines four opinions into one matte, from 0 to 1, by adding their log odds. The body parts network has
 * the most accurate edges but sees everyone; pose and person mask tell which person is the player; the
 * salient network sees what the player holds.
 * @param rgba on the grid
 */
export function fuseMatte(
  player: Subject,
  parts: BodyParts,
  salient: Mask,
  rgba: Bytes,
  grid: Grid,
): { matte: Numbers; signs: Omit<CutoutSigns, "loose"> } {
  const job = { player, parts, salient, rgba, grid } as MatteJob;
  for (const step of Object.values(STEPS)) Object.assign(job, step(job));
  return { matte: job.matte, signs: signsOf(job.matte, job, grid, player) };
}

/**
 * How far salience and core both see the player; nowhere in a dark picture, in which they make out little.
 */
function claimedBy(salience: Numbers, core: Numbers, rgba: Bytes): Numbers {
  const claimed = floats(core.length);
  const dark = isDark(rgba);
  for (let i = 0; !dark && i < core.length; i++)
    claimed[i] = smoothStep(Math.min(salience[i], core[i]), CLAIMED.low, CLAIMED.high);
  return claimed;
}

function isDark(rgba: Bytes): boolean {
  let bright = 0;
  for (let i = 0; i < rgba.length; i += 4)
    if (Math.max(rgba[i], rgba[i + 1], rgba[i + 2]) > BRIGHT_LEVEL) bright++;
  return bright < rgba.length / 400;
}

/** A cell is kept where the sum of all log odds is above 0, and fades near it. */
function summed(job: MatteJob): Numbers {
  const { logOdds, salience, posed, patch, core, rivals, own, claimed, held, dropped } = job;
  const matte = floats(core.length);
  for (let i = 0; i < matte.length; i++) {
    let sum = clip(logOdds[i], MAX_PARTS_LOG_ODDS);
    if (sum < 0) sum *= 1 - DOUBTED_PARTS * claimed[i];
    sum +=
      WEIGHT.salience * clip(logit(salience[i]), MAX_LOG_ODDS) +
      WEIGHT.core * clip(logit(core[i]), MAX_LOG_ODDS);
    if (posed) sum += BONUS_AGREED * smoothStep(Math.min(posed[i], patch[i]), AGREED.low, AGREED.high);
    sum += BONUS_HELD * held[i] - PENALTY * Math.max(dropped[i], rivals[i]);
    if (own[i] <= 0 && held[i] <= 0) sum -= PENALTY;
    matte[i] = smoothStep(1 / (1 + Math.exp(-Math.fround(sum))), MATTE_EDGE.low, MATTE_EDGE.high);
  }
  return matte;
}

/** Fills, in place, small holes and those that pose and person mask claim, such as a white sleeve. */
function withoutHoles(matte: Numbers, core: Numbers, width: number): Numbers {
  const { labels, sizes, sums } = patches(below(matte, 0.5), width);
  const cores = sums(core);
  const playerCells = matte.length - sizes.reduce((cells, size) => cells + size);
  const filled = sizes.map((size, label) => {
    const small = size < MAX_FILLED_HOLE_PART * playerCells;
    return label > 0 && (small || cores[label] >= CLAIMED_HOLE * size);
  });
  for (let i = 0; i < matte.length; i++) if (filled[labels[i]]) matte[i] = 1;
  return matte;
}

/** Clears small patches apart from the player, with the veil around them, in place. */
function withoutPatches(matte: Numbers, width: number): Numbers {
  const { labels, sizes } = patches(above(matte, 0.04), width);
  const least = MIN_PATCH_PART * Math.max(...sizes);
  for (let i = 0; i < matte.length; i++) if (sizes[labels[i]] < least) matte[i] = 0;
  return matte;
}

function logit(p: number): number {
  const q = Math.min(0.999, Math.max(0.001, p));
  return Math.log(q / (1 - q));
}

function clip(value: number, most: number): number {
  return Math.max(-most, Math.min(most, value));
}
