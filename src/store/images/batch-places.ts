import { and, asc, eq, gte, inArray, isNull, lt, sql } from "drizzle-orm";
import type { Tx } from "../store.ts";
import type { Batch } from "./batches.ts";
import { type Image, unfinished } from "./images.ts";

// Who stands where in a batch. While a finished card is being changed it keeps its position, and what is to
// take it waits at the position's mirror, -1 for 0, -2 for 1: every query of an image's batches finds both.

const mirrored = (position: number) => -1 - position;

/** A position of a batch: its card, and the image that is to take its place, or failed to. */
export interface BatchPlace {
  position: number;
  imageId: string;
  changeId: string | null;
}

/** The places of these images by the images' ids: as the card there, or as its change. */
export async function placesOf(
  { db, t }: Tx,
  batchId: string,
  imageIds: string[],
): Promise<Map<string, BatchPlace>> {
  const c = t.batchCards;
  const own = await db
    .select({ position: c.position, imageId: c.imageId })
    .from(c)
    .where(and(eq(c.batchId, batchId), inArray(c.imageId, imageIds)));
  const both = own.flatMap(({ position }) => [position, mirrored(position)]);
  const rows = await db
    .select({ position: c.position, imageId: c.imageId })
    .from(c)
    .where(and(eq(c.batchId, batchId), inArray(c.position, both)));
  const at = new Map(rows.map(({ position, imageId }) => [position, imageId]));
  const places = own.map(({ position: found, imageId }): [string, BatchPlace] => {
    const position = Math.max(found, mirrored(found));
    const changeId = at.get(mirrored(position)) ?? null;
    return [imageId, { position, imageId: at.get(position) ?? imageId, changeId }];
  });
  return new Map(places);
}

/** Lets an image wait beside the card of a place, instead of an earlier change that failed. */
export async function placeChange(
  { db, t }: Tx,
  batchId: string,
  { position }: BatchPlace,
  imageId: string,
): Promise<void> {
  const c = t.batchCards;
  await db
    .insert(c)
    .values({ batchId, position: mirrored(position), imageId })
    .onConflictDoUpdate({ target: [c.batchId, c.position], set: { imageId } });
}

/** Puts an image in the place of its card. */
export async function replaceCard(
  tx: Tx,
  batchId: string,
  { position }: BatchPlace,
  imageId: string,
): Promise<void> {
  const c = tx.t.batchCards;
  await dropChanges(tx, batchId, [position]);
  await tx.db
    .update(c)
    .set({ imageId })
    .where(and(eq(c.batchId, batchId), eq(c.position, position)));
}

/** Forgets what was to take these positions. */
export async function dropChanges({ db, t }: Tx, batchId: string, positions: number[]): Promise<void> {
  const c = t.batchCards;
  if (positions.length === 0) return;
  await db.delete(c).where(and(eq(c.batchId, batchId), inArray(c.position, positions.map(mirrored))));
}

/** Lets the changes of these mirrored positions take their places: they are ready. */
export async function takePlaces({ db, t }: Tx, batchId: string, changes: number[]): Promise<void> {
  const c = t.batchCards;
  await db.delete(c).where(and(eq(c.batchId, batchId), inArray(c.position, changes.map(mirrored))));
  await db
    .update(c)
    .set({ position: sql`-1 - ${c.position}` })
    .where(and(eq(c.batchId, batchId), inArray(c.position, changes)));
}

/** How many cards of a batch failed, by their reasons. */
export async function failuresOfBatch({ db, t }: Tx, batchId: string): Promise<Map<string, number>> {
  const { batchCards: c, images: i } = t;
  const rows = await db
    .select({ reason: i.failureReason, cards: sql<number>`count(*)`.mapWith(Number) })
    .from(c)
    .innerJoin(i, eq(i.id, c.imageId))
    .where(and(eq(c.batchId, batchId), gte(c.position, 0), eq(i.state, "failed"), isNull(i.forgottenAt)))
    .groupBy(i.failureReason);
  return new Map(rows.map(({ reason, cards }) => [reason ?? "", cards]));
}

/** How many finished cards of each batch are being changed; batches without any are left out. */
export async function openChanges({ db, t }: Tx, batchIds: string[]): Promise<Map<string, number>> {
  if (batchIds.length === 0) return new Map();
  const { batchCards: c, images: i } = t;
  const rows = await db
    .select({ id: c.batchId, changes: sql<number>`count(*)`.mapWith(Number) })
    .from(c)
    .innerJoin(i, eq(i.id, c.imageId))
    .where(and(inArray(c.batchId, batchIds), lt(c.position, 0), unfinished(t)))
    .groupBy(c.batchId);
  return new Map(rows.map(({ id, changes }) => [id, changes]));
}

/**
 * What is to take the places of a batch's cards, or failed to, by the ids of the cards' images; deleted ones
 * left out.
 */
export async function changesOfBatch({ db, t }: Tx, batchId: string): Promise<Map<string, Image>> {
  const { batchCards: c, images: i } = t;
  const changes = await db
    .select({ position: c.position, image: i })
    .from(c)
    .innerJoin(i, eq(i.id, c.imageId))
    .where(and(eq(c.batchId, batchId), lt(c.position, 0)))
    .orderBy(asc(c.position));
  const kept = changes.filter(({ image }) => image.forgottenAt === null);
  const cards = await db
    .select({ position: c.position, imageId: c.imageId })
    .from(c)
    .where(
      and(
        eq(c.batchId, batchId),
        inArray(
          c.position,
          kept.map(({ position }) => mirrored(position)),
        ),
      ),
    );
  const at = new Map(cards.map(({ position, imageId }) => [position, imageId]));
  return new Map(kept.map(({ position, image }) => [at.get(mirrored(position)) ?? "", image]));
}

/** A batch of whichever account: for the operator. */
export async function findAnyBatch({ db, t }: Tx, id: string): Promise<Batch | undefined> {
  const [batch] = await db.select().from(t.batches).where(eq(t.batches.id, id)).limit(1);
  return batch;
}
