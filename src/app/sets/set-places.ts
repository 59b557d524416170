import type { Environment } from "../../core/account.ts";
import { isClosed, isNumbered, type Parallel, type SetPlace, SHIRT_NUMBER } from "../../core/card-set.ts";
import type { ErrorDetail } from "../../core/errors.ts";
import type { CreateImageRequest } from "../../core/image-request.ts";
import { MAX_PARALLEL_SIZE } from "../../core/limits.ts";
import { editionClosed, invalidRequest, parallelFull, serialTaken } from "../../core/partner-refusals.ts";
import { isoTime } from "../../core/time.ts";
import { placesShown } from "../../store/images/image-reads.ts";
import type { Image } from "../../store/images/images.ts";
import { type CardSet, checklistPlaces, setsById } from "../../store/sets/card-sets.ts";
import {
  giveSerialsBack,
  insertSetCards,
  keepSerial,
  lowestFree,
  lowestFreeOf,
  markReplaced,
  type SetCard,
  setCardsOf,
  takenSerials,
} from "../../store/sets/set-cards.ts";
import type { Tx } from "../../store/store.ts";

// Numbers of cards go with their credits: held in the transaction that reserves the credit, final in the one
// that settles it, given back in the one that releases it.

/** A card that is asked for. */
export interface Wish {
  request: CreateImageRequest;
  /** Where the request stands in the body, such as `cards[3].`; empty for a single one. */
  field: string;
  /** The card that it is to replace, with its number. */
  replaces?: string | undefined;
  /** The finished card that it is one more picture of, such as for print, with its number. */
  shows?: string | undefined;
  /** Whether another card of the same request is there already. */
  hasCopy?: boolean;
}

/** A place in a set that a card may take, as long as the transaction lasts. */
export interface FreePlace {
  place: SetPlace;
  /** The player's position in the checklist. */
  player: number;
  replaces: string | null;
  /** Whether another card has the number, and this is only one more picture of it. */
  isShared: boolean;
}

interface Scope {
  accountId: string;
  environment: Environment;
}

interface Seat extends FreePlace {
  wish: Wish;
  wanted: number | null;
  parallel: Parallel;
}

/**
 * A place for each card that asks for one, in the order asked; null for those that ask for none. Locks the
 * players in their sets, before anything but images: those who end an image lock account and counters after
 * it. Throws INVALID_REQUEST, SERIAL_TAKEN, PARALLEL_FULL and EDITION_CLOSED. `lock: false` only looks
 * whether there would be places.
 */
export async function findFreePlaces(
  tx: Tx,
  scope: Scope,
  wishes: Wish[],
  { now, lock = true }: { now: number; lock?: boolean },
): Promise<(FreePlace | null)[]> {
  const asked = wishes.filter(({ request }) => request.set !== undefined);
  if (asked.length === 0) return wishes.map(() => null);
  const seats = await seatsOf(tx, scope, asked, lock);
  refuseCopies(seats);
  await takeOver(tx, seats);
  refuseClosed(seats, now);
  const numbered = seats.filter((seat) => isNumbered(seat.parallel) && !hasNumber(seat));
  const alike = Map.groupBy(numbered, ({ place }) => JSON.stringify([place.id, place.parallel]));
  for (const own of alike.values()) await number(tx, own);
  const byWish = new Map(seats.map((seat) => [seat.wish, seat]));
  return wishes.map((wish) => byWish.get(wish) ?? null);
}

/** Whether its number is given already: by the card that it replaces, or is one more picture of. */
const hasNumber = ({ replaces, isShared }: FreePlace) => replaces !== null || isShared;

/** Where each stands, before its number is known. Throws for every set, player or parallel there is not. */
async function seatsOf(tx: Tx, scope: Scope, wishes: Wish[], lock: boolean): Promise<Seat[]> {
  const sets = await setsById(tx, scope, [...new Set(wishes.map(({ request }) => request.set?.id ?? ""))]);
  const setIds = [...sets.keys()];
  const externalIds = wishes.map(({ request }) => request.player.external_id);
  const listed = setIds.length > 0 ? await checklistPlaces(tx, { setIds, externalIds, lock }) : [];
  const positions = new Map(listed.map((row) => [JSON.stringify([row.setId, row.externalId]), row.position]));
  // All cards of a run have one place in the request, and its fault is said once.
  const details = new Map<string, ErrorDetail>();
  const seats: Seat[] = [];
  for (const wish of wishes) {
    const { set: own, player } = wish.request;
    const set = sets.get(own?.id ?? "");
    const position = positions.get(JSON.stringify([set?.id, player.external_id]));
    const parallel = set?.parallels.find(({ name }) => name === own?.parallel);
    const fault = faultOf(wish.request, { set, position, parallel });
    if (fault || !set || !parallel || position === undefined) {
      const field = wish.field + fault?.field;
      if (fault) details.set(field, { ...fault, field });
      continue;
    }
    const { id, name, season } = set;
    const place = { id, name, season, parallel: parallel.name, serial: null, size: parallel.size };
    const wanted = own?.serial === SHIRT_NUMBER ? player.number : (own?.serial ?? null);
    seats.push({ wish, place, player: position, replaces: null, isShared: false, wanted, parallel });
  }
  if (details.size > 0) throw invalidRequest([...details.values()]);
  return seats;
}

/** Why a card can have no place in its set, whichever numbers are free. */
function faultOf(
  { set: own, player }: CreateImageRequest,
  found: { set: CardSet | undefined; position: number | undefined; parallel: Parallel | undefined },
): ErrorDetail | undefined {
  const { set, position, parallel } = found;
  if (!set)
    return { field: "set.id", message: "is not a set of this account and environment. Check the id." };
  if (!parallel) {
    const names = set.parallels.map(({ name }) => `"${name}"`).join(", ");
    return { field: "set.parallel", message: `is not one of the set's parallels, which are ${names}.` };
  }
  if (position === undefined)
    return {
      field: "player.external_id",
      message: "is not on the checklist of the set. Name a player who is, or make another set.",
    };
  const { serial } = own ?? {};
  if (serial === undefined) return undefined;
  if (parallel.size === null) {
    const why = isNumbered(parallel)
      ? "is an open edition, whose cards are numbered in the order they are asked for"
      : "has no size, and no numbers";
    return { field: "set.serial", message: `must be left out: "${parallel.name}" ${why}.` };
  }
  const number = serial === SHIRT_NUMBER ? player.number : serial;
  if (number > parallel.size)
    return {
      field: "set.serial",
      message: `must be at most ${parallel.size}, the size of "${parallel.name}"; it is ${number}.`,
    };
  return undefined;
}

/** Refuses a second card of one wish where no numbers tell them apart. Throws INVALID_REQUEST. */
function refuseCopies(seats: Seat[]): void {
  const wishes = new Set<string>();
  const details = new Map<string, ErrorDetail>();
  for (const { wish, place, parallel } of seats) {
    const field = `${wish.field}set.count`;
    if (wish.replaces !== undefined || wish.shows !== undefined) continue;
    if (!isNumbered(parallel) && (wish.hasCopy || wishes.has(field)))
      details.set(field, {
        field,
        message: `must be 1 or left out: "${place.parallel}" has no size, so that all would be the same picture. Have one made, and as many printed as you need.`,
      });
    wishes.add(field);
  }
  if (details.size > 0) throw invalidRequest([...details.values()]);
}

/**
 * Gives those that replace a card of the same parallel its number, and lets those that are one more picture
 * of a card show it; what replaces such a picture is one again. Throws SERIAL_TAKEN.
 */
async function takeOver(tx: Tx, seats: Seat[]): Promise<void> {
  const ids = seats.flatMap(({ wish }) => wish.shows ?? wish.replaces ?? []);
  const cards = await setCardsOf(tx, ids);
  const rest = ids.filter((id) => !cards.has(id));
  const pictures = await placesShown(tx, rest);
  const taken: ErrorDetail[] = [];
  for (const seat of seats) {
    const id = seat.wish.shows ?? seat.wish.replaces ?? "";
    const card = cards.get(id);
    if (!card) share(seat, pictures.get(id));
    const fault = card && (seat.wish.shows === undefined ? replace(seat, card) : show(seat, card));
    if (fault) taken.push({ field: `${seat.wish.field}set`, message: `cannot be kept: the card ${fault}` });
  }
  if (taken.length > 0) throw serialTaken(taken);
}

const isOf = ({ place, player }: Seat, card: SetCard) =>
  card.setId === place.id && card.parallel === place.parallel && card.player === player;

/** Gives the number of a card to what is to replace it. Returns why it cannot have it. */
function replace(seat: Seat, card: SetCard): string | undefined {
  if (!isOf(seat, card) || card.state === "released") return undefined;
  if (card.state === "final") {
    seat.place = { ...seat.place, serial: card.serial };
    seat.replaces = card.imageId;
  } else if (isNumbered(seat.parallel))
    return `${card.state === "held" ? "is still being made" : "was replaced by another, which has its number"}. Make that one again.`;
  return undefined;
}

/**
 * Lets a picture show the number of a card, given for good, also where another has it by now. Returns why
 * not.
 */
function show(seat: Seat, card: SetCard): string | undefined {
  if (!isOf(seat, card) || card.state === "released" || card.state === "held")
    return "is not finished. Wait until it is.";
  return share(seat, { ...seat.place, serial: card.serial });
}

function share(seat: Seat, shown: SetPlace | undefined): undefined {
  const { place } = seat;
  if (shown?.id !== place.id || shown.parallel !== place.parallel) return;
  seat.place = { ...place, serial: shown.serial };
  seat.isShared = true;
}

/**
 * Refuses cards that would make a closed edition larger; one that replaces another keeps its number. Throws
 * EDITION_CLOSED.
 */
function refuseClosed(seats: Seat[], now: number): void {
  const details = new Map<string, ErrorDetail>();
  for (const seat of seats) {
    const { wish, parallel } = seat;
    if (hasNumber(seat) || !isClosed(parallel, now)) continue;
    const field = `${wish.field}set.parallel`;
    const at = isoTime(parallel.closesAt ?? now);
    details.set(field, {
      field,
      message: `is closed: no card of "${parallel.name}" can be added since ${at}.`,
    });
  }
  if (details.size > 0) throw editionClosed([...details.values()]);
}

/** Gives cards of one parallel their numbers. Throws SERIAL_TAKEN and PARALLEL_FULL. */
async function number(tx: Tx, seats: Seat[]): Promise<void> {
  const [{ place: first }] = seats as [Seat];
  const { id: setId, parallel } = first;
  const wishing = seats.flatMap(({ player, wanted }) =>
    wanted === null ? [] : [{ player, serial: wanted }],
  );
  const found = wishing.length > 0 ? await takenSerials(tx, { setId, parallel, wanted: wishing }) : [];
  const given = new Set(found.map(({ player, serial }) => numberKey(player, serial)));
  const taken: ErrorDetail[] = [];
  for (const { wish, place, player, wanted } of seats) {
    if (wanted === null) continue;
    const key = numberKey(player, wanted);
    if (given.has(key))
      taken.push({
        field: `${wish.field}set.serial`,
        message: `is taken: another card has ${wanted} of ${place.size}. Ask for another number, or for none.`,
      });
    given.add(key);
  }
  if (taken.length > 0) throw serialTaken(taken);
  const free = await freeNumbers(tx, { setId, parallel }, seats, given);
  const full: Seat[] = [];
  for (const seat of seats) {
    const { place, player, wanted } = seat;
    const size = place.size ?? MAX_PARALLEL_SIZE;
    const serial = wanted ?? free.get(player)?.shift() ?? size + 1;
    if (serial > size) full.push(seat);
    else seat.place = { ...place, serial };
  }
  // Cards of one wish share its field, which is named once.
  const faults = new Map(full.map((seat) => [`${seat.wish.field}set.parallel`, fullMessage(seats, seat)]));
  if (faults.size > 0) throw parallelFull([...faults].map(([field, message]) => ({ field, message })));
}

const numberKey = (player: number, serial: number | null) => `${player} ${serial}`;

/** Enough of each player's free numbers for those of the seats that ask for any; `given` ones are not. */
async function freeNumbers(
  tx: Tx,
  of: { setId: string; parallel: string },
  seats: Seat[],
  given: ReadonlySet<string>,
): Promise<Map<number, number[]>> {
  const byPlayer = Map.groupBy(seats, ({ player }) => player);
  const players = [...byPlayer].flatMap(([player, own]) =>
    own.some(({ wanted }) => wanted === null) ? [{ player, count: own.length }] : [],
  );
  const single = players.filter(({ count }) => count === 1).map(({ player }) => player);
  const lowest = await lowestFree(tx, { ...of, players: single });
  const free = new Map([...lowest].map(([player, serial]) => [player, [serial]]));
  for (const { player, count } of players) {
    if (count === 1) continue;
    const numbers = await lowestFreeOf(tx, { ...of, player, count });
    free.set(
      player,
      numbers.filter((serial) => !given.has(numberKey(player, serial))),
    );
  }
  return free;
}

/** Why a seat that asks for any number got none, when all other seats have theirs. */
function fullMessage(seats: Seat[], { player, place }: Seat): string {
  const { parallel } = place;
  const size = place.size ?? MAX_PARALLEL_SIZE;
  const own = seats.filter((seat) => seat.player === player);
  const left = own.filter(({ place }) => place.serial !== null).length;
  return left === 0
    ? `is full: the player has all ${size} cards of "${parallel}".`
    : `is too small: of the ${size} cards of "${parallel}" the player has ${left} left, and ${own.length} are asked for.`;
}

/**
 * Writes down the places of images that have just been inserted; those of the cards they replace pass on, and
 * one more picture of a card has none of its own.
 */
export async function holdPlaces(
  tx: Tx,
  taken: { imageId: string; free: FreePlace | null }[],
  now: number,
): Promise<void> {
  const cards = taken.flatMap(({ imageId, free }): SetCard[] => {
    if (free === null || free.isShared) return [];
    const { place, player, replaces } = free;
    const { id: setId, parallel, serial, size } = place;
    const row = { imageId, setId, player, parallel, serial, size, createdAt: now };
    return [{ ...row, state: "held", replacesImageId: replaces }];
  });
  if (cards.length === 0) return;
  await markReplaced(
    tx,
    cards.flatMap(({ replacesImageId }) => replacesImageId ?? []),
  );
  await insertSetCards(tx, cards);
}

/** The image was made: its number is given for good. */
export async function keepPlace(tx: Tx, { id, setPlace }: Pick<Image, "id" | "setPlace">): Promise<void> {
  if (setPlace !== null) await keepSerial(tx, id);
}

/** The images were not made: their numbers are free again. */
export async function givePlacesBack(tx: Tx, images: Pick<Image, "id" | "setPlace">[]): Promise<void> {
  const placed = images.filter(({ setPlace }) => setPlace !== null);
  await giveSerialsBack(
    tx,
    placed.map(({ id }) => id),
  );
}
