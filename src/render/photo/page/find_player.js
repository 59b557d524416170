import { playerOfFace } from "./by_face.js";
import { checkPlayer } from "./check_player.js";
import { makeSharp, turnPhoto } from "./decode.js";
import { findFaces, findPeople, wholePicture } from "./detectors.js";
import { findDistantPeople, isNear, standsAlone } from "./distant.js";
import { examine, hasHeadInside } from "./examine.js";
import { choiceAt, pointOf } from "./focus.js";
import { isPlayer } from "./is_player.js";
import { byProminence, MAX_PEOPLE, prominence, weightOf } from "./prominence.js";
import { lightFault, lookOf, SHARP_FACE_PX } from "./quality.js";
import { FACE_SCORE, PERSON_SCORE } from "./scores.js";
import { findTurn } from "./upright.js";

/** @import { Focus } from "../../../core/card.ts" */
/** @import { Choice, Company, Seen } from "./check_player.js" */
/** @import { Photo } from "./decode.js" */
/** @import { Face, Person } from "./detectors.js" */
/** @import { Chosen, Finding } from "./examine.js" */
/** @import { Point } from "./rects.js" */

/** @typedef {Choice & { photo: Photo }} Search `photo` may be a turned copy */

/** How many prominent people may be the player; the others are background. */
const MAX_CANDIDATES = 3;
/** Others are examined too from this part of the most prominent player's prominence on. */
const CONTENDER_PART = 0.5;

const isLikely = (/** @type {Person} */ person) => person.score >= PERSON_SCORE.likely;

/**
 * Finds the most prominent player. Several networks have to agree, because dogs and towers have poses too.
 * When the photo lies on its side, the search is done on a turned copy, which is returned.
 * @param {Photo} given its bitmap is closed if the photo is turned
 * @param {Company} company that the player may have
 * @param {Focus | null} focus where the player is in the upright photo; whoever is there is taken
 * @returns {Promise<Search>}
 */
export async function findPlayer(given, company, focus) {
  let photo = given;
  let seen = await lookAt(photo.search);
  const turn = await findTurn(photo.search, seen.people.find(isLikely), seen.faces);
  if ("refusal" in turn) return { ...turn, photo };
  if (turn.quarters > 0) {
    photo = turnPhoto(photo, turn.quarters);
    seen = await lookAt(photo.search);
  }
  const height = Math.max(0, ...seen.faces.map((face) => face.height));
  await makeSharp(photo, { x: 0, y: 0, width: 0, height }, SHARP_FACE_PX);
  const choice = await choosePlayer(photo, seen, company, focus && pointOf(focus, photo.search));
  return { ...choice, photo };
}

/** @param {OffscreenCanvas} picture @returns {Promise<Seen>} */
async function lookAt(picture) {
  const whole = wholePicture(picture);
  const faces = await findFaces(picture, whole, FACE_SCORE.inPhoto);
  const people = (await findPeople(picture, whole, PERSON_SCORE.inPhoto)).slice(0, MAX_PEOPLE);
  return { faces, people: people.sort(byProminence(picture)) };
}

/**
 * The player among those seen in the whole photo or, if nobody there is one, among those seen by looking
 * closer.
 * @param {Photo} photo @param {Seen} seen @param {Company} company
 * @param {Point | null} point whoever is there is taken, however prominent the others are
 * @returns {Promise<Choice>}
 */
async function choosePlayer(photo, seen, company, point) {
  const qualified = (/** @type {Person} */ one) => bestPlayer(photo, [one], seen.faces, !isLikely(one));
  const chosenOf = (/** @type {Seen} */ among) =>
    point ? choiceAt(photo, point, { ...among, qualified }) : playerAmong(photo, among);
  const chosen = await chosenOf(seen);
  if (chosen) return checkPlayer(photo, chosen, seen, company);
  // In a smaller photo, a player too small to be found at once would give a blurred card.
  if (photo.scale >= 1) return nobodyIn(photo, point);
  const people = await findDistantPeople(photo.search);
  const distant = await chosenOf({ people, faces: [] });
  if (!distant) return nobodyIn(photo, point);
  if (standsAlone(distant.player, photo.search))
    return checkPlayer(photo, distant, { people, faces: seen.faces }, company);
  if (point) return { refusal: "overlapped" };
  return isNear(distant.player, photo.search) ? { refusal: "several_people" } : nobodyIn(photo, point);
}

/** @param {Photo} photo @param {Point | null} point @returns {Choice} */
function nobodyIn(photo, point) {
  const { width, height } = photo.search;
  const light = lightFault(lookOf(photo, { x: 0, y: 0, width, height }));
  return { refusal: light ?? (point ? "nobody_at_focus" : "no_player") };
}

/** @param {Photo} photo @param {Seen} seen @returns {Promise<Chosen | null>} */
async function playerAmong(photo, { people, faces }) {
  const foremost = people.slice(0, MAX_CANDIDATES);
  // The quick pose network misses some people seen from behind, of whom the person detector is sure.
  const clear = foremost.filter(({ score }) => score >= PERSON_SCORE.faceless);
  return (
    (await bestPlayer(photo, foremost, faces, false)) ??
    (await playerOfFace(photo, faces)) ??
    (await bestPlayer(photo, clear, faces, true))
  );
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
