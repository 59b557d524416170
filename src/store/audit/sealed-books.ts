import { createHash } from "node:crypto";
import { and, asc, eq, gt, lte, max, sql } from "drizzle-orm";
import type { Environment } from "../../core/account.ts";
import { addSums, type BookSum, type BookSums } from "../../core/books.ts";
import type { Tx } from "../store.ts";
import type { Span } from "./audit-sums.ts";

/**
 * A few seconds of reading at most, in one statement; large enough that few of its rows are of an account
 * each.
 */
const IMAGES_PER_SPAN = 20_000;

/** Before every end of an image. */
export const BEGINNING = -1;

export interface SealedSpan extends Span {
  images: number;
  sums: BookSums;
  digest: string;
  /** Whether the digest is that of the span and its sums. */
  isIntact: boolean;
  /** Epoch milliseconds. */
  checkedAt: number;
}

/** The images that ended next after `after`, none of them later than `before`; undefined where none did. */
export async function nextSpan(
  { db, t }: Tx,
  { after, before }: { after: number; before: number },
): Promise<Span | undefined> {
  const { completedAt } = t.images;
  const ended = and(gt(completedAt, after), lte(completedAt, before));
  const [full] = await db
    .select({ until: completedAt })
    .from(t.images)
    .where(ended)
    .orderBy(asc(completedAt))
    .offset(IMAGES_PER_SPAN - 1)
    .limit(1);
  const [last] = full
    ? [full]
    : await db
        .select({ until: max(completedAt) })
        .from(t.images)
        .where(ended);
  return last?.until == null ? undefined : { after, until: last.until };
}

/** All sealed sums together, and the time up to which images are in them. */
export async function sealedBooks({ db, t }: Tx): Promise<{ sums: BookSums; until: number }> {
  const { sealedSums: s, sealedSpans } = t;
  const { accountId, environment, bucket, period, completed, failed, expired } = s;
  // In one statement: another audit may be sealing.
  const last = sql`(select max(${sealedSpans.until}) from ${sealedSpans})`.mapWith(Number).as("sealed_until");
  const rows = await db
    .select({ accountId, environment, bucket, period, completed, failed, expired, last })
    .from(s);
  const sums = rows.map(({ last: _, ...row }) => ({ ...row, open: 0 }));
  return { sums: addSums(new Map(), sums), until: rows[0]?.last ?? BEGINNING };
}

/** The sealed span after that time; undefined after the last. */
export async function sealedSpanAfter({ db, t }: Tx, after: number): Promise<SealedSpan | undefined> {
  const s = t.sealedSpans;
  const [row] = await db.select().from(s).where(gt(s.until, after)).orderBy(asc(s.until)).limit(1);
  if (!row) return undefined;
  const { until, images, digest, checkedAt } = row;
  const sums = fromValues(row.sums);
  const isIntact = sealed({ after, until }, sums).digest === digest;
  return { after, until, images, sums, digest, isIntact, checkedAt };
}

/**
 * Seals the span after all sealed ones, in the caller's transaction. Returns false, and does nothing, where
 * another audit was faster.
 */
export async function sealSpan(
  tx: Tx,
  { after, until }: Span,
  sums: BookSums,
  now: number,
): Promise<boolean> {
  const { db, t } = tx;
  const [last] = await db.select({ until: max(t.sealedSpans.until) }).from(t.sealedSpans);
  if ((last?.until ?? BEGINNING) !== after) return false;
  const { images, values, digest } = sealed({ after, until }, sums);
  await db
    .insert(t.sealedSpans)
    .values({ until, images, sums: values, digest, sealedAt: now, checkedAt: now });
  await addToSums(tx, sums);
  return true;
}

/** Notes that a sealed span was computed anew, and what has come to it since. */
export async function noteChecked(
  tx: Tx,
  span: SealedSpan,
  sums: BookSums,
  checkedAt: number,
): Promise<void> {
  const { db, t } = tx;
  const { images, values, digest } = sealed(span, sums);
  const [noted] = await db
    .update(t.sealedSpans)
    .set({ images, sums: values, digest, checkedAt })
    .where(and(eq(t.sealedSpans.until, span.until), eq(t.sealedSpans.digest, span.digest)))
    .returning({ until: t.sealedSpans.until });
  if (!noted || digest === span.digest) return;
  const before = [...span.sums.values()].map(({ completed, failed, expired, ...of }) => ({
    ...of,
    completed: -completed,
    failed: -failed,
    expired: -expired,
  }));
  await addToSums(tx, addSums(addSums(new Map(), sums.values()), before));
}

/** Forgets all seals; the next audit begins at the beginning. */
export async function breakSeals({ db, t }: Tx): Promise<void> {
  await db.delete(t.sealedSpans);
  await db.delete(t.sealedSums);
}

const SUMS_AT_ONCE = 500;

async function addToSums({ db, t }: Tx, sums: BookSums): Promise<void> {
  const s = t.sealedSums;
  const rows = [...sums.values()]
    .filter(({ completed, failed, expired }) => completed !== 0 || failed !== 0 || expired !== 0)
    .map(({ open: _, environment, ...sum }) => ({ ...sum, environment: environment as Environment }));
  for (let at = 0; at < rows.length; at += SUMS_AT_ONCE)
    await db
      .insert(s)
      .values(rows.slice(at, at + SUMS_AT_ONCE))
      .onConflictDoUpdate({
        target: [s.accountId, s.environment, s.bucket, s.period],
        set: {
          completed: sql`${s.completed} + excluded.completed`,
          failed: sql`${s.failed} + excluded.failed`,
          expired: sql`${s.expired} + excluded.expired`,
        },
      });
}

/** How many images have ended that are in the sums. */
export const imagesIn = (sums: BookSums) =>
  sums.values().reduce((all, { completed, failed }) => all + completed + failed, 0);

type Values = (string | number)[][];

/** In one order, whatever order they were found in: their digest distinguishes them. */
const toValues = (sums: BookSums): Values =>
  [...sums.entries()]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, s]) => [s.accountId, s.environment, s.bucket, s.period, s.completed, s.failed, s.expired]);

function fromValues(values: Values): BookSums {
  const sums = (values as [string, string, string, string, number, number, number][]).map(
    ([accountId, environment, bucket, period, completed, failed, expired]): BookSum => ({
      accountId,
      environment,
      bucket,
      period,
      completed,
      failed,
      expired,
      open: 0,
    }),
  );
  return addSums(new Map(), sums);
}

/** What is kept of a span. */
function sealed({ after, until }: Span, sums: BookSums): { images: number; values: Values; digest: string } {
  const values = toValues(sums);
  const digest = createHash("sha256")
    .update(JSON.stringify([after, until, values]))
    .digest("hex");
  return { images: imagesIn(sums), values, digest };
}
