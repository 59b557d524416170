import { and, asc, desc, eq, gt, gte, inArray, isNotNull, isNull, lt, type SQL, sql } from "drizzle-orm";
import type { Environment } from "../../core/account.ts";
import { type ImageState, type PublicStatus, UNFINISHED_STATES } from "../../core/image-state.ts";
import { foldedName, speltName } from "../../core/name.ts";
import type { Tx } from "../store.ts";
import type { Image } from "./images.ts";

// Console searches; the service's own queries are in images.ts.

/** A search with more matches is too vague to be sorted: the first by external id are returned. */
const MAX_SEARCHED = 1_000;

/** How many of the newest images are searched by player name, since rows are read one by one. */
const MAX_NAMES_READ = 5_000;

/**
 * An account's images by a part of the player's name, by an external id or the beginning of one, or by the
 * image id itself; newest first, among the first MAX_SEARCHED that fit. Reads two indexes and the newest
 * MAX_NAMES_READ images, whatever the table's size.
 */
export async function findImagesByExternalId(
  { db, t }: Tx,
  query: {
    accountId: string;
    environment: Environment;
    search: string;
    status?: PublicStatus | undefined;
    /** Created at or after this moment and before that one, epoch milliseconds. */
    from?: number | undefined;
    before?: number | undefined;
    limit: number;
  },
): Promise<Image[]> {
  const i = t.images;
  const { accountId, environment, search, status, limit } = query;
  const own = and(eq(i.accountId, accountId), eq(i.environment, environment), isNull(i.forgottenAt));
  const brief = { id: i.id, state: i.state, createdAt: i.createdAt };
  const itself = await db
    .select(brief)
    .from(i)
    .where(and(eq(i.id, search), own));
  // The highest code point closes the range of texts that begin with `search`.
  const begins = and(gte(i.externalId, search), lt(i.externalId, `${search}\u{10FFFF}`));
  const found = await db
    .select(brief)
    .from(i)
    .where(and(own, begins))
    .orderBy(asc(i.externalId))
    .limit(MAX_SEARCHED);
  const newest = await db
    .select({ ...brief, playerName: i.playerName })
    .from(i)
    .where(own)
    .orderBy(desc(i.createdAt), desc(i.id))
    .limit(MAX_NAMES_READ);
  // Compared here: neither engine folds accents by itself.
  const [name, spelt] = [foldedName(search), speltName(search)];
  const isNamed = (player: string) => foldedName(player).includes(name) || speltName(player).includes(spelt);
  const players = newest
    .filter(({ playerName }) => name !== "" && isNamed(playerName))
    .slice(0, MAX_SEARCHED);
  const states: readonly ImageState[] | undefined =
    status === "processing" ? UNFINISHED_STATES : status && [status];
  const { from = 0, before = Number.POSITIVE_INFINITY } = query;
  const page = [...new Map([...itself, ...found, ...players].map((image) => [image.id, image])).values()]
    .filter(
      ({ state, createdAt }) => states?.includes(state) !== false && createdAt >= from && createdAt < before,
    )
    .sort(newestFirst)
    .slice(0, limit);
  // By nothing else: with the rest as conditions either engine may walk the account's whole list instead.
  const ids = page.map(({ id }) => id);
  if (ids.length === 0) return [];
  return (await db.select().from(i).where(inArray(i.id, ids))).sort(newestFirst);
}

type Dated = Pick<Image, "id" | "createdAt">;

/** The order of lists. */
function newestFirst(one: Dated, other: Dated): number {
  return other.createdAt - one.createdAt || (other.id > one.id ? 1 : -1);
}

/** The same player's finished picture before this image, if it still exists. */
export async function pictureBefore({ db, t }: Tx, image: Image): Promise<Image | undefined> {
  const i = t.images;
  const [before] = await db
    .select()
    .from(i)
    .where(
      and(
        eq(i.accountId, image.accountId),
        eq(i.environment, image.environment),
        eq(i.externalId, image.externalId),
        sql`(${i.createdAt}, ${i.id}) < (${image.createdAt}, ${image.id})`,
        eq(i.state, "completed"),
        isNull(i.purgedAt),
        isNull(i.forgottenAt),
      ),
    )
    .orderBy(desc(i.createdAt), desc(i.id))
    .limit(1);
  return before;
}

/** The images next to this one in its account's list: the newer and the older one. */
export async function neighboursOf(
  { db, t }: Tx,
  image: Image,
): Promise<{ newer: string | null; older: string | null }> {
  const i = t.images;
  const own = and(
    eq(i.accountId, image.accountId),
    eq(i.environment, image.environment),
    isNull(i.forgottenAt),
  );
  const place = sql`(${i.createdAt}, ${i.id})`;
  const here = sql`(${image.createdAt}, ${image.id})`;
  const [newer] = await db
    .select({ id: i.id })
    .from(i)
    .where(and(own, sql`${place} > ${here}`))
    .orderBy(asc(i.createdAt), asc(i.id))
    .limit(1);
  const [older] = await db
    .select({ id: i.id })
    .from(i)
    .where(and(own, sql`${place} < ${here}`))
    .orderBy(desc(i.createdAt), desc(i.id))
    .limit(1);
  return { newer: newer?.id ?? null, older: older?.id ?? null };
}

/** The cards before and after this one in its batch, deleted ones left out. */
export async function neighboursInBatch(
  { db, t }: Tx,
  batchId: string,
  imageId: string,
): Promise<{ before: string | null; after: string | null }> {
  const { batchCards: c, images: i } = t;
  // What is to replace a card has the neighbours of that card.
  const place = sql`case when ${c.position} < 0 then -1 - ${c.position} else ${c.position} end`;
  const own = db
    .select({ position: place })
    .from(c)
    .where(and(eq(c.batchId, batchId), eq(c.imageId, imageId)))
    .limit(1);
  const here = sql`(${own})`;
  const next = async (side: "before" | "after") => {
    const isThere = side === "before" ? lt(c.position, here) : gt(c.position, here);
    const [card] = await db
      .select({ id: c.imageId })
      .from(c)
      .innerJoin(i, eq(i.id, c.imageId))
      .where(and(eq(c.batchId, batchId), isThere, gte(c.position, 0), isNull(i.forgottenAt)))
      .orderBy(side === "before" ? desc(c.position) : asc(c.position))
      .limit(1);
    return card?.id ?? null;
  };
  return { before: await next("before"), after: await next("after") };
}

interface PlayerScope {
  accountId: string;
  environment: Environment;
}

/** A player's images, newest first. */
export async function historyOfPlayer(
  { db, t }: Tx,
  { accountId, environment, externalId, limit }: PlayerScope & { externalId: string; limit: number },
): Promise<Image[]> {
  const i = t.images;
  return db
    .select()
    .from(i)
    .where(
      and(
        eq(i.accountId, accountId),
        eq(i.environment, environment),
        eq(i.externalId, externalId),
        isNull(i.forgottenAt),
      ),
    )
    .orderBy(desc(i.createdAt), desc(i.id))
    .limit(limit);
}

/** Players asked about at a time: SQLite accepts 32,766 bound values in all. */
const PLAYERS_AT_ONCE = 500;

/** The newest finished picture that is still served of each of these players, by external id. */
export async function currentCards(
  { db, t }: Tx,
  { accountId, environment }: PlayerScope,
  externalIds: string[],
): Promise<Map<string, Image>> {
  const i = t.images;
  const found = new Map<string, Image>();
  for (let at = 0; at < externalIds.length; at += PLAYERS_AT_ONCE) {
    const newest = db
      .select({
        id: i.id,
        rank: sql<number>`row_number() over (partition by ${i.externalId} order by ${i.createdAt} desc, ${i.id} desc)`.as(
          "rank",
        ),
      })
      .from(i)
      .where(
        and(
          eq(i.accountId, accountId),
          eq(i.environment, environment),
          inArray(i.externalId, externalIds.slice(at, at + PLAYERS_AT_ONCE)),
          eq(i.state, "completed"),
          isNull(i.purgedAt),
          isNull(i.forgottenAt),
        ),
      )
      .as("newest");
    const rows = await db
      .select({ image: i })
      .from(newest)
      .innerJoin(i, eq(i.id, newest.id))
      .where(eq(newest.rank, 1));
    for (const { image } of rows) found.set(image.externalId, image);
  }
  return found;
}

/** An image of any account, for operators. */
export async function findAnyImage({ db, t }: Tx, id: string): Promise<Image | undefined> {
  const [image] = await db.select().from(t.images).where(eq(t.images.id, id)).limit(1);
  return image;
}

/**
 * Those that failed by a fault, of the photo or ours: not the canceled ones. Written out, as the index
 * images_faults is: SQLite does not look into parameters when it chooses a partial index.
 */
export function faulty(i: Tx["t"]["images"]): SQL {
  return sql`${i.state} = 'failed' and coalesce(${i.failureReason}, '') <> 'canceled'`;
}

/** The newest failures of all accounts, for operators. */
export async function recentLiveFailures({ db, t }: Tx, limit: number): Promise<Image[]> {
  return db
    .select()
    .from(t.images)
    .where(and(faulty(t.images), eq(t.images.environment, "live")))
    .orderBy(desc(t.images.completedAt))
    .limit(limit);
}

/** The newest images that are not deleted, of one account or of all. */
export async function latestImages(
  { db, t }: Tx,
  { accountId, limit }: { accountId?: string | undefined; limit: number },
): Promise<Image[]> {
  const i = t.images;
  const order = [desc(i.createdAt), desc(i.id)] as const;
  const newest = (scope?: SQL) =>
    db
      .select()
      .from(i)
      .where(and(scope, isNull(i.forgottenAt)))
      .orderBy(...order)
      .limit(limit);
  if (accountId === undefined) return newest();
  // The lists of accounts are by environment: each is walked from its newest image, as far as the list goes.
  const own = (environment: Environment) =>
    db.select().from(newest(and(eq(i.accountId, accountId), eq(i.environment, environment))).as(environment));
  return own("live")
    .unionAll(own("test"))
    .orderBy(...order)
    .limit(limit);
}

/**
 * The newest finished live pictures that are still there, by when they expire: the order they were finished
 * in.
 */
export async function latestPictures({ db, t }: Tx, limit: number): Promise<Image[]> {
  const i = t.images;
  return db
    .select()
    .from(i)
    .where(and(isNotNull(i.expiresAt), isNull(i.purgedAt), eq(i.environment, "live")))
    .orderBy(desc(i.expiresAt))
    .limit(limit);
}
