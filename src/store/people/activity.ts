import { and, desc, eq, inArray, lt, sql } from "drizzle-orm";
import type { Tables } from "../../../db/schema.ts";
import type { ListPosition } from "../../core/list-position.ts";
import type { Tx } from "../store.ts";

export type ActivityEntry = Tables["auditEntries"]["$inferSelect"];

export async function insertActivity({ db, t }: Tx, entry: ActivityEntry): Promise<void> {
  await db.insert(t.auditEntries).values(entry);
}

/** Whether it is time for `deleteOldActivity`. */
export async function hasOldActivity({ db, t }: Tx, before: number): Promise<boolean> {
  const a = t.auditEntries;
  return (await db.select({ id: a.id }).from(a).where(lt(a.createdAt, before)).limit(1)).length > 0;
}

/** Deletes up to `limit` entries older than a given time. Returns how many. */
export async function deleteOldActivity({ db, t }: Tx, before: number, limit: number): Promise<number> {
  const a = t.auditEntries;
  const old = db.select({ id: a.id }).from(a).where(lt(a.createdAt, before)).limit(limit);
  return (await db.delete(a).where(inArray(a.id, old)).returning({ id: a.id })).length;
}

/**
 * Who did one of these things in an account at a moment: an e-mail address, null for the command line, the
 * API or somebody who is gone; undefined when the log does not reach back so far.
 */
export async function actorAt(
  { db, t }: Tx,
  { accountId, actions, at }: { accountId: string; actions: string[]; at: number },
): Promise<string | null | undefined> {
  const a = t.auditEntries;
  const [found] = await db
    .select({ email: t.users.email })
    .from(a)
    .leftJoin(t.users, eq(t.users.id, a.userId))
    .where(and(eq(a.accountId, accountId), eq(a.createdAt, at), inArray(a.action, actions)))
    .limit(1);
  return found?.email;
}

export interface ActivityRow {
  entry: ActivityEntry;
  /** The actor; null for the command line. */
  email: string | null;
  /** 1 when the actor is an operator now. */
  isOperator: number | null;
  accountName: string | null;
}

/** Newest first. */
export async function listActivity(
  { db, t }: Tx,
  query: { accountId?: string | undefined; after?: ListPosition | undefined; limit: number },
): Promise<ActivityRow[]> {
  const a = t.auditEntries;
  const { accountId, after, limit } = query;
  return db
    .select({ entry: a, email: t.users.email, isOperator: t.users.isOperator, accountName: t.accounts.name })
    .from(a)
    .leftJoin(t.users, eq(t.users.id, a.userId))
    .leftJoin(t.accounts, eq(t.accounts.id, a.accountId))
    .where(
      and(
        accountId === undefined ? undefined : eq(a.accountId, accountId),
        after ? sql`(${a.createdAt}, ${a.id}) < (${after.createdAt}, ${after.id})` : undefined,
      ),
    )
    .orderBy(desc(a.createdAt), desc(a.id))
    .limit(limit);
}
