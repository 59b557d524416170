// The scores, from 0 to 1, from which on a network's answer counts, and as what: one question a row, the
// lowest first. Change one, and `bun run picture --photos` shows which photos it decides.

/** Of the face detector. */
export const FACE_SCORE = {
  /** In a close-up, something that may be a face: what it scores is compared with other close-ups. */
  inCloseUp: 0.1,
  /** A face of the whole photo, to be examined. */
  inPhoto: 0.2,
  /** The face in the close-up of a player's head is the player's own. */
  own: 0.35,
  /** A face beside the player is somebody else's. */
  rival: 0.4,
  /** A lying head shows a face once it is turned: below this it shows none either way. */
  onceTurned: 0.4,
  /** A face for which a body is looked for below it, and whose close-up confirms it without one. */
  tried: 0.45,
  /** A player's face, of which it is asked whether it is covered: the detector saw nothing else there. */
  maybeCovered: 0.5,
  /** The face of a body that was looked for below a face. */
  aboveBody: 0.55,
  /** The face is visible. */
  seen: 0.6,
  /** A photo is the right way up now that it is turned. */
  upright: 0.6,
  /** The same for a player who leans even then. */
  leaning: 0.65,
  /** Somebody beside the player counts as company: knees, baskets and lorries score up to 0.66. */
  company: 0.7,
  /** Whoever is pointed at has this face and no other. */
  pointedAt: 0.7,
  /** A player of whom no close-up is needed. */
  clear: 0.7,
  /** A face needs only a close-up to confirm it, no body: dogs score up to 0.74, and nothing close by. */
  bodiless: 0.75,
  /** A face in the player's raised hand is a person's: trophies, helmets and rackets look like faces too. */
  inHand: 0.8,
  /** A photo in which no body is found is turned for this face. */
  lone: 0.8,
};

/** Of the person detector. */
export const PERSON_SCORE = {
  /** On a close-up: what it scores is added to other evidence. */
  inCloseUp: 0.1,
  /** A person of the whole photo, to be examined. */
  inPhoto: 0.25,
  /** Likely a person: the photo is turned by this body, and the quick pose network has to find it. */
  likely: 0.4,
  /** Somebody beside the player counts as company. */
  company: 0.4,
  /** A player with a visible face. */
  withFace: 0.4,
  /** The same, of whom no close-up is needed. */
  clear: 0.5,
  /** A player seen from behind, who shows no face. */
  faceless: 0.65,
  /** The same, on a close-up. */
  facelessCloseUp: 0.88,
};

/** Of the pose network: that its crop shows a person. */
export const PRESENCE = {
  /** Somebody is there. */
  person: 0.5,
  /** A player with a visible face. */
  withFace: 0.9,
  /** A player seen from behind. */
  faceless: 0.95,
  /** The body that was looked for below a face. */
  belowFace: 0.95,
  /** Somebody lies: towers and ships can pass for people lying down. */
  sideways: 0.95,
  /** A player, whatever the person detector doubts. */
  noDoubt: 0.9999,
};

/** The part of the pose's mask with which the person mask has to agree. */
export const COVER = {
  /** A player with a visible face: a mannequin, or a head that the photo's edge cuts in half, has less. */
  withFace: 0.7,
  /** The body that was looked for below a face. */
  belowFace: 0.75,
  /** A player seen from behind. */
  faceless: 0.85,
  /** A player, whatever the person detector doubts. */
  noDoubt: 0.95,
};

/**
 * The least sum of the scores of the face, the person detector, and that detector on a close-up, for a player
 * whose face and body are not clear. A macaque has 1.6, a goldfish 1.5.
 */
export const MIN_EVIDENCE = 1.75;
