import { smoothStep } from "./masks.js";

/** @import { Numbers } from "./masks.js" */

/**
 * What the salient network says on all its scales.
 * @typedef {object} Salience
 * @property {Numbers} mean each answer weighted by how far it can be trusted
 * @property {Numbers} most the greatest of the trusted answers
 * @property {Numbers} least the least of them
 * @property {number} trust in all of them, 0 to 1
 */

/**
 * Everything known about every cell, each from 0 to 1.
 * @typedef {object} Evidence
 * @property {Salience} salience
 * @property {Numbers} core pose and person mask together
 * @property {Numbers | null} posed the pose's mask
 * @property {Numbers | null} patch the player's patch of the person mask; null when it does not fit the pose
 * @property {Numbers} known where the person mask has looked
 * @property {Numbers} limbs
 * @property {Numbers} face
 * @property {Numbers} support within reach of the body
 * @property {Numbers} gaps between arms and body, and between legs
 * @property {Numbers} held what belongs to the player
 * @property {Numbers} left salient things that do not, and what is beside them
 */

/** A head's height in the salient network's picture from which, and up to which, its answer counts less. */
const LARGE_HEAD_PX = { low: 130, high: 220 };
/** An answer that counts less in the mean is not asked otherwise. */
const MIN_SHARE = 0.2;

/**
 * How much each voice counts, in log odds of at most 3 either way. Tuned by eye on some 90 labelled photos: a pose mask
 * alone does not outvote a trusted salient network, pose and person mask together just do.
 */
const WEIGHT = {
  pose: 0.9,
  patch: 0.7,
  /** Of either of the two alone. */
  alone: 1.4,
  /** Of the salient network at no trust, and what full trust adds. */
  salience: 0.6,
  trust: 1,
  /** Added where all scales agree that it is the player, and that it is not. */
  agreed: 0.4,
  agreedNot: 0.25,
};
/** Log odds that are added as they are. */
const BONUS = { held: 2, limb: 1, surelyLimb: 2.5, face: 2 };
const PENALTY = { gap: 2.5, left: 4, outOfReach: 10 };
/** Less support than this leaves nothing to weigh. */
const NEAR = 0.01;
/** On a limb that the pose mask has too, a salient network's "no" counts so much less: dark sleeves before a dark stand. */
const LIMB_DOUBT = 0.75;

/**
 * Log odds that a cell belongs to the player, of everything but colours.
 * @param {Evidence} evidence
 * @returns {Numbers}
 */
export function opinions({ salience, core, posed, patch, known, limbs, face, support, gaps, held, left }) {
  const { mean, most, least, trust } = salience;
  /** @type {Numbers} */
  const out = new Float32Array(core.length);
  for (let i = 0; i < out.length; i++) {
    if (support[i] < NEAR) {
      out[i] = -PENALTY.outOfReach;
      continue;
    }
    const own = posed ? posed[i] : core[i];
    const masks = maskOdds(posed ? posed[i] : null, patch ? patch[i] : null, known[i]);
    const surelyLimb = limbs[i] > 0 ? limbs[i] * smoothStep(own, 0.6, 0.9) : 0;
    const yes = smoothStep(least[i], 0.6, 0.9);
    const no = 1 - smoothStep(most[i], 0.08, 0.25);
    const loud = (1 + WEIGHT.agreed * yes + WEIGHT.agreedNot * no) * (WEIGHT.salience + WEIGHT.trust * trust);
    let seen = odds(held[i] > 0 ? most[i] : mean[i]) * loud;
    if (seen < 0) seen *= 1 - LIMB_DOUBT * surelyLimb;
    const where = held[i] > 0 ? Math.max(masks, BONUS.held) : masks;
    const onLimb = BONUS.limb * limbs[i] * smoothStep(own, 0.2, 0.6) + BONUS.surelyLimb * surelyLimb;
    const unclaimed = 1 - Math.max(own, patch ? patch[i] : 0);
    const penalty =
      PENALTY.gap * gaps[i] * unclaimed * (1 - smoothStep(least[i], 0.8, 0.98)) +
      PENALTY.left * left[i] * (1 - smoothStep(core[i], 0.3, 0.7)) +
      PENALTY.outOfReach * (1 - support[i]);
    out[i] = seen + where + onLimb + BONUS.face * face[i] - penalty;
  }
  return out;
}

/** @param {number | null} posed @param {number | null} patch @param {number} known */
function maskOdds(posed, patch, known) {
  const patched = known * odds(patch ?? 0);
  if (posed === null) return WEIGHT.alone * patched;
  return patch === null ? WEIGHT.alone * odds(posed) : WEIGHT.pose * odds(posed) + WEIGHT.patch * patched;
}

/** @type {Numbers} log odds of 0 to 1 in steps of 1 / 1024, at most 3 either way */
const ODDS = Float32Array.from({ length: 1025 }, (_, i) => {
  const p = 0.0474 + (0.9052 * i) / 1024;
  return Math.log(p / (1 - p));
});

/** @param {number} probability */
function odds(probability) {
  return ODDS[(1024 * probability) | 0];
}

/**
 * Brings the answers together, each weighted by how far it agrees with what pose and person mask are sure of. A network
 * trained on whole things does not see the player in a picture that a head fills.
 * @param {Numbers[]} fines @param {Numbers} core @param {number[]} headPx the head's height in each of their pictures
 * @returns {Salience}
 */
export function weighSalience(fines, core, headPx) {
  const weights = fines.map((fine, k) => {
    const agreed = Math.max(0, 2 * agreement(fine, core) - 1) ** 4;
    return 0.01 + agreed * (1 - 0.9 * smoothStep(Number(headPx[k]), LARGE_HEAD_PX.low, LARGE_HEAD_PX.high));
  });
  const sum = weights.reduce((total, weight) => total + weight, 0);
  /** @type {Numbers} */
  const mean = new Float32Array(core.length);
  /** @type {Numbers} */
  const most = new Float32Array(core.length);
  /** @type {Numbers} */
  const least = new Float32Array(core.length).fill(1);
  for (const [k, fine] of fines.entries()) {
    const share = Number(weights[k]) / sum;
    for (let i = 0; i < mean.length; i++) {
      const value = fine[i];
      mean[i] += share * value;
      if (share < MIN_SHARE) continue;
      if (value > most[i]) most[i] = value;
      if (value < least[i]) least[i] = value;
    }
  }
  return { mean, most, least, trust: smoothStep(agreement(mean, core), 0.5, 0.95) };
}

/** The salient matte's mean where pose and person mask are both sure. @param {Numbers} fine @param {Numbers} core */
function agreement(fine, core) {
  let sum = 0;
  let cells = 0;
  for (let i = 0; i < core.length; i++) {
    if (core[i] < 0.85) continue;
    sum += fine[i];
    cells++;
  }
  return cells > 0 ? sum / cells : 1;
}
