import type { Focus } from "../../../core/card.ts";
import { playerOfFace } from "./by-face.ts";
import { type Choice, type Company, checkPlayer, type Seen } from "./check-player.ts";
import { makeSharp, type Photo, turnPhoto } from "./decode.ts";
import { type Face, findFaces, findPeople, type Person, wholePicture } from "./detectors.ts";
import { findDistantPeople, isNear, standsAlone } from "./distant.ts";
import { type Chosen, examine, hasHeadInside, type Subject } from "./examine.ts";
import { choiceAt } from "./focus.ts";
import { isPlayer } from "./is-player.ts";
import { byProminence, MAX_PEOPLE, prominence, weightOf } from "./prominence.ts";
import { faceQuality, lightFault, SHARP_FACE_PX } from "./quality.ts";
import type { Point } from "./rects.ts";
import { FACE_SCORE, PERSON_SCORE } from "./scores.ts";
import { findTurn } from "./upright.ts";

/** `photo` may be a turned copy. */
export type Search = Choice & { photo: Photo };

/** How many prominent people may be the player; the others are background. */
const MAX_CANDIDATES = 3;
/** Others are examined too from this part of the most prominent player's prominence on. */
const CONTENDER_PART = 0.5;

const isLikely = (person: Person) => person.score >= PERSON_SCORE.likely;

/**
 * Finds the most prominent player. Several networks have to agree, because dogs and towers have poses too.
 * When the photo lies on its side, the search is done on a turned copy, which is returned.
 * @param given its bitmap is closed if the photo is turned
 * @param focus where the player is in the upright photo; the person there is taken
 */
export async function findPlayer(given: Photo, company: Company, focus: Focus | null): Promise<Search> {
  let photo = given;
  let seen = await detectAll(photo.search);
  const turn = await findTurn(photo.search, seen.people.find(isLikely), seen.faces);
  if ("refusal" in turn) return { ...turn, photo };
  if (turn.quarters > 0) {
    photo = turnPhoto(photo, turn.quarters);
    seen = await detectAll(photo.search);
  }
  const largest = Math.max(0, ...seen.faces.map((face) => face.height));
  await makeSharp(photo, { x: 0, y: 0, width: 0, height: largest }, SHARP_FACE_PX);
  const { width, height } = photo.search;
  const point = focus && { x: focus.x * width, y: focus.y * height };
  const choice = await choosePlayer(photo, seen, company, point);
  return { ...choice, photo };
}

async function detectAll(picture: OffscreenCanvas): Promise<Seen> {
  const whole = wholePicture(picture);
  const faces = await findFaces(picture, whole, FACE_SCORE.inPhoto);
  const people = (await findPeople(picture, whole, PERSON_SCORE.inPhoto)).slice(0, MAX_PEOPLE);
  return { faces, people: people.sort(byProminence(picture)) };
}

/**
 * The player among those seen in the whole photo or, if nobody there is one, among those seen by looking
 * closer.
 * @param point the person there is taken, however prominent the others are
 */
async function choosePlayer(
  photo: Photo,
  seen: Seen,
  company: Company,
  point: Point | null,
): Promise<Choice> {
  const qualified = (one: Person) => bestPlayer(photo, [one], seen.faces, !isLikely(one));
  const chosenOf = (among: Seen) =>
    point ? choiceAt(photo, point, among, qualified) : playerAmong(photo, among);
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

function nobodyIn(photo: Photo, point: Point | null): Choice {
  const { width, height } = photo.search;
  const light = lightFault(faceQuality(photo, { x: 0, y: 0, width, height }));
  return { refusal: light ?? (point ? "nobody_at_focus" : "no_player") };
}

async function playerAmong(photo: Photo, { people, faces }: Seen): Promise<Chosen | null> {
  const foremost = people.slice(0, MAX_CANDIDATES);
  // The light pose network misses some people seen from behind, of whom the person detector is sure.
  const clear = foremost.filter(({ score }) => score >= PERSON_SCORE.byBody);
  return (
    (await bestPlayer(photo, foremost, faces, false)) ??
    (await playerOfFace(photo, faces)) ??
    (await bestPlayer(photo, clear, faces, true))
  );
}

/**
 * The best of the people who qualify as a player; among those of similar prominence, the face decides.
 * @param people the most prominent first
 * @param heavy use the heavy pose network
 */
async function bestPlayer(photo: Photo, people: Person[], faces: Face[], heavy: boolean) {
  const picture = photo.search;
  const contenders: { person: Person; subject: Subject; weight: number }[] = [];
  let first = 0;
  for (const person of people) {
    if (prominence(person, picture) < CONTENDER_PART * first) break;
    const subject = await examine(picture, person, faces, heavy);
    if (!subject?.pose || !hasHeadInside(subject.pose, picture)) continue;
    if (!(await isPlayer(picture, subject))) continue;
    first ||= prominence(person, picture);
    contenders.push({ person, subject, weight: weightOf(photo, subject) });
  }
  contenders.sort((a, b) => b.weight - a.weight);
  const [best, ...others] = contenders;
  return best ? { player: best.subject, person: best.person, others } : null;
}
