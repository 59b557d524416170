import { matchPhotos, type NamedPlayer, type PhotoMatches } from "../../app/batches/match-photos.ts";
import {
  cardsOfList,
  faultsInList,
  type ListFault,
  type Target,
  targetsFor,
} from "../../app/batches/squad-cards.ts";
import { obeyConsents } from "../../app/people/consent.ts";
import type { CreateImageRequest } from "../../core/image-request.ts";
import { uploadUrl } from "../../core/own-photos.ts";
import { checkCards } from "../../http/batch-body.ts";
import type { MemberVisit } from "../visit.ts";
import type { Draft } from "./list-store.ts";

/** What a list's columns can mean with a template. */
export async function targetsOf({ deps }: MemberVisit, preset: string): Promise<Target[]> {
  const { manifest } = await deps.templates.current(preset);
  return targetsFor(manifest.fields);
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
  const { list, mapping, style, photos = [] } = draft;
  const targets = await targetsOf(visit, style.preset);
  const cards = cardsOfList(list, targets, mapping, style) as { player: Record<string, unknown> }[];
  const text = (value: unknown) => String(value ?? "");
  const players = cards.map(({ player }) => ({
    externalId: text(player.external_id),
    name: text(player.name),
    number: text(player.number),
  }));
  const matches = matchPhotos(players, photos);
  for (const [row, { photo }] of matches.matched) {
    const { player } = cards[row] ?? {};
    // Before the address of the list: who sends a photo means it.
    if (player) player.source_image_url = uploadUrl(visit.deps.config, photos[photo]?.id ?? "");
  }
  const withoutPhoto = cards.flatMap(({ player }, row) =>
    player.source_image_url === undefined ? [row] : [],
  );
  return { targets, cards, players, matches, withoutPhoto };
}

export interface Checked {
  faults: ListFault[];
  /** The cards that can be made. */
  requests: CreateImageRequest[];
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
  const { targets, cards, withoutPhoto } = await draftCards(visit, draft);
  const { requests, places, details } = await checkCards(cards, deps.config, deps.templates);
  const sent = new Map(places.map((at, n) => [at, requests[n] as CreateImageRequest]));
  for (const [at, card] of cards.entries()) {
    const { player } = card as CreateImageRequest;
    // What has other faults, such as no name, is asked about too: all of them are told at once.
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
  const { faults, sound } = faultsInList(list, targets, mapping, worded);
  const obeying = new Map(rows.map((row, n) => [row, allowed.requests[n] as CreateImageRequest]));
  return { faults, requests: sound.flatMap((row) => obeying.get(row) ?? []) };
}
