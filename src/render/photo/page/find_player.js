import { playerOfFace } from "./by_face.js";
import { hasRivalSubject } from "./company.js";
import { makeSharp, turnPhoto } from "./decode.js";
import { findFaces, findPeople, wholePicture } from "./detectors.js";
import { dilate } from "./dilate.js";
import { coverGrid, examine, hasHeadInside, OWN_FACE_SCORE, SEEN_FACE_SCORE, sharedPart } from "./examine.js";
import { choiceAt, pointOf } from "./focus.js";
import { faceBox } from "./head.js";
import { FACELESS_SCORE, isPlayer } from "./is_player.js";
import { sampleMask } from "./masks.js";
import { lookOf, SHARP_FACE_PX } from "./quality.js";
import { middleOf } from "./rects.js";
import { findRivals } from "./rivals.js";
import { findTurn } from "./upright.js";

/** @import { Focus } from "../../../core/card.ts" */
/** @import { PlayerRefusal } from "../../../core/photo-refusals.ts" */
/** @import { Photo } from "./decode.js" */
/** @import { Face, Person } from "./detectors.js" */
/** @import { Chosen, Finding } from "./examine.js" */
/** @import { Look } from "./quality.js" */
/** @import { Point, Rect } from "./rects.js" */
/** @import { RivalHead } from "./rivals.js" */

/**
 * @typedef {{ player: Finding, photo: Photo } | { refusal: PlayerRefusal, photo: Photo }} Search `photo` may
 *   be a turned copy
 */

/** A face counts as cut off if less than this part of it is inside the photo. */
const MIN_FACE_INSIDE = 0.75;

/** Faces and people below these scores are ignored. */
const MIN_FACE_SCORE = 0.2;
const MIN_PERSON_SCORE = 0.25;
/** How many prominent people, or sure faces, may be the player; the others are background. */
const MAX_CANDIDATES = 3;
/** How many people are kept in all: enough to tell everybody near the player apart. */
const MAX_PEOPLE = 10;

/** A body below this part of the photo's height, or a face of fewer pixels, gives a blurred card. */
const MIN_PLAYER_PART = 0.12;
const MIN_FACE_PX = 26;

/** Of 200 photos the sharp ones measure at least 0.25; at half of that, nose and mouth merge. */
const MIN_SHARPNESS = 0.13;
/** A face whose bright parts (0 to 255) stay below this is black: brightened, it would show noise. */
const MIN_BRIGHT = 14;
/** A face whose median brightness is below this is a silhouette, however bright the sky around it. */
const MIN_FACE_MEDIAN = 8;
/**
 * A face whose bright parts stay below this brightness and whose contrast is below this part of it has no
 * light and shade that could be brightened, as in a dark room by night.
 */
const MIN_FLAT_BRIGHT = 100;
const FLAT_PART = 0.22;
/** A face with a higher median brightness and a lower contrast than these is overexposed. */
const MAX_MEDIAN = 225;
const MIN_BRIGHT_CONTRAST = 12;

/**
 * Side of the overlapping squares in which distant players are looked for, as a part of the photo's longer
 * side. This is only done in photos larger than the search picture: in others, a player this small would give
 * a blurred card.
 */
const CLOSER_LOOK_PART = 0.5;
/** Area that others may take around a distant player, relative to it: 0.1 measured, in a crowd 0.7. */
const MAX_COMPANY = 0.35;
/** From this part of the photo's height on, a body is not distant: cropping the photo helps. */
const NEAR_PART = 0.6;
/** Two people whose centres are closer than this part of their size are one, seen in two squares. */
const SAME_PLACE_PART = 0.3;

/** Others are examined too from this part of the most prominent player's prominence on. */
const CONTENDER_PART = 0.5;
/**
 * Somebody else with at least this part of the player's weight makes it unclear whose card it is. Measured:
 * passers-by and team-mates behind the player up to 0.56, pairs and rows of equals from 0.66 on.
 */
const EQUAL_PART = 0.62;
/** The player and this many others, each with at least this part of the player's weight, are a group. */
const CROWD_PART = 0.55;
const CROWD_HEADS = 2;
/** Where company is welcome, on cards that show the photo, the player need only be the largest. */
const EQUAL_IN_COMPANY = 0.85;
/** Somebody else counts from one of these scores on: knees, baskets and lorries score up to 0.66 as faces. */
const COUNTED_FACE_SCORE = 0.7;
const COUNTED_BODY_SCORE = 0.4;

/**
 * Finds the most prominent player. Several networks have to agree, because dogs and towers have poses too.
 * When the photo lies on its side, the search is done on a turned copy, which is returned.
 * @param {Photo} given its bitmap is closed if the photo is turned
 * @param {boolean} companyWelcome whether others may be prominent, as long as the player is clearly the
 *   largest
 * @param {Focus | null} [focus] where the player is in the upright photo; whoever is there is taken
 * @returns {Promise<Search>}
 */
export async function findPlayer(given, companyWelcome, focus = null) {
  let photo = given;
  let seen = await lookAt(photo.search);
  const turn = await findTurn(photo.search, seen.people.find(isLikely), seen.faces);
  if ("refusal" in turn) return { refusal: turn.refusal, photo };
  if (turn.quarters > 0) {
    photo = turnPhoto(photo, turn.quarters);
    seen = await lookAt(photo.search);
  }
  const height = Math.max(0, ...seen.faces.map((face) => face.height));
  await makeSharp(photo, { x: 0, y: 0, width: 0, height }, SHARP_FACE_PX);
  const point = focus && pointOf(focus, photo.search);
  const choice = point
    ? await choosePlayerAt(photo, seen, point)
    : await choosePlayer(photo, seen, companyWelcome);
  const isNobody =
    "refusal" in choice && (choice.refusal === "no_player" || choice.refusal === "nobody_at_focus");
  const light = isNobody ? lightFault(lookOf(photo, allOf(photo.search))) : null;
  return light ? { refusal: light, photo } : { ...choice, photo };
}

/** @param {OffscreenCanvas} picture @returns {Rect} */
function allOf({ width, height }) {
  return { x: 0, y: 0, width, height };
}

/**
 * @typedef {{ faces: Face[], people: Person[] }} Seen the surest faces and the most prominent people first
 */

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

/** @param {Photo} photo @param {Seen} seen @param {boolean} companyWelcome @returns {Promise<Choice>} */
async function choosePlayer(photo, { faces, people }, companyWelcome) {
  const picture = photo.search;
  const foremost = people.slice(0, MAX_CANDIDATES);
  const chosen =
    (await bestPlayer(photo, foremost, faces, false)) ??
    (await playerOfFace(photo, faces)) ??
    // The quick pose network misses some people seen from behind, of whom the person detector is sure.
    (await bestPlayer(photo, foremost.filter(isClear), faces, true));
  if (chosen) return checkPlayer(photo, chosen, { people, faces }, companyWelcome);
  if (photo.scale >= 1) return { refusal: "no_player" };
  const distant = await findDistantPeople(picture);
  const farAway =
    (await bestPlayer(photo, distant.slice(0, MAX_CANDIDATES), [], false)) ??
    (await bestPlayer(photo, distant.slice(0, MAX_CANDIDATES).filter(isClear), [], true));
  if (!farAway) return { refusal: "no_player" };
  if (!standsAlone(farAway.player, picture))
    return { refusal: isNear(farAway.player, picture) ? "several_people" : "no_player" };
  return checkPlayer(photo, farAway, { people: distant, faces }, companyWelcome);
}

/**
 * The player at a point, however prominent the others are.
 * @param {Photo} photo @param {Seen} seen @param {Point} point
 * @returns {Promise<Choice>}
 */
async function choosePlayerAt(photo, { people, faces }, point) {
  const picture = photo.search;
  const qualified = (/** @type {Person} */ person) => bestPlayer(photo, [person], faces, !isLikely(person));
  const near = await choiceAt(photo, point, { people, faces, qualified });
  if (near) return checkPlayer(photo, near, { people, faces }, "focus");
  const distant = photo.scale < 1 ? await findDistantPeople(picture) : [];
  const farAway = await choiceAt(photo, point, { people: distant, faces: [], qualified });
  if (!farAway) return { refusal: "nobody_at_focus" };
  if (!standsAlone(farAway.player, picture)) return { refusal: "overlapped" };
  return checkPlayer(photo, farAway, { people: distant, faces }, "focus");
}

/**
 * People who are too small to be found in the photo as a whole, the most prominent first.
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
 * Whether somebody found by looking closer is not distant at all, only unusual: with arms thrown up and the
 * head back.
 * @param {Finding} player @param {OffscreenCanvas} picture
 */
export function isNear({ body, face }, picture) {
  return body.height >= NEAR_PART * picture.height && (face?.score ?? 0) >= COUNTED_FACE_SCORE;
}

/**
 * Whether a distant player is clear of other people: in a crowd, people this small cannot be told apart.
 * @param {Finding} player @param {OffscreenCanvas} picture
 */
function standsAlone({ pose, people }, picture) {
  if (!pose) return false;
  const grid = coverGrid(picture);
  const around = dilate(sampleMask(pose.mask, grid), grid.width, 2);
  const own = sharedPart(sampleMask(people, grid), around);
  return 1 - own <= MAX_COMPANY * own;
}

/**
 * Centres of squares that cover a length and overlap by at least half.
 * @param {number} length
 * @param {number} side
 */
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
 * How prominent a person is, 0 to 1: more so the surer the detection, the larger, and the more central.
 * @param {Person} person @param {OffscreenCanvas} picture
 */
function prominence(person, picture) {
  const size = Math.min(1, person.crop.height / picture.height);
  const offCentre = Math.abs(person.crop.cx / picture.width - 0.5) * 2;
  return person.score * size * (1 - 0.7 * Math.min(1, offCentre));
}

/**
 * The best of the people who qualify as a player; among those of similar prominence, the face decides.
 * @param {Photo} photo @param {Person[]} people the most prominent first @param {Face[]} faces
 * @param {boolean} carefully use the larger pose network
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
 * How likely the photo is about somebody, from the face's size, place and sharpness, and whether it is
 * visible. Only meaningful relative to other people's weights.
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
 * Refuses a player who is unfit for a card, and adds the people who may overlap the player. Among others, a
 * player without a pose of one's own cannot be distinguished from them.
 * @param {Photo} photo @param {Chosen} chosen @param {Seen} seen everybody in the photo
 * @param {boolean | "focus"} companyWelcome `focus`: the player was pointed at, so others may be larger
 * @returns {Promise<Choice>}
 */
async function checkPlayer(photo, { player, person, others }, { people, faces }, companyWelcome) {
  const picture = photo.search;
  const face = player.face && player.face.score >= OWN_FACE_SCORE ? player.face : null;
  const checked = { ...player, face };
  const box = faceBox(checked);
  const tooSmall =
    player.body.height < MIN_PLAYER_PART * picture.height || box.height / photo.scale < MIN_FACE_PX;
  if (tooSmall) return { refusal: "player_too_small" };
  if (face && partInside(face, picture) < MIN_FACE_INSIDE) return { refusal: "face_cut" };
  await makeSharp(photo, box, SHARP_FACE_PX);
  const refusal = faultOf(lookOf(photo, box));
  if (refusal) return { refusal };
  const company = people
    .filter((other) => other !== person)
    .map((other) => ({
      person: other,
      pose: others.find(({ person: known }) => known === other)?.finding.pose ?? null,
    }));
  const rivals = await findRivals(picture, checked, company, faces);
  const weights = weightsOf(photo, checked, rivals.heads);
  const inCompany = isOneOfSeveral(weights) || (await hasRivalSubject(picture, checked));
  const isChosen =
    companyWelcome === "focus" || (companyWelcome && weights.every((weight) => weight < EQUAL_IN_COMPANY));
  if (inCompany && !isChosen) return { refusal: "several_people" };
  if (inCompany && companyWelcome === "focus" && !player.pose) return { refusal: "overlapped" };
  return { player: { ...checked, rivals: rivals.masks, inCompany } };
}

/**
 * How prominent the others are, each as a part of the player's weight.
 * @param {Photo} photo @param {Finding} player @param {RivalHead[]} heads of the others
 */
function weightsOf(photo, player, heads) {
  const own = weightOf(photo, player);
  return heads
    .filter(({ face, body }) => face >= COUNTED_FACE_SCORE || body >= COUNTED_BODY_SCORE)
    .map((head) => weightOfHead(photo, head, head.face >= SEEN_FACE_SCORE) / own);
}

/**
 * Whether others are so prominent that it is unclear whose card the photo is for.
 * @param {number[]} weights
 */
const isOneOfSeveral = (weights) =>
  weights.some((weight) => weight >= EQUAL_PART) ||
  weights.filter((weight) => weight >= CROWD_PART).length >= CROWD_HEADS;

/** @param {Look} look @returns {PlayerRefusal | null} */
function faultOf(look) {
  const isFlat = look.bright < MIN_FLAT_BRIGHT && look.contrast < FLAT_PART * look.bright;
  if (look.median < MIN_FACE_MEDIAN || isFlat) return "too_dark";
  return lightFault(look) ?? (look.sharpness < MIN_SHARPNESS ? "too_blurred" : null);
}

/**
 * For a face, or for a whole photo in which nobody is found.
 * @param {Look} look
 * @returns {PlayerRefusal | null}
 */
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
