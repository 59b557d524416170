import { printRunsOf } from "../../app/sets/print-runs.ts";
import { fillPath, SHARED_PATHS } from "../../core/api-paths.ts";
import { placeLabel } from "../../core/card-set.ts";
import { PICTURE_WIDTHS } from "../../core/picture-limits.ts";
import { findGallery } from "../../store/sets/card-sets.ts";
import { shownCards, shownPlayers } from "../../store/sets/set-cards.ts";
import type { Tx } from "../../store/store.ts";
import { type Addresses, type SharedCard, sharedCard } from "./shared-card.ts";

/** Players of a page: a squad on one or two, each in at most as many parallels as a set may have. */
const PLAYERS_OF_PAGE = 24;
/** Wide enough for a card among others, also on the screens of phones. */
const GALLERY_PICTURE_WIDTH = 512;

export interface GalleryCard extends SharedCard {
  /** Its parallel and number, such as gold 3/50, and how many there are of a closed edition. */
  place: string;
}

export interface Gallery {
  name: string;
  season: string;
  cards: GalleryCard[];
  /** The paths of the first page, unless this is it, and of the next, if there is one. */
  first: string | null;
  next: string | null;
}

/** A page of a set's gallery, by checklist and parallel; undefined where none is open. */
export async function readGallery(
  read: Tx,
  galleryName: string,
  { config, now, from }: { config: Addresses; now: number; from: number },
): Promise<Gallery | undefined> {
  const set = await findGallery(read, galleryName);
  if (!set) return undefined;
  const ofSet = { setId: set.id, now };
  const players = await shownPlayers(read, { ...ofSet, from, limit: PLAYERS_OF_PAGE + 1 });
  const next = players[PLAYERS_OF_PAGE];
  const ofPage = players.slice(0, PLAYERS_OF_PAGE);
  const found = await shownCards(read, { ...ofSet, players: ofPage });
  const printRun = await printRunsOf(read, set, { now, players: ofPage });
  const order = new Map(set.parallels.map((parallel, at) => [parallel.name, at]));
  const at = ({ card }: (typeof found)[number]) => order.get(card.parallel) ?? 0;
  const path = fillPath(SHARED_PATHS.gallery, { gallery: galleryName });
  return {
    name: set.name,
    season: set.season,
    cards: found
      .toSorted((a, b) => a.card.player - b.card.player || at(a) - at(b))
      .map(({ card: { player, parallel, serial, size }, image }) => ({
        ...small(sharedCard(image, config)),
        place: placeText({ parallel, serial, size }, printRun(player, parallel)),
      })),
    first: from > 0 ? path : null,
    next: next === undefined ? null : `${path}?from=${next}`,
  };
}

/** With the number of all once an edition is closed, such as match day No. 12 of 340. */
const placeText = (place: Parameters<typeof placeLabel>[0], printRun: number | null): string =>
  `${placeLabel(place)}${printRun === null ? "" : ` of ${printRun}`}`;

/**
 * With pictures as small as a card among others needs, one for each side, none of which moves by itself.
 */
function small(shared: SharedCard): SharedCard {
  const card = { ...shared, layers: null };
  if (card.still) return { ...card, picture: card.still, still: null };
  if (card.width <= GALLERY_PICTURE_WIDTH || !PICTURE_WIDTHS.includes(GALLERY_PICTURE_WIDTH)) return card;
  const query = `?w=${GALLERY_PICTURE_WIDTH}`;
  return { ...card, picture: card.picture + query, back: card.back && card.back + query };
}
