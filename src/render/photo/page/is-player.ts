import { detectAgain, type Finding } from "./examine.ts";
import { COVER, FACE_SCORE, MIN_EVIDENCE, PERSON_SCORE, PRESENCE } from "./scores.ts";

/** Whether a finding is a person who could be on a card. */
export async function isPlayer(picture: OffscreenCanvas, finding: Finding): Promise<boolean> {
  const { detector, cover, body } = finding;
  const presence = finding.pose?.presence ?? 0;
  const face = finding.face?.score ?? 0;
  // The person detector does not know people who leap or bend.
  if (presence >= PRESENCE.noDoubt && cover >= COVER.noDoubt && face >= FACE_SCORE.clear) return true;
  const isSound = presence >= PRESENCE.withFace && cover >= COVER.withFace;
  if (isSound && detector >= PERSON_SCORE.withFace && face >= FACE_SCORE.own) {
    if (detector >= PERSON_SCORE.clear && face >= FACE_SCORE.clear) return true;
    const closeUp = await detectAgain(picture, body);
    if (face >= FACE_SCORE.seen && face + detector + closeUp >= MIN_EVIDENCE) return true;
  }
  if (presence < PRESENCE.faceless || cover < COVER.faceless || detector < PERSON_SCORE.faceless)
    return false;
  return (await detectAgain(picture, body)) >= PERSON_SCORE.facelessCloseUp;
}
