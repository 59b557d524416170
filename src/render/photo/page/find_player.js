import { findFaces, findPeople, maskPeople, readPose, squareAround, wholePicture } from "./detectors.js";
import { boundsAbove, dilate, sampleMask, smoothStep } from "./masks.js";

/** @import { Face, Person, Point, Pose } from "./detectors.js" */
/** @import { Grid, Mask, Numbers, Rect } from "./masks.js" */

/**
 * Everything known about one person, in search pixels.
 * @typedef {object} Finding
 * @property {number} detector the person detector's score
 * @property {Pose | null} pose
 * @property {Mask} people what the person mask network sees around the body
 * @property {Rect} body
 * @property {Face | null} face
 * @property {{ centre: Point, height: number }} head
 * @property {Mask[]} rivals the poses of other people who may overlap the player
 * @property {number} cover part of the pose's mask that the person mask agrees with
 */

/** @typedef {{ player: Finding } | { refusal: "no_player" | "player_too_small" | "face_cut" }} Search */

/** A face of which the photo shows less than this part is cut off at its edge. */
const MIN_FACE_INSIDE = 0.75;

/** Scores below these are not looked at any further. */
const MIN_FACE_SCORE = 0.2;
const MIN_PERSON_SCORE = 0.25;
const MIN_PRESENCE = 0.5;
/** So many of the most prominent people are looked at; further ones are background. */
const MAX_CANDIDATES = 3;

/** A player below this part of the photo's height, or below so many pixels, gives a blurred card. */
const MIN_PLAYER_PART = 0.12;
const MIN_PLAYER_PX = 120;

/** A face this sure on the whole photo needs no body to confirm it. */
const SURE_FACE_SCORE = 0.75;
/** A face on the head's close-up this sure is the player's own. */
const OWN_FACE_SCORE = 0.35;

/** The agreement of masks is counted on a grid of this many cells on the longer side. */
const COVER_GRID_CELLS = 200;

/** Nobody's face is seen from behind: the person detector has to be this sure. */
const FACELESS_SCORE = 0.65;

/** A face in the player's surroundings this sure is somebody else's. */
const RIVAL_FACE_SCORE = 0.4;
/** Side of the overlapping parts in which small faces are looked for. */
const FACE_SEARCH_PART = 0.6;

/** A pose that lies so far within the player's is the player's own, found twice. */
const SAME_PERSON_PART = 0.5;

/**
 * Sides of the overlapping squares in which players far away are looked for, as parts of the photo's longer side. Only in
 * photos with more pixels than the search picture: in others a player this small gives a blurred card.
 */
const CLOSER_LOOK_PART = 0.5;
/** Around a player this far away, other people may take so much of the room the player takes: 0.1 measured, a crowd 0.7. */
const MAX_COMPANY = 0.35;
/** Two people whose middles lie closer than this part of their size are one, seen in two squares. */
const SAME_PLACE_PART = 0.3;

/** A body is about this many face heights tall when only the face is known to be there. */
const BODY_PER_FACE = 3;

/**
 * Looks for the most prominent player. Several networks have to agree: a pose alone is also seen in dogs and towers.
 * @param {OffscreenCanvas} picture
 * @param {number} scale search pixels for one photo pixel
 * @returns {Promise<Search>}
 */
export async function findPlayer(picture, scale) {
  const whole = wholePicture(picture);
  const faces = await findFaces(picture, whole, MIN_FACE_SCORE);
  const people = (await findPeople(picture, whole, MIN_PERSON_SCORE)).slice(0, MAX_CANDIDATES);
  people.sort((a, b) => prominence(b, picture) - prominence(a, picture));
  const player = await firstPlayer(picture, people, false);
  if (player) return checkPlayer(player, picture, scale);
  const face = faces[0];
  if (face && face.score >= SURE_FACE_SCORE)
    return checkPlayer(await examineFace(picture, face), picture, scale);
  // The quick pose network misses people seen from behind, whom the person detector is sure of.
  const turnedAway = await firstPlayer(picture, people.filter(isClear), true);
  if (turnedAway) return checkPlayer(turnedAway, picture, scale);
  if (scale >= 1) return { refusal: "no_player" };
  const distant = await findDistantPeople(picture);
  const farAway =
    (await firstPlayer(picture, distant, false)) ??
    (await firstPlayer(picture, distant.filter(isClear), true));
  if (!farAway || !standsAlone(farAway, picture)) return { refusal: "no_player" };
  return checkPlayer(farAway, picture, scale);
}

const isClear = (/** @type {Person} */ person) => person.score >= FACELESS_SCORE;

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
  return people.slice(0, MAX_CANDIDATES);
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
 * The first of the people who passes for a player, with the rivals around.
 * @param {OffscreenCanvas} picture @param {Person[]} people @param {boolean} carefully
 * @returns {Promise<Finding | null>}
 */
async function firstPlayer(picture, people, carefully) {
  for (const person of people) {
    const finding = await examine(picture, person, carefully);
    if (!finding || !(await isPlayer(picture, finding))) continue;
    return { ...finding, rivals: await findRivals(picture, person, finding, people) };
  }
  return null;
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
 * @param {OffscreenCanvas} picture @param {Person} person @param {boolean} carefully
 * @returns {Promise<Finding | null>}
 */
async function examine(picture, person, carefully) {
  const pose = await readPose(picture, person.crop, carefully);
  if (pose.presence < MIN_PRESENCE) return null;
  const grid = coverGrid(picture);
  const posed = sampleMask(pose.mask, grid);
  const cells = boundsAbove(posed, grid.width, 0.5);
  if (!cells) return null;
  const body = {
    x: cells.x * grid.step,
    y: cells.y * grid.step,
    width: cells.width * grid.step,
    height: cells.height * grid.step,
  };
  const people = await maskPeople(picture, squareAround(body, 0.15));
  const masked = sampleMask(people, grid);
  const head = headOf(pose);
  const closeUp = {
    cx: head.centre.x,
    cy: head.centre.y,
    width: head.closeUp,
    height: head.closeUp,
    rotation: 0,
  };
  const face = (await findFaces(picture, closeUp, 0.1))[0] ?? null;
  return {
    detector: person.score,
    pose,
    people,
    body,
    face,
    head,
    rivals: [],
    cover: sharedPart(posed, masked),
  };
}

/** @param {OffscreenCanvas} picture @returns {Grid} */
function coverGrid(picture) {
  const step = Math.max(picture.width, picture.height) / COVER_GRID_CELLS;
  return {
    x: 0,
    y: 0,
    width: Math.ceil(picture.width / step),
    height: Math.ceil(picture.height / step),
    step,
  };
}

/**
 * The head's place from the eleven face landmarks, its size from the shoulders or the trunk, whichever is seen longer.
 * @param {Pose} pose
 */
function headOf({ points }) {
  const at = (/** @type {number} */ i) => /** @type {Point} */ (points[i]);
  const middle = (/** @type {Point} */ a, /** @type {Point} */ b) => ({
    x: (a.x + b.x) / 2,
    y: (a.y + b.y) / 2,
  });
  const ofFace = points.slice(0, 11);
  const centre = {
    x: ofFace.reduce((sum, point) => sum + point.x, 0) / ofFace.length,
    y: ofFace.reduce((sum, point) => sum + point.y, 0) / ofFace.length,
  };
  const shoulders = middle(at(11), at(12));
  const hips = middle(at(23), at(24));
  const shoulderWidth = Math.hypot(at(11).x - at(12).x, at(11).y - at(12).y);
  const trunk = Math.hypot(shoulders.x - hips.x, shoulders.y - hips.y);
  const closeUp = 1.6 * Math.max(24, 1.6 * Math.max(shoulderWidth, 0.55 * trunk));
  return { centre, height: closeUp / 2.6, closeUp };
}

/**
 * The thresholds were tuned on 65 labelled photos and tried on 1,000 unlabelled ones.
 * @param {OffscreenCanvas} picture @param {Finding} finding
 */
async function isPlayer(picture, finding) {
  const presence = finding.pose?.presence ?? 0;
  const { detector, cover } = finding;
  const face = finding.face?.score ?? 0;
  if (presence >= 0.9 && cover >= 0.5) {
    if (detector >= 0.5 && face >= OWN_FACE_SCORE) return true;
    if (detector >= 0.4 && face >= 0.5) return true;
  }
  // Nobody's face is seen from behind: then the detector must be as sure of the close-up as of the whole photo.
  if (presence < 0.95 || cover < 0.85 || detector < FACELESS_SCORE) return false;
  const again = await findPeople(picture, squareAround(finding.body, 0.3), 0.1);
  return (again[0]?.score ?? 0) >= 0.88;
}

/**
 * The masks of other people whose surroundings overlap the player's body.
 * @param {OffscreenCanvas} picture @param {Person} player @param {Finding} finding @param {Person[]} people
 * @returns {Promise<Mask[]>}
 */
async function findRivals(picture, player, { body, pose, head }, people) {
  const grid = coverGrid(picture);
  const posed = pose && sampleMask(pose.mask, grid);
  const rivals = [];
  for (const person of people) {
    const { cx, cy, width } = person.crop;
    const apartX = Math.abs(cx - body.x - body.width / 2) - body.width / 2 - width / 2;
    const apartY = Math.abs(cy - body.y - body.height / 2) - body.height / 2 - width / 2;
    if (person === player || apartX > 0 || apartY > 0) continue;
    const rival = await readPose(picture, person.crop);
    if (rival.presence < MIN_PRESENCE) continue;
    // The detector may have found the player twice.
    const shared = posed ? sharedPart(sampleMask(rival.mask, grid), posed) : 0;
    if (shared < SAME_PERSON_PART) rivals.push(rival.mask);
  }
  for (const other of await facesAround(picture, body)) {
    const x = other.x + other.width / 2;
    const y = other.y + other.height / 2;
    if (Math.hypot(x - head.centre.x, y - head.centre.y) <= head.height) continue;
    // Knees and badges look like small faces; what lies on the player's own body is the player's.
    const cell = Math.floor(y / grid.step) * grid.width + Math.floor(x / grid.step);
    if (!posed || !(posed[cell] > 0.5)) rivals.push(headAndShoulders(other));
  }
  return rivals;
}

/**
 * The faces in a body's surroundings: looked for in all of them and in four overlapping parts, where the small faces of
 * people further behind are large enough to be seen.
 * @param {OffscreenCanvas} picture @param {Rect} body
 * @returns {Promise<Face[]>}
 */
async function facesAround(picture, body) {
  const all = squareAround(body, 0.3);
  const side = FACE_SEARCH_PART * all.width;
  const away = (all.width - side) / 2;
  const parts = [-away, away].flatMap((dy) =>
    [-away, away].map((dx) => ({ ...all, cx: all.cx + dx, cy: all.cy + dy, width: side, height: side })),
  );
  const found = [];
  for (const crop of [all, ...parts]) found.push(...(await findFaces(picture, crop, RIVAL_FACE_SCORE)));
  return found;
}

/** A soft round mask over somebody's head and shoulders. @param {Face} face @returns {Mask} */
function headAndShoulders({ x, y, width, height }) {
  const size = 16;
  const values = Float32Array.from({ length: size * size }, (_, i) => {
    const dx = ((i % size) + 0.5) / size - 0.5;
    const dy = (Math.floor(i / size) + 0.5) / size - 0.5;
    return 1 - smoothStep(2 * Math.hypot(dx, dy), 0.8, 1);
  });
  const crop = { cx: x + width / 2, cy: y + 0.8 * height, width: 3 * width, height: 3 * height, rotation: 0 };
  return { values, width: size, height: size, crop };
}

/** The part of the first mask's cells that the second one has too. @param {Numbers} one @param {Numbers} other */
function sharedPart(one, other) {
  let cells = 0;
  let shared = 0;
  for (let i = 0; i < one.length; i++) {
    if (one[i] <= 0.5) continue;
    cells++;
    if (other[i] > 0.5) shared++;
  }
  return cells > 0 ? shared / cells : 0;
}

/**
 * A portrait so close that no body is found in it.
 * @param {OffscreenCanvas} picture @param {Face} face
 * @returns {Promise<Finding>}
 */
async function examineFace(picture, face) {
  const surroundings = {
    x: face.x - face.width,
    y: face.y - face.height,
    width: 3 * face.width,
    height: 4 * face.height,
  };
  const people = await maskPeople(picture, squareAround(surroundings, 0));
  const body = {
    x: face.x - face.width / 2,
    y: face.y - face.height / 2,
    width: 2 * face.width,
    height: BODY_PER_FACE * face.height,
  };
  const centre = { x: face.x + face.width / 2, y: face.y + face.height / 2 };
  return {
    detector: 0,
    pose: null,
    people,
    body,
    face,
    head: { centre, height: 1.5 * face.height },
    rivals: [],
    cover: 1,
  };
}

/**
 * @param {Finding} player @param {OffscreenCanvas} picture @param {number} scale
 * @returns {Search}
 */
function checkPlayer(player, picture, scale) {
  const { height } = player.body;
  const tooSmall = height < MIN_PLAYER_PART * picture.height || height / scale < MIN_PLAYER_PX;
  if (tooSmall) return { refusal: "player_too_small" };
  const ownFace = player.face && player.face.score >= OWN_FACE_SCORE ? player.face : null;
  if (ownFace && partInside(ownFace, picture) < MIN_FACE_INSIDE) return { refusal: "face_cut" };
  return { player: { ...player, face: ownFace } };
}

/** The part of a face that the picture shows. @param {Rect} face @param {OffscreenCanvas} picture */
function partInside({ x, y, width, height }, picture) {
  const across = Math.min(picture.width, x + width) - Math.max(0, x);
  const down = Math.min(picture.height, y + height) - Math.max(0, y);
  return (Math.max(0, across) * Math.max(0, down)) / (width * height);
}
