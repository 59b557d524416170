import { detectAgain, OWN_FACE_SCORE, SEEN_FACE_SCORE } from "./examine.js";

/** @import { Finding } from "./examine.js" */

/**
 * Least sum of the scores of the face, of the person detector and of the latter on a close-up, for people who
 * are not clear enough without the close-up. A macaque has 1.6, a goldfish 1.5.
 */
const MIN_EVIDENCE = 1.75;

/**
 * From all of these on, a person needs no detector: leaping and bent people are unlike those that it knows.
 * Of 211 photos without a usable player nobody is so whom the detector does not see too.
 */
const NO_DOUBT = { presence: 0.9999, cover: 0.95, face: 0.7 };

/**
 * Pose and person mask have to agree so far on whoever shows a face. Of 480 photos only a mannequin and a
 * head that the photo's side halves lie between this and 0.5.
 */
const MIN_COVER = 0.7;

/** People seen from behind show no face, so the person detector has to be this sure of them. */
export const FACELESS_SCORE = 0.65;

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
  if (presence >= 0.9 && cover >= MIN_COVER && detector >= 0.4 && face >= OWN_FACE_SCORE) {
    if (face >= 0.7 && detector >= 0.5) return true;
    const again = await detectAgain(picture, finding.body);
    if (face >= SEEN_FACE_SCORE && face + detector + again >= MIN_EVIDENCE) return true;
  }
  // People seen from behind show no face; then the detector must be sure of the close-up as well as of the
  // whole photo.
  if (presence < 0.95 || cover < 0.85 || detector < FACELESS_SCORE) return false;
  return (await detectAgain(picture, finding.body)) >= 0.88;
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
