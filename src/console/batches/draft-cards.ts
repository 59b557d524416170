import { matchPhotos, type NamedPlayer, type PhotoMatches } from "../../app/batches/match-photos.ts";
import {
  cardsOfList,
  faultsInList,
  type ListFault,
  type Target,
  targetsFor,
} from "../../app/batches/squad-cards.ts";
import { obeyConsents } from "../../app/people/consent.ts";
import type { ErrorDetail } from "../../core/errors.ts";
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
export async function checkDraft(visit: MemberVisit, draft: Draft): Promise<Checked> {
  const { config, templates } = visit.deps;
  const { list, mapping } = draft;
  const { targets, cards, withoutPhoto } = await draftCards(visit, draft);
  const checked = await checkCards(cards, config, templates);
  const ofConsent = await consentFaults(visit, cards);
  const details = [...checked.details, ...ofConsent];
  if (details.length === 0) return { faults: [], requests: await allowed(visit, checked.requests) };
  const missing = new Set(withoutPhoto.map((row) => `cards[${row}].player.source_image_url`));
  const worded = details.map((detail) =>
    missing.has(detail.field)
      ? { ...detail, message: "is missing: add a photo under Photos, or write its address into the list." }
      : detail,
  );
  const { faults, sound } = faultsInList(list, targets, mapping, worded);
  const rest = await checkCards(
    sound.map((at) => cards[at]),
    config,
    templates,
  );
  return { faults, requests: await allowed(visit, rest.requests) };
}

/** The requests with as much of the names as their players allow: so they are previewed and counted. */
async function allowed(
  { deps, account, now }: MemberVisit,
  requests: CreateImageRequest[],
): Promise<CreateImageRequest[]> {
  return (await obeyConsents(deps.store.read, account.id, requests, now)).requests;
}

/** Which rows are of players who allow no card, by their places in the list. */
async function consentFaults({ deps, account, now }: MemberVisit, cards: unknown[]): Promise<ErrorDetail[]> {
  const named = cards.flatMap((card, at) => {
    const { player } = card as CreateImageRequest;
    // Not checked yet: a name may be missing, and is not looked at.
    const request = { ...(card as CreateImageRequest), player: { ...player, name: "" } };
    return typeof player.external_id === "string" ? [{ at, request }] : [];
  });
  const requests = named.map(({ request }) => request);
  const { faults } = await obeyConsents(deps.store.read, account.id, requests, now);
  return faults.map(({ at, detail }) => ({ ...detail, field: `cards[${named[at]?.at}].${detail.field}` }));
}
