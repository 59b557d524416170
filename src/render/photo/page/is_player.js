import { detectAgain, OWN_FACE_SCORE, SEEN_FACE_SCORE } from "./examine.js";

/** @import { Finding } from "./examine.js" */

/**
 * Whoever reaches all of these is a player even if the person detector, which does not know leaping and
 * bent people, misses them. In 211 photos without a usable player, it missed nobody who reaches these.
 */
const NO_DOUBT = { presence: 0.9999, cover: 0.95, face: 0.7 };

/**
 * What somebody with a visible face has to reach. Pose and person mask must agree this far: of 480 photos,
 * only a mannequin and a head cut in half by the photo's edge have a cover between 0.5 and this.
 */
const WITH_FACE = { presence: 0.9, cover: 0.7, detector: 0.4, face: OWN_FACE_SCORE };
/** From these scores on, somebody with a visible face is a player without a close-up. */
const CLEAR = { detector: 0.5, face: 0.7 };
/**
 * The least sum of the scores of the face, the person detector, and that detector on a close-up, for anyone
 * else with a visible face. A macaque has 1.6, a goldfish 1.5.
 */
const MIN_EVIDENCE = 1.75;

/** People seen from behind show no face, so the person detector has to be this sure of them. */
export const FACELESS_SCORE = 0.65;
/** What they have to reach besides; `closeUp` is the detector's score on a close-up. */
const FACELESS = { presence: 0.95, cover: 0.85, closeUp: 0.88 };

/**
 * Whether a finding is a person who could be on a card. The thresholds were tuned on 65 labelled photos,
 * tried on 1,000 unlabelled ones, and measured again on 280 others.
 * @param {OffscreenCanvas} picture @param {Finding} finding
 */
export async function isPlayer(picture, finding) {
  const presence = finding.pose?.presence ?? 0;
  const { detector, cover } = finding;
  const face = finding.face?.score ?? 0;
  if (isBeyondDoubt(finding)) return true;
  const isSound = presence >= WITH_FACE.presence && cover >= WITH_FACE.cover;
  if (isSound && detector >= WITH_FACE.detector && face >= WITH_FACE.face) {
    if (detector >= CLEAR.detector && face >= CLEAR.face) return true;
    const closeUp = await detectAgain(picture, finding.body);
    if (face >= SEEN_FACE_SCORE && face + detector + closeUp >= MIN_EVIDENCE) return true;
  }
  if (presence < FACELESS.presence || cover < FACELESS.cover || detector < FACELESS_SCORE) return false;
  return (await detectAgain(picture, finding.body)) >= FACELESS.closeUp;
}

/**
 * Whether pose, mask and face show a person so clearly that the detector's doubt counts for nothing.
 * @param {Finding} finding
 */
function isBeyondDoubt({ pose, cover, face }) {
  return (
    (pose?.presence ?? 0) >= NO_DOUBT.presence &&
    cover >= NO_DOUBT.cover &&
    (face?.score ?? 0) >= NO_DOUBT.face
  );
}
