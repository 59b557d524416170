import { matchPhotos, type NamedPlayer, type PhotoMatches } from "../../app/batches/match-photos.ts";
import { cardsOfList, TARGETS, type Target, templateTargets } from "../../app/batches/squad-cards.ts";
import { uploadUrl } from "../../core/own-photos.ts";
import type { MemberVisit } from "../visit.ts";
import type { Draft } from "./list-store.ts";

/** What a list's columns can mean with a template. */
export async function targetsOf({ deps }: MemberVisit, preset: string): Promise<Target[]> {
  const { manifest } = await deps.templates.current(preset);
  return [...TARGETS, ...templateTargets(manifest.fields)];
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
