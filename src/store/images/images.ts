import { and, asc, eq, gt, inArray, isNull, lte, or, sql } from "drizzle-orm";
import type { Tables } from "../../../db/schema.ts";
import type { Environment } from "../../core/account.ts";
import type { Composition } from "../../core/card.ts";
import type { FailureReason } from "../../core/failure-reasons.ts";
import { LEASE_MS, MAX_RETRY_PAUSE_MS } from "../../core/limits.ts";
import { everyColumn, type Parameters, prepared } from "../engine/prepared.ts";
import type { Tx } from "../store.ts";
import { insertMetadata } from "./image-metadata.ts";
import type { Receipt } from "./receipts.ts";

export type Image = Tables["images"]["$inferSelect"];

/** Proof of a claim: only its holder may end the render. */
export interface Lease {
  imageId: string;
  token: string;
}

export interface ImageOutput {
  name: string;
  width: number;
  height: number;
  contentType: string;
  bytes: number;
  composition: Composition;
  /** The template actually used; absent when none was drawn. */
  template?: Pick<Image, "templateVersion" | "templateDigest">;
  /** The card's other side; absent where none was asked for. */
  back?: { name: string; bytes: number } | undefined;
  /** How it was made; absent likewise. */
  receipt?: Receipt;
}

/**
 * Unfinished. This is the condition of the queue's partial indexes, which queries must repeat to use them.
 */
export function unfinished({ images }: Tables) {
  return isNull(images.completedAt);
}

const imageInsert = prepared("image insert", ({ db, t }, image: Parameters<Image>) =>
  db.insert(t.images).values(everyColumn(t.images, image)),
);

export async function insertImage(tx: Tx, image: Image): Promise<void> {
  await imageInsert(tx, image);
  await insertMetadata(tx, [image]);
}

/**
 * Waiting, with its pause over. A pause longer than any was written by a clock that has since been set back.
 */
function isDue({ images: i }: Tables, environment: Environment, now: number) {
  const over = or(lte(i.availableAt, now), gt(i.availableAt, now + MAX_RETRY_PAUSE_MS));
  return and(eq(i.environment, environment), isNull(i.completedAt), eq(i.state, "queued"), over);
}

/**
 * Whether an image waits to be claimed. Read before claiming, so that an idle service takes no write lock.
 */
export async function hasClaimable({ db, t }: Tx, environment: Environment, now: number): Promise<boolean> {
  const i = t.images;
  const rows = await db
    .select({ id: i.id })
    .from(i)
    .where(isDue(t, environment, now))
    .limit(1);
  return rows.length > 0;
}

type OwnClaim = { token: string; now: number; leaseExpiresAt: number };

const underLease = ({ token, now, leaseExpiresAt }: OwnClaim) =>
  ({ state: "rendering", leaseToken: token, leaseExpiresAt, updatedAt: now }) as const;

/** Claims the next image for one render, or undefined when nothing waits. */
export async function claimNextImage(
  { db, t, claimable }: Tx,
  claim: OwnClaim & { environment: Environment },
): Promise<Image | undefined> {
  const i = t.images;
  const next = db
    .select({ id: i.id })
    .from(i)
    .where(isDue(t, claim.environment, claim.now))
    .orderBy(asc(i.turn), asc(i.createdAt))
    .limit(1);
  const [image] = await db
    .update(i)
    .set({ ...underLease(claim), renders: sql`${i.renders} + 1` })
    // A scalar subquery rather than a list: it is evaluated once, whatever the plan.
    .where(and(eq(i.id, claimable(next)), eq(i.state, "queued")))
    .returning();
  return image;
}

/** Claims this image for one render; undefined when it is not queued. */
export async function claimQueued({ db, t }: Tx, id: string, claim: OwnClaim): Promise<Image | undefined> {
  const i = t.images;
  const [image] = await db
    .update(i)
    .set({ ...underLease(claim), renders: sql`${i.renders} + 1` })
    .where(and(eq(i.id, id), eq(i.state, "queued")))
    .returning();
  return image;
}

/**
 * Claims an image whose worker died; undefined when it is not being rendered. `isSpent`: it has been rendered
 * `maxRenders` times already.
 */
export async function inheritImage(
  { db, t }: Tx,
  id: string,
  claim: OwnClaim,
  maxRenders: number,
): Promise<{ image: Image; isSpent: boolean } | undefined> {
  const i = t.images;
  const isDead = and(eq(i.id, id), eq(i.state, "rendering"));
  const [dead] = await db.select({ renders: i.renders }).from(i).where(isDead);
  if (!dead) return undefined;
  const isSpent = dead.renders >= maxRenders;
  const [image] = await db
    .update(i)
    .set({ ...underLease(claim), renders: dead.renders + (isSpent ? 0 : 1) })
    .where(isDead)
    .returning();
  return image && { image, isSpent };
}

/** The condition that fences every end of a render: a lost lease matches nothing. */
function heldBy(t: Tables, lease: Lease) {
  return and(
    eq(t.images.id, lease.imageId),
    eq(t.images.state, "rendering"),
    eq(t.images.leaseToken, lease.token),
  );
}

const NO_LEASE = { leaseToken: null, leaseExpiresAt: null } as const;
const ended = (now: number) => ({ ...NO_LEASE, completedAt: now, updatedAt: now });

/** Kept from now on, or from its publication on. Undefined when the lease was lost. */
export async function completeImage(
  { db, t }: Tx,
  lease: Lease,
  end: { output: ImageOutput; now: number; keptMs: number },
): Promise<Image | undefined> {
  const { publishAt } = t.images;
  const shownFrom = sql`case when ${publishAt} > ${end.now} then ${publishAt} else ${end.now} end`;
  const [image] = await db
    .update(t.images)
    .set({
      ...ended(end.now),
      state: "completed",
      outputName: end.output.name,
      outputWidth: end.output.width,
      outputHeight: end.output.height,
      outputContentType: end.output.contentType,
      outputBytes: end.output.bytes,
      backOutputName: end.output.back?.name ?? null,
      backOutputBytes: end.output.back?.bytes ?? null,
      outputComposition: end.output.composition,
      ...end.output.template,
      expiresAt: sql`${shownFrom} + ${end.keptMs}`,
    })
    .where(heldBy(t, lease))
    .returning();
  return image;
}

/** Undefined when the lease was lost. */
export async function failImage(
  { db, t }: Tx,
  lease: Lease,
  end: { code: string; message: string; reason: FailureReason; now: number },
): Promise<Image | undefined> {
  const [image] = await db
    .update(t.images)
    .set({
      ...ended(end.now),
      state: "failed",
      failureCode: end.code,
      failureMessage: end.message,
      failureReason: end.reason,
    })
    .where(heldBy(t, lease))
    .returning();
  return image;
}

/** Returns a claimed image to the queue. `uncounted` subtracts the render again: nobody tried it. */
export async function requeueImage(
  { db, t }: Tx,
  lease: Lease,
  back: { now: number; availableAt: number; uncounted?: boolean },
): Promise<Image | undefined> {
  const [image] = await db
    .update(t.images)
    .set({
      ...NO_LEASE,
      state: "queued",
      availableAt: back.availableAt,
      updatedAt: back.now,
      ...(back.uncounted ? { renders: sql`${t.images.renders} - 1` } : {}),
    })
    .where(heldBy(t, lease))
    .returning();
  return image;
}

/**
 * Moves all waiting images of an account's lane back by one turn, because one of its renders came to nothing
 * and fair queueing counts renders. Otherwise an account whose images fail, and are tried five times each,
 * would get five times its share.
 */
export async function postponeTurns(
  { db, t }: Tx,
  scope: { accountId: string; environment: Environment; lane: number },
): Promise<void> {
  const i = t.images;
  await db
    .update(i)
    .set({ turn: sql`${i.turn} + 1` })
    .where(
      and(
        eq(i.accountId, scope.accountId),
        eq(i.environment, scope.environment),
        eq(i.lane, scope.lane),
        unfinished(t),
        eq(i.state, "queued"),
      ),
    );
}

/**
 * Renders whose lease expired before `now`, or lasts longer than any, dating from before the clock was set
 * back; with `tokens`, instead those of these leases.
 */
export async function abandonedRenders(
  { db, t }: Tx,
  query: { now: number; limit: number; tokens?: readonly string[] | undefined },
): Promise<(Lease & { renders: number })[]> {
  const i = t.images;
  const rows = await db
    .select({ imageId: i.id, token: i.leaseToken, renders: i.renders })
    .from(i)
    .where(
      and(
        inArray(i.environment, ["live", "test"]),
        unfinished(t),
        eq(i.state, "rendering"),
        query.tokens
          ? inArray(i.leaseToken, [...query.tokens])
          : or(lte(i.leaseExpiresAt, query.now), gt(i.leaseExpiresAt, query.now + 2 * LEASE_MS)),
      ),
    )
    .limit(query.limit);
  return rows.map((row) => ({ ...row, token: row.token ?? "" }));
}
