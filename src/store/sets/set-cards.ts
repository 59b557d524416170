import { and, asc, eq, gt, gte, inArray, isNotNull, isNull, lte, ne, or, sql } from "drizzle-orm";
import type { Tables } from "../../../db/schema.ts";
import { PDF } from "../../core/picture-formats.ts";
import type { Tx } from "../store.ts";

// The numbers of cards in their sets. A number counts while its row is held or final, which a unique index
// guards: see set_cards_serial.

export type SetCard = Tables["setCards"]["$inferSelect"];

/** Values that a statement names at most: SQLite accepts 32,766 in all. */
const AT_ONCE = 500;

/** The condition of the unique index, which queries must repeat to use it. */
const COUNTS = ["held", "final"] as const;

function counting({ setCards: c }: Tables) {
  return and(isNotNull(c.serial), sql`${c.state} in ('held', 'final')`);
}

interface OfParallel {
  setId: string;
  parallel: string;
}

/** The lowest number of each of these players that no card has, by the player's position. */
export async function lowestFree(
  { db, t }: Tx,
  { setId, parallel, players }: OfParallel & { players: number[] },
): Promise<Map<number, number>> {
  const p = t.setPlayers;
  const given = (name: string) =>
    sql.raw(
      `set_cards ${name} where ${name}.set_id = set_players.set_id and ${name}.player = set_players.position
      and ${name}.serial is not null and ${name}.state in ('held', 'final')`,
    );
  const free = sql<number>`(select min(candidates.n) from
    (select 1 as n union all select taken.serial + 1 from ${given("taken")} and taken.parallel = ${parallel}) as candidates
    where not exists (select 1 from ${given("same")} and same.parallel = ${parallel} and same.serial = candidates.n))`;
  const found = new Map<number, number>();
  for (let at = 0; at < players.length; at += AT_ONCE) {
    const rows = await db
      .select({ player: p.position, serial: free.mapWith(Number) })
      .from(p)
      .where(and(eq(p.setId, setId), inArray(p.position, players.slice(at, at + AT_ONCE))));
    for (const { player, serial } of rows) found.set(player, serial);
  }
  return found;
}

/** The `count` lowest numbers of one player that no card has, in their order. */
export async function lowestFreeOf(
  { db, t }: Tx,
  { setId, parallel, player, count }: OfParallel & { player: number; count: number },
): Promise<number[]> {
  const c = t.setCards;
  const free: number[] = [];
  let next = 1;
  for (;;) {
    const taken = await db
      .select({ serial: c.serial })
      .from(c)
      .where(
        and(
          eq(c.setId, setId),
          eq(c.parallel, parallel),
          eq(c.player, player),
          counting(t),
          gte(c.serial, next),
        ),
      )
      .orderBy(asc(c.serial))
      .limit(AT_ONCE);
    for (const { serial } of taken) {
      for (; next < (serial ?? 0) && free.length < count; next++) free.push(next);
      next = (serial ?? 0) + 1;
    }
    if (free.length < count && taken.length === AT_ONCE) continue;
    for (; free.length < count; next++) free.push(next);
    return free;
  }
}

/** Which of these numbers of players some card has. */
export async function takenSerials(
  { db, t }: Tx,
  { setId, parallel, wanted }: OfParallel & { wanted: { player: number; serial: number }[] },
): Promise<Pick<SetCard, "player" | "serial" | "imageId">[]> {
  const c = t.setCards;
  const found: Pick<SetCard, "player" | "serial" | "imageId">[] = [];
  for (let at = 0; at < wanted.length; at += AT_ONCE) {
    const some = wanted.slice(at, at + AT_ONCE);
    const players = [...new Set(some.map(({ player }) => player))];
    const serials = [...new Set(some.map(({ serial }) => serial))];
    const ofParallel = and(eq(c.setId, setId), eq(c.parallel, parallel), counting(t));
    const rows = await db
      .select({ player: c.player, serial: c.serial, imageId: c.imageId })
      .from(c)
      .where(and(ofParallel, inArray(c.player, players), inArray(c.serial, serials)));
    found.push(...rows);
  }
  return found;
}

export async function insertSetCards({ db, t }: Tx, cards: SetCard[]): Promise<void> {
  for (let at = 0; at < cards.length; at += AT_ONCE)
    await db.insert(t.setCards).values(cards.slice(at, at + AT_ONCE));
}

/** The places of these images in their sets, by image. */
export async function setCardsOf({ db, t }: Tx, imageIds: string[]): Promise<Map<string, SetCard>> {
  const c = t.setCards;
  if (imageIds.length === 0) return new Map();
  const rows = await db.select().from(c).where(inArray(c.imageId, imageIds));
  return new Map(rows.map((row) => [row.imageId, row]));
}

/** Lets finished cards pass their numbers on to those that are to replace them. */
export async function markReplaced({ db, t }: Tx, imageIds: string[]): Promise<void> {
  const c = t.setCards;
  if (imageIds.length === 0) return;
  await db
    .update(c)
    .set({ state: "replaced" })
    .where(and(inArray(c.imageId, imageIds), eq(c.state, "final")));
}

/** The card is made: its number is given for good. */
export async function keepSerial({ db, t }: Tx, imageId: string): Promise<void> {
  const c = t.setCards;
  await db
    .update(c)
    .set({ state: "final" })
    .where(and(eq(c.imageId, imageId), eq(c.state, "held")));
}

/** The cards are not made: their numbers are free again, or those of the cards they were to replace. */
export async function giveSerialsBack({ db, t }: Tx, imageIds: string[]): Promise<void> {
  const c = t.setCards;
  if (imageIds.length === 0) return;
  const released = await db
    .update(c)
    .set({ state: "released", serial: null })
    .where(and(inArray(c.imageId, imageIds), eq(c.state, "held")))
    .returning({ replaces: c.replacesImageId });
  const back = released.flatMap(({ replaces }) => (replaces === null ? [] : [replaces]));
  if (back.length === 0) return;
  await db
    .update(c)
    .set({ state: "final" })
    .where(and(inArray(c.imageId, back), eq(c.state, "replaced")));
}

/** Whether a card of a set was made, or is being made. */
export async function hasCards({ db, t }: Tx, setId: string): Promise<boolean> {
  const c = t.setCards;
  const rows = await db
    .select({ id: c.imageId })
    .from(c)
    .where(and(eq(c.setId, setId), ne(c.state, "released")))
    .limit(1);
  return rows.length > 0;
}

/** A finished card of a set, and what is known of its picture. */
export type PlacedCard = Pick<SetCard, "imageId" | "player" | "parallel" | "serial" | "size"> &
  Pick<Tables["images"]["$inferSelect"], "outputName" | "expiresAt" | "purgedAt" | "forgottenAt">;

/** The finished cards of the players in these places of a checklist, as they were asked for. */
export async function cardsOfPlayers(
  { db, t }: Tx,
  setId: string,
  from: number,
  to: number,
): Promise<PlacedCard[]> {
  const { setCards: c, images: i } = t;
  const { imageId, player, parallel, serial, size } = c;
  const { outputName, expiresAt, purgedAt, forgottenAt } = i;
  return db
    .select({ imageId, player, parallel, serial, size, outputName, expiresAt, purgedAt, forgottenAt })
    .from(c)
    .innerJoin(i, eq(i.id, imageId))
    .where(and(eq(c.setId, setId), gte(player, from), lte(player, to), eq(c.state, "final")))
    .orderBy(asc(player), asc(c.createdAt), asc(imageId));
}

/** Finished, still served and with a page of its own, in a query of cards with their images. */
function isShown({ setCards: c, images: i }: Tables, setId: string, now: number) {
  const hasPage = ne(i.outputContentType, PDF);
  const isPublished = or(isNull(i.publishAt), lte(i.publishAt, now));
  const isThere = and(hasPage, isNull(i.purgedAt), isNull(i.forgottenAt), gt(i.expiresAt, now), isPublished);
  return and(eq(c.setId, setId), eq(c.state, "final"), isThere);
}

interface GalleryQuery {
  setId: string;
  now: number;
}

/** The places in the checklist of players who have a card to show, from a place on. */
export async function shownPlayers(
  { db, t }: Tx,
  { setId, now, from, limit }: GalleryQuery & { from: number; limit: number },
): Promise<number[]> {
  const { setCards: c, images: i } = t;
  const rows = await db
    .selectDistinct({ player: c.player })
    .from(c)
    .innerJoin(i, eq(i.id, c.imageId))
    .where(and(isShown(t, setId, now), gte(c.player, from)))
    .orderBy(asc(c.player))
    .limit(limit);
  return rows.map(({ player }) => player);
}

/**
 * One card for each parallel of these players: that with the lowest number, or the newest where there are no
 * numbers. In the checklist's order.
 */
export async function shownCards(
  { db, t }: Tx,
  { setId, now, players }: GalleryQuery & { players: number[] },
): Promise<{ card: SetCard; image: Tables["images"]["$inferSelect"] }[]> {
  const { setCards: c, images: i } = t;
  if (players.length === 0) return [];
  const place = sql`row_number() over (partition by ${c.player}, ${c.parallel}
    order by ${c.serial}, ${c.createdAt} desc, ${c.imageId})`;
  const ranked = db
    .select({ imageId: c.imageId, place: place.mapWith(Number).as("place") })
    .from(c)
    .innerJoin(i, eq(i.id, c.imageId))
    .where(and(isShown(t, setId, now), inArray(c.player, players)))
    .as("ranked");
  return db
    .select({ card: c, image: i })
    .from(ranked)
    .innerJoin(c, eq(c.imageId, ranked.imageId))
    .innerJoin(i, eq(i.id, ranked.imageId))
    .where(eq(ranked.place, 1))
    .orderBy(asc(c.player), asc(c.createdAt));
}

/** How many cards count in each parallel of each player: made, and being made. */
export async function countCards(
  { db, t }: Tx,
  setId: string,
): Promise<(Pick<SetCard, "player" | "parallel" | "state"> & { n: number })[]> {
  const c = t.setCards;
  const { player, parallel, state } = c;
  return db
    .select({ player, parallel, state, n: sql<number>`count(*)`.mapWith(Number) })
    .from(c)
    .where(and(eq(c.setId, setId), inArray(state, [...COUNTS])))
    .groupBy(player, parallel, state)
    .orderBy(asc(player), asc(parallel));
}

/**
 * How many cards of these parallels count for each player, or each of `players`, and how many of them may
 * still fail and count no more; one that is to replace another leaves a card either way.
 */
export async function editionCounts(
  { db, t }: Tx,
  { setId, parallels, players }: { setId: string; parallels: string[]; players?: number[] | undefined },
): Promise<(Pick<SetCard, "player" | "parallel"> & { n: number; open: number })[]> {
  const c = t.setCards;
  const { player, parallel } = c;
  const isOpen = sql`${c.state} = 'held' and ${c.replacesImageId} is null`;
  return db
    .select({
      player,
      parallel,
      n: sql<number>`count(*)`.mapWith(Number),
      open: sql<number>`sum(case when ${isOpen} then 1 else 0 end)`.mapWith(Number),
    })
    .from(c)
    .where(
      and(
        eq(c.setId, setId),
        players && inArray(player, players),
        inArray(parallel, parallels),
        inArray(c.state, [...COUNTS]),
      ),
    )
    .groupBy(player, parallel);
}
