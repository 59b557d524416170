import { csvField } from "../../core/csv.ts";
import { drawPacks } from "../../core/draw-packs.ts";
import { MAX_PACK_POOL } from "../../core/limits.ts";
import { invalidRequest } from "../../core/partner-refusals.ts";
import { type CardSet, playersOfSet, type SetPlayer } from "../../store/sets/card-sets.ts";
import { cardsOfPlayers, type PlacedCard } from "../../store/sets/set-cards.ts";
import type { Store } from "../../store/store.ts";
import type { AppContext } from "../context.ts";
import { printRunsOf } from "./print-runs.ts";

// What a printer and a packer are given of a set.

/** Players whose cards are read at once. */
const PLAYERS_AT_ONCE = 50;

interface Listed {
  player: SetPlayer;
  card: PlacedCard;
}

/** All finished cards of a set: by checklist, parallel and number. */
async function* finishedCards(store: Store, { id, parallels }: CardSet): AsyncGenerator<Listed> {
  const order = new Map(parallels.map(({ name }, at) => [name, at]));
  const players = await playersOfSet(store.read, id);
  for (let at = 0; at < players.length; at += PLAYERS_AT_ONCE) {
    const some = players.slice(at, at + PLAYERS_AT_ONCE);
    const [from, to] = [some[0]?.position ?? 0, some.at(-1)?.position ?? 0];
    const cards = await cardsOfPlayers(store.read, id, from, to);
    const byPlayer = Map.groupBy(cards, ({ player }) => player);
    const place = ({ parallel, serial }: PlacedCard) => [order.get(parallel) ?? 0, serial ?? 0] as const;
    for (const player of some) {
      // The sort is stable: those without numbers stay as they were made.
      const own = (byPlayer.get(player.position) ?? []).toSorted((a, b) => {
        const [[parallelA, serialA], [parallelB, serialB]] = [place(a), place(b)];
        return parallelA - parallelB || serialA - serialB;
      });
      for (const card of own) yield { player, card };
    }
  }
}

const MANIFEST_COLUMNS = [
  "set",
  "season",
  "external_id",
  "name",
  "number",
  "parallel",
  "serial",
  "size",
  "image_id",
  "file",
  "url",
  "print_run",
];

/**
 * The table of a set's finished cards for its printer, line by line. Deleted ones are left out; of those that
 * expired file and address are empty.
 */
export async function* manifestOf(
  { store, clock, config }: AppContext,
  set: CardSet,
): AsyncGenerator<string> {
  const line = (cells: (string | number | null)[]) =>
    `${cells.map((cell) => csvField(String(cell ?? ""))).join(",")}\r\n`;
  // Spreadsheets read UTF-8 by this mark alone.
  yield `\ufeff${line(MANIFEST_COLUMNS)}`;
  const printRun = await printRunsOf(store.read, set, { now: clock.now() });
  for await (const { player, card } of finishedCards(store, set)) {
    if (card.forgottenAt !== null) continue;
    const isServed = card.purgedAt === null && (card.expiresAt ?? 0) > clock.now();
    const file = isServed ? card.outputName : null;
    const { externalId, name, number } = player;
    const { parallel, serial, size, imageId } = card;
    const url = file && `${config.cdnBaseUrl}/${file}`;
    const place = [parallel, serial, size] as const;
    const run = printRun(player.position, parallel);
    yield line([set.name, set.season, externalId, name, number, ...place, imageId, file, url, run]);
  }
}

/** What is to be drawn. */
export interface PackWish {
  seed: string;
  packs: number;
  /** Cards of a pack. */
  cards: number;
  /** How many of each card without a number are printed. */
  copies: number;
}

/** A card as a list of packs names it; what is of a deleted player is null. */
export interface PackedCard {
  image_id: string | null;
  external_id: string | null;
  name: string | null;
  parallel: string;
  serial: number | null;
  size: number | null;
}

/**
 * Which cards lie in which pack, drawn from a seed. Deleted cards take part, so that a list stays as it was.
 * Throws INVALID_REQUEST when there are not enough cards.
 */
export async function packsOf(
  { store }: Pick<AppContext, "store">,
  set: CardSet,
  { seed, packs, cards: size, copies }: PackWish,
): Promise<{ pool: number; packs: PackedCard[][] }> {
  const pool: { player: number; card: PackedCard }[] = [];
  for await (const { player, card } of finishedCards(store, set)) {
    const packed: PackedCard = {
      image_id: card.forgottenAt === null ? card.imageId : null,
      external_id: player.externalId || null,
      name: player.name || null,
      parallel: card.parallel,
      serial: card.serial,
      size: card.size,
    };
    const times = card.serial === null ? copies : 1;
    if (pool.length + times > MAX_PACK_POOL)
      throw invalidRequest([
        {
          field: "query copies",
          message: `must be fewer: packs are drawn from at most ${MAX_PACK_POOL} cards.`,
        },
      ]);
    for (let n = 0; n < times; n++) pool.push({ player: player.position, card: packed });
  }
  const drawn = drawPacks(pool, { seed, packs, size });
  if (!drawn)
    throw invalidRequest([
      {
        field: "query packs",
        message: `cannot be filled: ${packs} packs of ${size} different players need more than the ${pool.length} cards there are. Ask for fewer, or print more copies.`,
      },
    ]);
  return { pool: pool.length, packs: drawn.map((pack) => pack.map(({ card }) => card)) };
}
