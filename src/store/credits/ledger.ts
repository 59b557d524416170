import { and, desc, eq, inArray, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import type { Tables } from "../../../db/schema.ts";
import type { ListPosition } from "../../core/list-position.ts";
import { everyColumn, type Parameters, prepared } from "../engine/prepared.ts";
import type { Tx } from "../store.ts";

export type LedgerEntry = Tables["ledgerEntries"]["$inferSelect"];

const entryInsert = prepared("ledger entry insert", ({ db, t }, entry: Parameters<LedgerEntry>) =>
  db.insert(t.ledgerEntries).values(everyColumn(t.ledgerEntries, entry)),
);

export async function insertEntry(tx: Tx, entry: LedgerEntry): Promise<void> {
  await entryInsert(tx, entry);
}

/** The same for many, in few statements. */
export async function insertEntries({ db, t }: Tx, entries: LedgerEntry[]): Promise<void> {
  for (let at = 0; at < entries.length; at += ENTRIES_AT_ONCE)
    await db.insert(t.ledgerEntries).values(entries.slice(at, at + ENTRIES_AT_ONCE));
}

/** Per statement: SQLite allows 32,766 values. */
const ENTRIES_AT_ONCE = 500;

/** The reservation that pays for an image; undefined for test images, which reserve nothing. */
export async function findReservation({ db, t }: Tx, imageId: string): Promise<LedgerEntry | undefined> {
  const [entry] = await db
    .select()
    .from(t.ledgerEntries)
    .where(and(eq(t.ledgerEntries.imageId, imageId), eq(t.ledgerEntries.kind, "reserve")))
    .limit(1);
  return entry;
}

/** The reservations that pay for these images; test images have none. */
export async function findReservations({ db, t }: Tx, imageIds: string[]): Promise<LedgerEntry[]> {
  const l = t.ledgerEntries;
  return (
    db
      .select()
      .from(l)
      // Written out, as the index of them is.
      .where(and(inArray(l.imageId, imageIds), sql`${l.kind} = 'reserve'`))
  );
}

/** An account's newest grant, of plan credits or a top-up. */
export async function latestGrant({ db, t }: Tx, accountId: string): Promise<LedgerEntry | undefined> {
  const l = t.ledgerEntries;
  const [entry] = await db
    .select()
    .from(l)
    .where(and(eq(l.accountId, accountId), eq(l.kind, "grant")))
    .orderBy(desc(l.createdAt), desc(l.id))
    .limit(1);
  return entry;
}

/**
 * Whether an entry is the plan's grant of a month, phrased like the unique index that guarantees there is
 * only one.
 */
export function isPlanGrant(
  l: Tables["ledgerEntries"],
  of: { accountId: SQLWrapper; period: SQLWrapper },
): SQL | undefined {
  return and(
    eq(l.accountId, of.accountId),
    eq(l.period, of.period),
    sql`${l.kind} = 'grant' and ${l.bucket} = 'plan'`,
  );
}

const grantOfMonth = prepared(
  "plan grant",
  ({ db, t: { ledgerEntries: l } }, month: Parameters<{ accountId: string; period: string }>) =>
    db.select({ amount: l.amount }).from(l).where(isPlanGrant(l, month)).limit(1),
);

/** The plan credits granted to an account for a month; 0 when none were. */
export async function planGrant(tx: Tx, accountId: string, period: string): Promise<number> {
  const [entry] = await grantOfMonth(tx, { accountId, period });
  return entry?.amount ?? 0;
}

/** An account's newest entries with the balances after them, read at one moment. */
export async function newestEntries(
  { db, t }: Tx,
  accountId: string,
  limit: number,
): Promise<{ entries: LedgerEntry[]; available: number; held: number }> {
  const { ledgerEntries: l, accounts: a } = t;
  // One statement: an entry written between two would change the balance.
  const rows = await db
    .select({ entry: l, plan: a.creditsPlan, topup: a.creditsTopup, held: a.creditsHeld })
    .from(l)
    .innerJoin(a, eq(a.id, l.accountId))
    .where(eq(l.accountId, accountId))
    .orderBy(desc(l.createdAt), desc(l.id))
    .limit(limit);
  const { plan = 0, topup = 0, held = 0 } = rows[0] ?? {};
  return { entries: rows.map(({ entry }) => entry), available: plan + topup, held };
}

/** An account's entries, newest first, after `after`; with `grantsOnly` those that added credits. */
export async function ledgerPage(
  { db, t }: Tx,
  query: {
    accountId: string;
    grantsOnly?: boolean | undefined;
    after?: ListPosition | undefined;
    limit: number;
  },
): Promise<LedgerEntry[]> {
  const l = t.ledgerEntries;
  const { accountId, grantsOnly, after, limit } = query;
  return db
    .select()
    .from(l)
    .where(
      and(
        eq(l.accountId, accountId),
        grantsOnly ? eq(l.kind, "grant") : undefined,
        after ? sql`(${l.createdAt}, ${l.id}) < (${after.createdAt}, ${after.id})` : undefined,
      ),
    )
    .orderBy(desc(l.createdAt), desc(l.id))
    .limit(limit);
}

/** The history of an image's credit; empty for test images. Each kind has its own index by image. */
export async function entriesOfImage(tx: Tx, imageId: string): Promise<LedgerEntry[]> {
  const { db, t } = tx;
  const reservation = await findReservation(tx, imageId);
  if (!reservation) return [];
  const ends = await db
    .select()
    .from(t.ledgerEntries)
    .where(and(eq(t.ledgerEntries.imageId, imageId), inArray(t.ledgerEntries.kind, ["settle", "release"])));
  return [reservation, ...ends];
}
