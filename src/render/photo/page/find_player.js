import { hasEqualBeside } from "./company.js";
import { turnPhoto } from "./decode.js";
import { findFaces, findPeople, squareAround, wholePicture } from "./detectors.js";
import {
  coverGrid,
  detectAgain,
  distance,
  examine,
  examineFace,
  hasHeadInside,
  middleOf,
  OWN_FACE_SCORE,
  personOf,
  SEEN_FACE_SCORE,
  sharedPart,
} from "./examine.js";
import { dilate, sampleMask } from "./masks.js";
import { faceBox, isDrawn, lookOf } from "./quality.js";
import { findRivals } from "./rivals.js";
import { findTurn } from "./upright.js";

/** @import { Photo } from "./decode.js" */
/** @import { Face, Person } from "./detectors.js" */
/** @import { Rect } from "./masks.js" */
/** @import { Look } from "./quality.js" */
/** @import { RivalHead } from "./rivals.js" */
/** @import { PlayerRefusal } from "../../../core/photo-refusals.ts" */
/** @typedef {import("./examine.js").Finding} Finding */

/** @typedef {{ player: Finding, photo: Photo } | { refusal: PlayerRefusal, photo: Photo }} Search the photo may have been turned */

/** A face of which the photo shows less than this part is cut off at its edge. */
const MIN_FACE_INSIDE = 0.75;

/** Scores below these are not looked at any further. */
const MIN_FACE_SCORE = 0.2;
const MIN_PERSON_SCORE = 0.25;
/** So many of the most prominent people are looked at; further ones are background. */
const MAX_CANDIDATES = 3;
/** People detected at all: enough to keep everybody near the player apart. */
const MAX_PEOPLE = 10;

/** A player below this part of the photo's height, or whose face has fewer pixels, gives a blurred card. */
const MIN_PLAYER_PART = 0.12;
const MIN_FACE_PX = 26;

/** Sharp photos of 200 measure 0.25 and more; at half of that nose and mouth run together on the smallest card. */
const MIN_SHARPNESS = 0.13;
/** A face whose bright parts stay below this is black: there is nothing to lift but noise. */
const MIN_BRIGHT = 14;
/** A face half of which is darker is a silhouette, however bright the sky around it. */
const MIN_FACE_MEDIAN = 8;
/** A face brighter than this and flatter than that is burnt out. */
const MAX_MEDIAN = 225;
const MIN_BRIGHT_CONTRAST = 12;

/** A face this sure on the whole photo needs no body to confirm it, only a second look: dogs get 0.74, and nothing then. */
const SURE_FACE_SCORE = 0.75;
/** Below this a face is not asked for its body. */
const LONE_FACE_SCORE = 0.45;
/** What its own close-up has to show when a body stands right below it. */
const BODILY_FACE_SCORE = 0.55;
/** Face, detector, and detector on the close-up together, for whoever is less than clear: macaque 1.6, goldfish 1.5. */
const MIN_EVIDENCE = 1.75;

/** Nobody's face is seen from behind: the person detector has to be this sure. */
const FACELESS_SCORE = 0.65;

/**
 * Sides of the overlapping squares in which players far away are looked for, as parts of the photo's longer side. Only in
 * photos with more pixels than the search picture: in others a player this small gives a blurred card.
 */
const CLOSER_LOOK_PART = 0.5;
/** Around a player this far away, other people may take so much of the room the player takes: 0.1 measured, a crowd 0.7. */
const MAX_COMPANY = 0.35;
/** Two people whose middles lie closer than this part of their size are one, seen in two squares. */
const SAME_PLACE_PART = 0.3;

/** Others examined beside the most prominent person when they come this close to it. */
const CONTENDER_PART = 0.5;
/**
 * Somebody else this prominent, compared with the player, leaves it open whose card it is. Measured: passers-by and
 * team-mates behind the player up to 0.56, pairs and rows of equals from 0.66 on.
 */
const EQUAL_PART = 0.62;
/** The player and so many others this prominent are a group. */
const CROWD_PART = 0.55;
const CROWD_HEADS = 2;
/** Somebody else counts from these scores on: knees, baskets and lorries have faces of up to 0.66. */
const RIVAL_FACE_SCORE = 0.7;
const RIVAL_BODY_SCORE = 0.4;

/**
 * Looks for the most prominent player. Several networks have to agree: a pose alone is also seen in dogs and towers.
 * @param {Photo} given closed when it had to be turned
 * @returns {Promise<Search>}
 */
export async function findPlayer(given) {
  let photo = given;
  let seen = await lookAt(photo.search);
  const turn = await findTurn(photo.search, seen.people.find(isLikely), seen.faces);
  if ("refusal" in turn) return { refusal: turn.refusal, photo };
  if (turn.quarters > 0) {
    photo = turnPhoto(photo, turn.quarters);
    seen = await lookAt(photo.search);
  }
  const choice = await choosePlayer(photo, seen);
  const isNobody = "refusal" in choice && choice.refusal === "no_player";
  const light = isNobody ? lightFault(lookOf(photo, allOf(photo.search))) : null;
  return light ? { refusal: light, photo } : { ...choice, photo };
}

/** @param {OffscreenCanvas} picture @returns {Rect} */
function allOf({ width, height }) {
  return { x: 0, y: 0, width, height };
}

/** @typedef {{ faces: Face[], people: Person[] }} Seen both the foremost first */

/** @param {OffscreenCanvas} picture @returns {Promise<Seen>} */
async function lookAt(picture) {
  const whole = wholePicture(picture);
  const faces = await findFaces(picture, whole, MIN_FACE_SCORE);
  const people = (await findPeople(picture, whole, MIN_PERSON_SCORE)).slice(0, MAX_PEOPLE);
  people.sort((a, b) => prominence(b, picture) - prominence(a, picture));
  return { faces, people };
}

const isLikely = (/** @type {Person} */ person) => person.score >= 0.4;
const isClear = (/** @type {Person} */ person) => person.score >= FACELESS_SCORE;

/** @typedef {{ player: Finding } | { refusal: PlayerRefusal }} Choice */

/** @param {Photo} photo @param {Seen} seen @returns {Promise<Choice>} */
async function choosePlayer(photo, { faces, people }) {
  const picture = photo.search;
  const foremost = people.slice(0, MAX_CANDIDATES);
  const chosen =
    (await bestPlayer(photo, foremost, faces, false)) ??
    (await playerOfFace(photo, faces)) ??
    // The quick pose network misses people seen from behind, whom the person detector is sure of.
    (await bestPlayer(photo, foremost.filter(isClear), faces, true));
  if (chosen) return checkPlayer(photo, chosen, { people, faces });
  if (photo.scale >= 1) return { refusal: "no_player" };
  const distant = await findDistantPeople(picture);
  const farAway =
    (await bestPlayer(photo, distant.slice(0, MAX_CANDIDATES), [], false)) ??
    (await bestPlayer(photo, distant.slice(0, MAX_CANDIDATES).filter(isClear), [], true));
  if (!farAway || !standsAlone(farAway.player, picture)) return { refusal: "no_player" };
  return checkPlayer(photo, farAway, { people: distant, faces });
}

/**
 * A player whom only the face gives away: a close-up, somebody bent over, a body behind things.
 * @param {Photo} photo @param {Face[]} faces
 * @returns {Promise<Chosen | null>}
 */
async function playerOfFace({ search: picture }, faces) {
  for (const face of faces.slice(0, MAX_CANDIDATES)) {
    if (face.score < LONE_FACE_SCORE) continue;
    const person = personOf(face);
    const finding = await examine(picture, person, faces);
    if (finding && isDrawn(picture, finding)) continue;
    if (finding && isBodyOf(finding, face)) return { player: finding, person, others: [] };
    if (face.score < SURE_FACE_SCORE) continue;
    const again = await findFaces(picture, squareAround(face, 1), LONE_FACE_SCORE);
    if (again.length > 0) return { player: await examineFace(picture, face), person, others: [] };
  }
  return null;
}

/** @param {Finding} finding @param {Face} face */
function isBodyOf({ pose, cover, face: own, head }, face) {
  if (!pose || !own || own.score < BODILY_FACE_SCORE) return false;
  const isThere = distance(head.centre, middleOf(face)) < 0.5 * face.height;
  return isThere && pose.presence >= 0.95 && cover >= 0.75;
}

/**
 * The most prominent of the people who are too small to be seen on the whole photo at once.
 * @param {OffscreenCanvas} picture
 * @returns {Promise<Person[]>}
 */
async function findDistantPeople(picture) {
  const side = CLOSER_LOOK_PART * Math.max(picture.width, picture.height);
  /** @type {Person[]} */
  const found = [];
  for (const cy of middles(picture.height, side)) {
    for (const cx of middles(picture.width, side)) {
      const square = { cx, cy, width: side, height: side, rotation: 0 };
      found.push(...(await findPeople(picture, square, MIN_PERSON_SCORE)));
    }
  }
  found.sort((a, b) => prominence(b, picture) - prominence(a, picture));
  const people = found.filter(
    (person, i) => !found.slice(0, i).some((better) => isSamePlace(person, better)),
  );
  return people.slice(0, MAX_PEOPLE);
}

/**
 * Whether a distant player is apart from others: people in a crowd are too small to be told from each other.
 * @param {Finding} player @param {OffscreenCanvas} picture
 */
function standsAlone({ pose, people }, picture) {
  if (!pose) return false;
  const grid = coverGrid(picture);
  const around = dilate(sampleMask(pose.mask, grid), grid.width, 2);
  const own = sharedPart(sampleMask(people, grid), around);
  return 1 - own <= MAX_COMPANY * own;
}

/** Where squares lie that cover a length and overlap by at least half. @param {number} length @param {number} side */
function middles(length, side) {
  if (length <= side) return [length / 2];
  const steps = Math.ceil((length - side) / (side / 2));
  return Array.from({ length: steps + 1 }, (_, i) => side / 2 + i * ((length - side) / steps));
}

/** @param {Person} one @param {Person} other */
function isSamePlace({ crop: one }, { crop: other }) {
  return (
    Math.hypot(one.cx - other.cx, one.cy - other.cy) < SAME_PLACE_PART * Math.max(one.width, other.width)
  );
}

/**
 * Sure, large and central people come first.
 * @param {Person} person @param {OffscreenCanvas} picture
 */
function prominence(person, picture) {
  const size = Math.min(1, person.crop.height / picture.height);
  const offCentre = Math.abs(person.crop.cx / picture.width - 0.5) * 2;
  return person.score * size * (1 - 0.7 * Math.min(1, offCentre));
}

/**
 * @typedef {object} Chosen
 * @property {Finding} player
 * @property {Person | null} person how the detector saw the player
 * @property {{ person: Person, finding: Finding }[]} others contenders, with what is known of them
 */

/**
 * The best of the people who pass for a player: a look at the face decides between those who come close to each other.
 * @param {Photo} photo @param {Person[]} people foremost first @param {Face[]} faces @param {boolean} carefully
 * @returns {Promise<Chosen | null>}
 */
async function bestPlayer(photo, people, faces, carefully) {
  const picture = photo.search;
  /** @type {{ person: Person, finding: Finding, weight: number }[]} */
  const contenders = [];
  let first = 0;
  for (const person of people) {
    if (prominence(person, picture) < CONTENDER_PART * first) break;
    const finding = await examine(picture, person, faces, carefully);
    if (!finding?.pose || !hasHeadInside(finding.pose, picture)) continue;
    if (!(await isPlayer(picture, finding))) continue;
    first ||= prominence(person, picture);
    contenders.push({ person, finding, weight: weightOf(photo, finding) });
  }
  contenders.sort((a, b) => b.weight - a.weight);
  const [best, ...others] = contenders;
  return best ? { player: best.finding, person: best.person, others } : null;
}

/** @param {Photo} photo @param {Finding} finding */
function weightOf(photo, finding) {
  return weightOfHead(photo, faceBox(finding), (finding.face?.score ?? 0) >= SEEN_FACE_SCORE);
}

/**
 * How much of the photo is about somebody: the face's size, place and sharpness, and whether it can be seen.
 * @param {Photo} photo @param {Rect} face @param {boolean} showsFace
 */
function weightOfHead(photo, face, showsFace) {
  const { width, height } = photo.search;
  const offCentre = Math.abs(middleOf(face).x / width - 0.5) * 2;
  const { sharpness } = lookOf(photo, face);
  return (
    (face.height / height) *
    (1 - 0.5 * Math.min(1, offCentre)) *
    Math.min(1, Math.max(0.3, sharpness / 0.3)) *
    (showsFace ? 1 : 0.6)
  );
}

/**
 * The thresholds were tuned on 65 labelled photos, tried on 1,000 unlabelled ones, and measured again on 280 others.
 * @param {OffscreenCanvas} picture @param {Finding} finding
 */
async function isPlayer(picture, finding) {
  const presence = finding.pose?.presence ?? 0;
  const { detector, cover } = finding;
  const face = finding.face?.score ?? 0;
  if (isDrawn(picture, finding)) return false;
  if (presence >= 0.9 && cover >= 0.5 && detector >= 0.4 && face >= OWN_FACE_SCORE) {
    if (face >= 0.7 && detector >= 0.5) return true;
    const again = await detectAgain(picture, finding.body);
    if (face >= SEEN_FACE_SCORE && face + detector + again >= MIN_EVIDENCE) return true;
  }
  // Nobody's face is seen from behind: then the detector must be as sure of the close-up as of the whole photo.
  if (presence < 0.95 || cover < 0.85 || detector < FACELESS_SCORE) return false;
  return (await detectAgain(picture, finding.body)) >= 0.88;
}

/**
 * @param {Photo} photo @param {Chosen} chosen @param {Seen} seen everybody
 * @returns {Promise<Choice>}
 */
async function checkPlayer(photo, { player, person, others }, { people, faces }) {
  const picture = photo.search;
  const face = player.face && player.face.score >= OWN_FACE_SCORE ? player.face : null;
  const checked = { ...player, face };
  const box = faceBox(checked);
  const tooSmall =
    player.body.height < MIN_PLAYER_PART * picture.height || box.height / photo.scale < MIN_FACE_PX;
  if (tooSmall) return { refusal: "player_too_small" };
  if (face && partInside(face, picture) < MIN_FACE_INSIDE) return { refusal: "face_cut" };
  const refusal = faultOf(lookOf(photo, box));
  if (refusal) return { refusal };
  const company = people
    .filter((other) => other !== person)
    .map((other) => ({
      person: other,
      pose: others.find(({ person: known }) => known === other)?.finding.pose ?? null,
    }));
  const rivals = await findRivals(picture, checked, company, faces);
  if (isOneOfSeveral(photo, checked, rivals.heads) || (await hasEqualBeside(picture, checked)))
    return { refusal: "several_people" };
  return { player: { ...checked, rivals: rivals.masks } };
}

/**
 * Whether it stays open whose card the photo is for.
 * @param {Photo} photo @param {Finding} player @param {RivalHead[]} heads of the others
 */
function isOneOfSeveral(photo, player, heads) {
  const own = weightOf(photo, player);
  const parts = heads
    .filter(({ face, body }) => face >= RIVAL_FACE_SCORE || body >= RIVAL_BODY_SCORE)
    .map((head) => weightOfHead(photo, head, head.face >= SEEN_FACE_SCORE) / own);
  return (
    parts.some((part) => part >= EQUAL_PART) ||
    parts.filter((part) => part >= CROWD_PART).length >= CROWD_HEADS
  );
}

/** @param {Look} look @returns {PlayerRefusal | null} */
function faultOf(look) {
  if (look.median < MIN_FACE_MEDIAN) return "too_dark";
  return lightFault(look) ?? (look.sharpness < MIN_SHARPNESS ? "too_blurred" : null);
}

/** Of a face, or of a whole photo in which nobody is seen. @param {Look} look @returns {PlayerRefusal | null} */
function lightFault({ contrast, median, bright }) {
  if (bright < MIN_BRIGHT) return "too_dark";
  return median > MAX_MEDIAN && contrast < MIN_BRIGHT_CONTRAST ? "too_bright" : null;
}

/** @param {Face} face @param {OffscreenCanvas} picture */
function partInside(face, picture) {
  const width = Math.min(face.x + face.width, picture.width) - Math.max(face.x, 0);
  const height = Math.min(face.y + face.height, picture.height) - Math.max(face.y, 0);
  return (Math.max(0, width) * Math.max(0, height)) / (face.width * face.height);
}
