import { hasRivalSubject } from "./company.js";
import { makeSharp } from "./decode.js";
import { faceBox } from "./head.js";
import { weightOf, weightOfHead } from "./prominence.js";
import { faceFault, lookOf, SHARP_FACE_PX } from "./quality.js";
import { findRivals } from "./rivals.js";
import { FACE_SCORE, PERSON_SCORE } from "./scores.js";

/** @import { PlayerRefusal } from "../../../core/photo-refusals.ts" */
/** @import { Photo } from "./decode.js" */
/** @import { Face, Person } from "./detectors.js" */
/** @import { Chosen, Finding } from "./examine.js" */
/** @import { Rect } from "./rects.js" */
/** @import { RivalHead } from "./rivals.js" */

/** @typedef {{ faces: Face[], people: Person[] }} Seen the surest, and the most prominent, first */
/** @typedef {{ player: Finding } | { refusal: PlayerRefusal }} Choice */
/**
 * How prominent others may be in the photo: in the `background`, so that there is no doubt whose card it is;
 * clearly `smaller`, where the card shows the photo; `any`, where the player was pointed at.
 * @typedef {"background" | "smaller" | "any"} Company
 */

/** A face counts as cut off if less than this part of it is inside the photo. */
const MIN_FACE_INSIDE = 0.75;
/** A body below this part of the photo's height, or a face of fewer pixels, gives a blurred card. */
const MIN_PLAYER_PART = 0.12;
const MIN_FACE_PX = 26;

/**
 * Somebody else with at least this part of the player's weight makes it unclear whose card it is. Measured:
 * passers-by and team-mates behind the player up to 0.56, pairs and rows of equals from 0.66 on.
 */
const EQUAL_PART = 0.62;
/** The player and this many others, each with at least this part of the player's weight, are a group. */
const CROWD_PART = 0.55;
const CROWD_HEADS = 2;
/** Somebody with at least this part of the player's weight is not clearly smaller. */
const SAME_SIZE_PART = 0.85;

/**
 * Refuses a player who is unfit for a card, and adds the people who may overlap the player. Among others, a
 * player without a pose of one's own cannot be distinguished from them.
 * @param {Photo} photo @param {Chosen} chosen @param {Seen} seen everybody in the photo
 * @param {Company} company that the player may have
 * @returns {Promise<Choice>}
 */
export async function checkPlayer(photo, { player, person, others }, { people, faces }, company) {
  const picture = photo.search;
  const face = player.face && player.face.score >= FACE_SCORE.own ? player.face : null;
  const checked = { ...player, face };
  const box = faceBox(checked);
  const tooSmall =
    player.body.height < MIN_PLAYER_PART * picture.height || box.height / photo.scale < MIN_FACE_PX;
  if (tooSmall) return { refusal: "player_too_small" };
  if (face && partInside(face, picture) < MIN_FACE_INSIDE) return { refusal: "face_cut" };
  await makeSharp(photo, box, SHARP_FACE_PX);
  const refusal = faceFault(lookOf(photo, box));
  if (refusal) return { refusal };
  const poses = new Map(others.map((other) => [other.person, other.finding.pose]));
  const beside = people
    .filter((other) => other !== person)
    .map((other) => ({ person: other, pose: poses.get(other) ?? null }));
  const rivals = await findRivals(picture, checked, beside, faces);
  const weights = weightsOf(photo, checked, rivals.heads);
  const inCompany = isOneOfSeveral(weights) || (await hasRivalSubject(picture, checked));
  const isClear =
    company === "any" || (company === "smaller" && weights.every((weight) => weight < SAME_SIZE_PART));
  if (inCompany && !isClear) return { refusal: "several_people" };
  if (inCompany && company === "any" && !player.pose) return { refusal: "overlapped" };
  return { player: { ...checked, rivals: rivals.masks, inCompany } };
}

/**
 * How prominent the others are, each as a part of the player's weight.
 * @param {Photo} photo @param {Finding} player @param {RivalHead[]} heads of the others
 */
function weightsOf(photo, player, heads) {
  const own = weightOf(photo, player);
  return heads
    .filter(({ face, body }) => face >= FACE_SCORE.company || body >= PERSON_SCORE.company)
    .map((head) => weightOfHead(photo, head, head.face) / own);
}

/** Whether others are so prominent that it is unclear whose card it is. @param {number[]} weights */
const isOneOfSeveral = (weights) =>
  weights.some((weight) => weight >= EQUAL_PART) ||
  weights.filter((weight) => weight >= CROWD_PART).length >= CROWD_HEADS;

/** @param {Rect} face @param {OffscreenCanvas} picture */
function partInside(face, picture) {
  const width = Math.min(face.x + face.width, picture.width) - Math.max(face.x, 0);
  const height = Math.min(face.y + face.height, picture.height) - Math.max(face.y, 0);
  return (Math.max(0, width) * Math.max(0, height)) / (face.width * face.height);
}
