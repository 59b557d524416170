import { detectAgain, type Subject } from "./examine.ts";
import { FACE_SCORE, MASK_AGREEMENT, MIN_EVIDENCE, PERSON_SCORE, PRESENCE } from "./scores.ts";

/**
 * Whether a subject is a person who could be on a card.
 * @param detect looks at the body again
 */
export async function isPlayer(
  picture: OffscreenCanvas,
  { detector, maskAgreement, body, ...subject }: Subject,
  detect = detectAgain,
): Promise<boolean> {
  const presence = subject.pose?.presence ?? 0;
  const face = subject.face?.score ?? 0;
  let again: Promise<number> | undefined;
  const closeUp = () => (again ??= detect(picture, body));
  // The person detector does not know people who leap or bend.
  if (presence >= PRESENCE.noDoubt && maskAgreement >= MASK_AGREEMENT.noDoubt && face >= FACE_SCORE.clear)
    return true;
  const isSound = presence >= PRESENCE.withFace && maskAgreement >= MASK_AGREEMENT.withFace;
  if (isSound && detector >= PERSON_SCORE.withFace && face >= FACE_SCORE.own) {
    if (detector >= PERSON_SCORE.clear && face >= FACE_SCORE.clear) return true;
    if (face >= FACE_SCORE.seen && face + detector + (await closeUp()) >= MIN_EVIDENCE) return true;
  }
  if (presence < PRESENCE.byBody || maskAgreement < MASK_AGREEMENT.byBody || detector < PERSON_SCORE.byBody)
    return false;
  return (await closeUp()) >= PERSON_SCORE.byBodyCloseUp;
}
