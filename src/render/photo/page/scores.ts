// The scores, from 0 to 1, from which on a network's answer counts, and as what: one question a row, the
// lowest first. Change one, and `bun run picture --photos` shows which photos it decides.

/** Of the face detector. */
export const FACE_SCORE = {
  inCloseUp: 0.1, // In a close-up, something whose score is compared with other close-ups.
  inPhoto: 0.2, // In the whole photo, a face to be examined.
  own: 0.35, // In the close-up of a player's head, the player's own face.
  rival: 0.4, // Beside the player, somebody else's face.
  onceTurned: 0.4, // The face of a lying head, once that is turned: below this it shows none either way.
  tried: 0.45, // A face for which a body is looked for below it, and a close-up that confirms it without one.
  maybeCovered: 0.5, // A face that may be covered: below this the detector may have seen something else.
  aboveBody: 0.55, // The face of a body that was looked for below a face.
  seen: 0.6, // A visible face.
  upright: 0.6, // A face that shows that its photo, now turned, is the right way up.
  leaning: 0.65, // The same of a player who leans even then.
  company: 0.7, // Somebody who counts as company: knees, baskets and lorries score up to 0.66.
  pointedAt: 0.7, // The face of the person pointed at, even if only somebody else qualifies.
  clear: 0.7, // A player's face that needs no close-up.
  bodiless: 0.75, // A face that only a close-up has to confirm: dogs score up to 0.74, and nothing there.
  inHand: 0.8, // In the player's raised hand, a person's: trophies, helmets and rackets look like faces too.
  lone: 0.8, // A face for which a photo without bodies is turned.
};

/** Of the person detector. */
export const PERSON_SCORE = {
  inCloseUp: 0.1, // In a close-up, something whose score is added to other evidence.
  inPhoto: 0.25, // In the whole photo, a person to be examined.
  likely: 0.4, // A body by which a photo is turned, and that the light pose network has to find.
  company: 0.4, // Somebody who counts as company.
  withFace: 0.4, // A player with a visible face.
  clear: 0.5, // The same, who needs no close-up.
  byBody: 0.65, // A player by the body alone, such as one seen from behind.
  byBodyCloseUp: 0.88, // The same, in a close-up.
};

/** Of the pose network: that its crop shows a person. */
export const PRESENCE = {
  person: 0.5, // Somebody.
  withFace: 0.9, // A player with a visible face.
  byBody: 0.95, // A player by the body alone.
  belowFace: 0.95, // The body that was looked for below a face.
  sideways: 0.95, // Somebody who lies: towers and ships can pass for people lying down.
  noDoubt: 0.9999, // A player, whatever the person detector doubts.
};

/** The part of the pose's mask with which the person mask agrees. */
export const MASK_AGREEMENT = {
  withFace: 0.7, // A player with a visible face: mannequins, and heads halved by the photo's edge, have less.
  belowFace: 0.75, // The body that was looked for below a face.
  byBody: 0.85, // A player by the body alone.
  noDoubt: 0.95, // A player, whatever the person detector doubts.
};

/**
 * The least sum of the scores of the face, the person detector, and that detector on a close-up, for a player
 * whose face and body are not clear. A macaque has 1.6, a goldfish 1.5.
 */
export const MIN_EVIDENCE = 1.75;
