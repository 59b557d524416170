import { and, desc, eq, inArray, lt, lte, sql } from "drizzle-orm";
import type { Tables } from "../../db/schema.ts";
import type { ListPosition } from "../core/list-position.ts";
import type { Tx } from "./store.ts";

/** One request with an account's key, and how it was answered. */
export type RequestRow = Tables["requestLog"]["$inferSelect"];

export async function insertRequests({ db, t }: Tx, rows: RequestRow[]): Promise<void> {
  if (rows.length > 0) await db.insert(t.requestLog).values(rows).onConflictDoNothing();
}

export interface RequestFilter {
  accountId: string;
  /** Only those that were refused or failed. */
  refused?: boolean;
  /** Only those answered with this status. */
  status?: number | undefined;
  /** Only those concerning this player. */
  externalId?: string | undefined;
}

/** Newest first, after `after`. */
export async function listRequests(
  { db, t }: Tx,
  query: RequestFilter & { after?: ListPosition | undefined; limit: number },
): Promise<RequestRow[]> {
  const l = t.requestLog;
  const { accountId, refused = false, status, externalId, after, limit } = query;
  return db
    .select()
    .from(l)
    .where(
      and(
        eq(l.accountId, accountId),
        // Written out, as the indexes of the few are.
        refused || (status ?? 0) >= 400 ? sql`${l.status} >= 400` : undefined,
        status === undefined ? undefined : eq(l.status, status),
        externalId === undefined ? undefined : eq(l.externalId, externalId),
        after ? sql`(${l.createdAt}, ${l.id}) < (${after.createdAt}, ${after.id})` : undefined,
      ),
    )
    .orderBy(desc(l.createdAt), desc(l.id))
    .limit(limit);
}

/** A request of this account. */
export async function findRequest(
  { db, t }: Tx,
  accountId: string,
  id: string,
): Promise<RequestRow | undefined> {
  const [row] = await db.select().from(t.requestLog).where(eq(t.requestLog.id, id)).limit(1);
  return row?.accountId === accountId ? row : undefined;
}

/** Deletes up to `limit` requests from before `before`; returns how many went. */
export async function deleteOldRequests({ db, t }: Tx, before: number, limit: number): Promise<number> {
  const l = t.requestLog;
  const old = db.select({ id: l.id }).from(l).where(lt(l.createdAt, before)).limit(limit);
  const gone = await db
    .delete(l)
    .where(and(inArray(l.id, old), lte(l.createdAt, before)))
    .returning({ id: l.id });
  return gone.length;
}
