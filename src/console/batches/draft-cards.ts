import { newCards } from "../../app/batches/batch-cards.ts";
import {
  type MatchedBy,
  matchPhotos,
  type NamedPlayer,
  type PhotoMatches,
} from "../../app/batches/match-photos.ts";
import {
  areNamesIds,
  cardsOfList,
  faultsInList,
  type ListFault,
  SET_TARGETS,
  type Target,
  targetsFor,
} from "../../app/batches/squad-cards.ts";
import { obeyConsents } from "../../app/people/consent.ts";
import { findFreePlaces } from "../../app/sets/set-places.ts";
import { type ErrorDetail, OperatorError, Refusal } from "../../core/errors.ts";
import type { CreateImageRequest } from "../../core/image-request.ts";
import { MAX_BATCH_CARDS } from "../../core/limits.ts";
import { uploadUrl } from "../../core/own-photos.ts";
import { checkCards } from "../../http/batch-body.ts";
import { type CardSet, playersOfSet } from "../../store/sets/card-sets.ts";
import { hasFoil } from "../../templates/load.ts";
import type { MemberVisit } from "../visit.ts";
import type { Draft } from "./list-store.ts";

/**
 * What a list's columns can mean with a template, and with a set. Throws INVALID_REQUEST where the template
 * is gone.
 */
export async function targetsOf(
  { deps }: MemberVisit,
  preset: string,
  set: CardSet | undefined,
): Promise<Target[]> {
  const template = await deps.templates.current(preset).catch((error) => {
    if (!(error instanceof OperatorError)) throw error;
    throw new Refusal(
      "INVALID_REQUEST",
      `The list's template ${preset} cannot be used any more. Open the list's columns and choose another.`,
      { cause: error },
    );
  });
  return [
    ...(set ? SET_TARGETS : []),
    ...targetsFor(template.manifest.fields, { back: template.back !== null, foil: hasFoil(template) }),
  ];
}

export interface DraftCards {
  targets: Target[];
  /** The create request of each row, not validated, with its photo's address where one was sent along. */
  cards: unknown[];
  players: NamedPlayer[];
  matches: PhotoMatches;
  /** The rows that have neither an address nor a photo. */
  withoutPhoto: number[];
}

/** What a list comes to with the columns chosen for it and the photos sent along. */
export async function draftCards(visit: MemberVisit, draft: Draft): Promise<DraftCards> {
  const { list, mapping, style, set, photos = [] } = draft;
  const targets = await targetsOf(visit, style.preset, set);
  const cards = cardsOfList(list, targets, mapping, style, set?.id) as { player: Record<string, unknown> }[];
  if (set && areNamesIds(mapping)) await useIdsOfSet(visit, set, cards);
  const text = (value: unknown) => String(value ?? "");
  const players = cards.map(({ player }) => ({
    externalId: text(player.external_id),
    name: text(player.name),
    number: text(player.number),
  }));
  const matches = matchPhotos(players, photos);
  for (const [row, { photo }] of matches.matched) {
    const { player } = cards[row] ?? {};
    if (!player) continue;
    // Before the address of the list: who sends a photo means it.
    player.source_image_url = uploadUrl(visit.deps.config, photos[photo]?.id ?? "");
    const { focus } = photos[photo] ?? {};
    if (focus) player.focus = focus;
  }
  const withoutPhoto = cards.flatMap(({ player }, row) =>
    player.source_image_url === undefined ? [row] : [],
  );
  return { targets, cards, players, matches, withoutPhoto };
}

/**
 * Gives the players of a list without ids those by which the set's checklist knows them: by names that are
 * there once.
 */
async function useIdsOfSet(
  { deps }: MemberVisit,
  { id }: CardSet,
  cards: readonly { player: Record<string, unknown> }[],
): Promise<void> {
  const plain = (name: unknown) => String(name).normalize("NFKC").trim().toLowerCase();
  const named = Map.groupBy(await playersOfSet(deps.store.read, id), ({ name }) => plain(name));
  for (const { player } of cards) {
    const [known, ...others] = named.get(plain(player.name)) ?? [];
    if (known && others.length === 0) player.external_id = known.externalId;
  }
}

/** A photo sent along, and what shows that it is the player's. */
interface MatchedPhoto {
  id: string;
  by: MatchedBy;
}

export interface Checked {
  faults: ListFault[];
  /** The rows whose cards can be made. */
  requests: CreateImageRequest[];
  /** How many cards each of them stands for. */
  counts: number[];
  /** The photo sent along for each of them; undefined where the list has an address. */
  photos: (MatchedPhoto | undefined)[];
}

/** All the cards that a checked list comes to. */
export function cardsOfChecked({ requests, counts }: Pick<Checked, "requests" | "counts">) {
  return requests.flatMap((request, at) => Array<CreateImageRequest>(counts[at] ?? 1).fill(request));
}

/** What the API would say about each row: the same checks. */
export function checkDraft(visit: MemberVisit, draft: Draft): Promise<Checked> {
  return visit.lists.check(draft, visit.now, () => checkRows(visit, draft));
}

/**
 * The same for what a page asks of it again and again: as it was when the page was made, if that is recent.
 */
export function checkedDraft(visit: MemberVisit, draft: Draft): Promise<Checked> {
  return visit.lists.checked(draft, visit.now, () => checkRows(visit, draft));
}

async function checkRows(visit: MemberVisit, draft: Draft): Promise<Checked> {
  const { deps, account, now } = visit;
  const { list, mapping } = draft;
  const { targets, cards, matches, withoutPhoto } = await draftCards(visit, draft);
  const { requests, places, counts, details } = await checkCards(cards, deps.config, deps.templates);
  const countAt = new Map(places.map((at, n) => [at, counts[n] ?? 1]));
  const sent = new Map(places.map((at, n) => [at, requests[n] as CreateImageRequest]));
  for (const [at, card] of cards.entries()) {
    const { player } = card as CreateImageRequest;
    // What has other faults, such as no name, is asked about too: all of them are reported at once.
    if (!sent.has(at) && typeof player.external_id === "string")
      sent.set(at, { ...(card as CreateImageRequest), player: { ...player, name: "" } });
  }
  const rows = [...sent.keys()];
  // With as much of the names as their players allow: so they are previewed and counted.
  const allowed = await obeyConsents(deps.store.read, account.id, [...sent.values()], now);
  const ofConsent = allowed.faults.map(({ at, detail }) => ({
    ...detail,
    field: `cards[${rows[at]}].${detail.field}`,
  }));
  const missing = new Set(withoutPhoto.map((row) => `cards[${row}].player.source_image_url`));
  const worded = [...details, ...ofConsent].map((detail) =>
    missing.has(detail.field)
      ? { ...detail, message: "is missing: add a photo under Photos, or write its address into the list." }
      : detail,
  );
  const obeying = new Map(rows.map((row, n) => [row, allowed.requests[n] as CreateImageRequest]));
  const sound = (all: ErrorDetail[]) =>
    faultsInList(list, targets, mapping, all).sound.flatMap((at) => {
      const request = obeying.get(at);
      return request ? [{ at, request, count: countAt.get(at) ?? 1 }] : [];
    });
  worded.push(...tooMany(sound(worded)));
  // Who is not on the checklist is reported first; the numbers of the others are looked at without them.
  for (let more = await placeFaults(visit, draft, sound(worded)); more.length > 0; ) {
    worded.push(...more);
    more = await placeFaults(visit, draft, sound(worded));
  }
  const left = sound(worded);
  return {
    faults: faultsInList(list, targets, mapping, worded).faults,
    requests: left.map(({ request }) => request),
    counts: left.map(({ count }) => count),
    photos: left.map(({ at }) => {
      const match = matches.matched.get(at);
      const photo = match && draft.photos?.[match.photo];
      return photo && { id: photo.id, by: match.by };
    }),
  };
}

interface SoundRow {
  at: number;
  request: CreateImageRequest;
  count: number;
}

/** The rows with whose cards there would be more than a batch takes. */
function tooMany(rows: SoundRow[]): ErrorDetail[] {
  let total = 0;
  return rows.flatMap(({ at, count }) => {
    total += count;
    if (total <= MAX_BATCH_CARDS) return [];
    total -= count;
    const most = MAX_BATCH_CARDS.toLocaleString("en-US");
    return [
      {
        field: `cards[${at}].set.count`,
        message: `makes more than ${most} cards: make the rest from another list.`,
      },
    ];
  });
}

/** Why rows can have no place in the list's set, of those that are not made yet. */
async function placeFaults(
  { deps, account, now }: MemberVisit,
  { set }: Draft,
  rows: SoundRow[],
): Promise<ErrorDetail[]> {
  if (!set) return [];
  const { environment } = set;
  const wishes = rows.flatMap(({ at, request, count }) =>
    Array.from({ length: count }, () => ({ request, field: `cards[${at}].` })),
  );
  const requests = wishes.map(({ request }) => request);
  const fresh = new Set(await newCards(deps.store.read, { account, environment, requests }, now));
  try {
    const scope = { accountId: account.id, environment };
    const asked = wishes.filter((_, n) => fresh.has(n));
    await findFreePlaces(deps.store.read, scope, asked, { now, lock: false });
    return [];
  } catch (error) {
    if (error instanceof Refusal && error.details && error.details.length > 0) return [...error.details];
    throw error;
  }
}
