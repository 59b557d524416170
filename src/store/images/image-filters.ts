import { and, desc, eq, exists, inArray, isNull, notExists, type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import { type ImageState, UNFINISHED_STATES } from "../../core/image-state.ts";
import { MAX_BATCH_CARDS, MAX_LIST_EXAMINED } from "../../core/limits.ts";
import type { ListPosition } from "../../core/list-position.ts";
import { pageBounds } from "../page-bounds.ts";
import type { Tx } from "../store.ts";
import { firstBatch, type ImageListing, type ListQuery } from "./image-reads.ts";

// Lists by what partners sent. One filter leads along its index from page to page; the others are looked at
// image by image, for a bounded number of images a page.

/**
 * What a list can be narrowed by, besides its status and time. All of it has to fit, and some of it must be
 * given.
 */
export interface ImageFilters {
  externalId?: string | undefined;
  batchId?: string | undefined;
  /** Keys and the values they must have. */
  metadata?: readonly (readonly [key: string, value: string])[] | undefined;
  /** Only the newest finished picture of each player that is still served. */
  current?: true | undefined;
}

export type FilteredQuery = ListQuery & ImageFilters;

export interface ImagePage {
  images: ImageListing[];
  /** Where the next page begins; null on the last one. */
  next: ListPosition | null;
}

/**
 * A page of the list, newest first. Where few images fit it may have fewer than `limit` of them and go on
 * nevertheless.
 */
export async function filteredImages(tx: Tx, query: FilteredQuery): Promise<ImagePage> {
  const examined = isExact(query) ? query.limit + 1 : MAX_LIST_EXAMINED;
  const found = await filteredQuery(tx, query, examined);
  const images = found.slice(0, query.limit);
  const last = images.at(-1);
  // A player has one current card: of all those before it none is looked at.
  if (query.current && query.externalId !== undefined && last) return { images, next: null };
  if (found.length > query.limit && last) return { images, next: last };
  // Fewer than asked for: either the list is over, or only so many of those looked at fit.
  const [next] = await candidates(tx, query)
    .limit(1)
    .offset(examined - 1);
  return { images, next: next ?? null };
}

/** The builder behind filteredImages, so that a test can ask for its plan. */
function filteredQuery(tx: Tx, query: FilteredQuery, examined: number) {
  const { images: i } = tx.t;
  const examinedOnes = candidates(tx, query).limit(examined).as("candidates");
  const { id, state, type, createdAt, completedAt, request, setPlace } = i;
  return tx.db
    .select({ id, state, type, createdAt, completedAt, request, setPlace, batchId: firstBatch(tx) })
    .from(examinedOnes)
    .innerJoin(i, eq(i.id, examinedOnes.id))
    .where(and(...conditions(tx, query)))
    .orderBy(desc(examinedOnes.createdAt), desc(examinedOnes.id))
    .limit(query.limit + 1);
}

/** Whether every candidate fits, so that no more are looked at than the page has. */
function isExact({ externalId, batchId, metadata = [], current, status }: FilteredQuery): boolean {
  const narrowing = [externalId, batchId, current, ...metadata].filter((one) => one !== undefined).length;
  return narrowing === 1 && current === undefined && status === undefined;
}

/** Ids and moments of images in the list's order, by the filter that is likely to leave the fewest. */
function candidates(tx: Tx, query: FilteredQuery) {
  const { images: i, batchCards: c, imageMetadata: m } = tx.t;
  const { accountId, environment, externalId, batchId, metadata = [] } = query;
  const own = and(eq(i.accountId, accountId), eq(i.environment, environment), isNull(i.forgottenAt));
  const newestFirst = [desc(i.createdAt), desc(i.id)] as const;
  const columns = { id: i.id, createdAt: i.createdAt };
  if (batchId !== undefined) {
    // All of them first, behind a limit that both engines respect: else they may walk the account's list to
    // look for these.
    const cards = tx.db
      .select({ ...columns, account: i.accountId, environment: i.environment, forgottenAt: i.forgottenAt })
      .from(c)
      .innerJoin(i, eq(i.id, c.imageId))
      .where(eq(c.batchId, batchId))
      // Each card, and what may be about to replace it.
      .limit(2 * MAX_BATCH_CARDS)
      .as("cards");
    const isOwn = and(eq(cards.account, accountId), eq(cards.environment, environment));
    return tx.db
      .select({ id: cards.id, createdAt: cards.createdAt })
      .from(cards)
      .where(and(isOwn, isNull(cards.forgottenAt), pageBounds(cards.createdAt, cards.id, query)))
      .orderBy(desc(cards.createdAt), desc(cards.id))
      .$dynamic();
  }
  if (externalId !== undefined)
    return tx.db
      .select(columns)
      .from(i)
      .where(and(own, eq(i.externalId, externalId), pageBounds(i.createdAt, i.id, query)))
      .orderBy(...newestFirst)
      .$dynamic();
  const [pair] = metadata;
  if (pair === undefined)
    return tx.db
      .select(columns)
      .from(i)
      .where(and(own, eq(i.state, "completed"), pageBounds(i.createdAt, i.id, query)))
      .orderBy(...newestFirst)
      .$dynamic();
  const [key, value] = pair;
  return tx.db
    .select({ id: m.imageId, createdAt: m.createdAt })
    .from(m)
    .where(
      and(
        eq(m.accountId, accountId),
        eq(m.environment, environment),
        eq(m.key, key),
        eq(m.value, value),
        pageBounds(m.createdAt, m.imageId, query),
      ),
    )
    .orderBy(desc(m.createdAt), desc(m.imageId))
    .$dynamic();
}

/** What the candidates still have to be looked at for. */
function conditions(tx: Tx, query: FilteredQuery): (SQL | undefined)[] {
  const { externalId, metadata = [], current, status } = query;
  const { images: i, imageMetadata: m } = tx.t;
  const states: readonly ImageState[] | undefined =
    status === "processing" ? UNFINISHED_STATES : status && [status];
  return [
    isNull(i.forgottenAt),
    states && inArray(i.state, [...states]),
    ...(current ? isCurrent(tx, query) : []),
    externalId === undefined ? undefined : eq(i.externalId, externalId),
    ...metadata.map(([key, value]) =>
      exists(
        tx.db
          .select({ id: m.imageId })
          .from(m)
          .where(and(eq(m.imageId, i.id), eq(m.key, key), eq(m.value, value))),
      ),
    ),
  ];
}

/** Whether an image is its player's newest finished picture that is still served. */
function isCurrent(tx: Tx, { accountId, environment }: FilteredQuery): SQL[] {
  const { images: i } = tx.t;
  const newer = alias(i, "newer");
  const newerOnes = tx.db
    .select({ id: newer.id })
    .from(newer)
    .where(
      and(
        // As values rather than as the image's columns: along the player's own entries in their order.
        eq(newer.accountId, accountId),
        eq(newer.environment, environment),
        eq(newer.externalId, i.externalId),
        sql`(${newer.createdAt}, ${newer.id}) > (${i.createdAt}, ${i.id})`,
        eq(newer.state, "completed"),
        isNull(newer.purgedAt),
        isNull(newer.forgottenAt),
      ),
    );
  return [eq(i.state, "completed"), isNull(i.purgedAt), notExists(newerOnes)];
}
