import type { PlayerRefusal } from "../../../core/photo-refusals.ts";
import { hasEqualBeside } from "./company.ts";
import { makeSharp, type Photo } from "./decode.ts";
import type { Face, Person } from "./detectors.ts";
import type { Chosen, Subject } from "./examine.ts";
import { faceBox } from "./head.ts";
import { weightOf, weightOfHead } from "./prominence.ts";
import { faceFault, faceQuality, SHARP_FACE_PX } from "./quality.ts";
import type { Rect } from "./rects.ts";
import { findRivals, type RivalHead } from "./rivals.ts";
import { FACE_SCORE, PERSON_SCORE } from "./scores.ts";

/** Everybody in a photo: the surest faces and the most prominent people first. */
export interface Seen {
  faces: Face[];
  people: Person[];
}
export type Choice = { player: Subject } | { refusal: PlayerRefusal };
/**
 * How prominent others may be in the photo: in the `background`, so that there is no doubt whose card it is;
 * clearly `smaller`, where the card shows the photo; `any`, where the player was pointed at.
 */
export type Company = "background" | "smaller" | "any";

/** A face counts as cut off if less than this part of it is inside the photo. */
const MIN_FACE_INSIDE = 0.75;
/** A body below this part of the photo's height, or a face of fewer pixels, gives a blurred card. */
const MIN_PLAYER_PART = 0.12;
const MIN_FACE_PX = 26;

/** Others of this part of the player's weight are equals: bystanders have up to 0.56, pairs from 0.66. */
const EQUAL_PART = 0.62;
/** The player and this many others, each with at least this part of the player's weight, are a group. */
const CROWD_PART = 0.55;
const CROWD_HEADS = 2;
/** Somebody with at least this part of the player's weight is not clearly smaller. */
const SAME_SIZE_PART = 0.85;

/**
 * Refuses a player who is unfit for a card, and adds the people who may overlap the player. In company, a
 * player without a pose cannot be told from the others.
 */
export async function checkPlayer(
  photo: Photo,
  { player, person, others }: Chosen,
  { people, faces }: Seen,
  company: Company,
): Promise<Choice> {
  const picture = photo.search;
  const face = player.face && player.face.score >= FACE_SCORE.own ? player.face : null;
  const checked = { ...player, face };
  const box = faceBox(checked);
  const tooSmall =
    player.body.height < MIN_PLAYER_PART * picture.height || box.height / photo.scale < MIN_FACE_PX;
  if (tooSmall) return { refusal: "player_too_small" };
  if (face && partInside(face, picture) < MIN_FACE_INSIDE) return { refusal: "face_cut" };
  await makeSharp(photo, box, SHARP_FACE_PX);
  const refusal = faceFault(faceQuality(photo, box));
  if (refusal) return { refusal };
  const poses = new Map(others.map((other) => [other.person, other.subject.pose]));
  const beside = people
    .filter((other) => other !== person)
    .map((other) => ({ person: other, pose: poses.get(other) ?? null }));
  const rivals = await findRivals(picture, checked, beside, faces);
  const weights = weightsOf(photo, checked, rivals.heads);
  const inCompany = isOneOfSeveral(weights) || (await hasEqualBeside(picture, checked));
  const isClear =
    company === "any" || (company === "smaller" && weights.every((weight) => weight < SAME_SIZE_PART));
  if (inCompany && !isClear) return { refusal: "several_people" };
  if (inCompany && company === "any" && !player.pose) return { refusal: "overlapped" };
  return { player: { ...checked, rivals: rivals.masks, inCompany } };
}

/** How prominent the others are, each as a part of the player's weight. */
function weightsOf(photo: Photo, player: Subject, heads: RivalHead[]): number[] {
  const own = weightOf(photo, player);
  return heads
    .filter(({ face, body }) => face >= FACE_SCORE.company || body >= PERSON_SCORE.company)
    .map((head) => weightOfHead(photo, head, head.face) / own);
}

/** Whether others are so prominent that it is unclear whose card it is. */
const isOneOfSeveral = (weights: number[]) =>
  weights.some((weight) => weight >= EQUAL_PART) ||
  weights.filter((weight) => weight >= CROWD_PART).length >= CROWD_HEADS;

function partInside(face: Rect, picture: OffscreenCanvas): number {
  const width = Math.min(face.x + face.width, picture.width) - Math.max(face.x, 0);
  const height = Math.min(face.y + face.height, picture.height) - Math.max(face.y, 0);
  return (Math.max(0, width) * Math.max(0, height)) / (face.width * face.height);
}
