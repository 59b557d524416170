import { and, desc, eq, gte, inArray, lt, lte, sql } from "drizzle-orm";
import type { Tables } from "../../../db/schema.ts";
import type { Environment } from "../../core/account.ts";
import type { ListPosition } from "../../core/list-position.ts";
import type { Tx } from "../store.ts";

/** One request with an account's key, and how it was answered. */
export type RequestRow = Tables["requestLog"]["$inferSelect"];

/** A row, and the players it is about where they are many. */
export type LoggedRequest = RequestRow & { players: string[] };

/** SQLite accepts 32,766 bound values in all. */
const PLAYERS_AT_ONCE = 1_000;

export async function insertRequests({ db, t }: Tx, requests: LoggedRequest[]): Promise<void> {
  if (requests.length === 0) return;
  const rows = requests.map(({ players: _, ...row }) => row);
  await db.insert(t.requestLog).values(rows).onConflictDoNothing();
  const players = requests.flatMap(({ id: requestId, accountId, createdAt, players: externalIds }) =>
    externalIds.map((externalId) => ({ requestId, accountId, externalId, createdAt })),
  );
  for (let at = 0; at < players.length; at += PLAYERS_AT_ONCE)
    await db
      .insert(t.requestPlayers)
      .values(players.slice(at, at + PLAYERS_AT_ONCE))
      .onConflictDoNothing();
}

export interface RequestFilter {
  accountId: string;
  /** Only those that were refused or failed. */
  refused?: boolean;
  /** Only those answered with this status. */
  status?: number | undefined;
  /** Only those concerning this player. */
  externalId?: string | undefined;
  environment?: Environment | undefined;
  /** Made at or after this moment and before that one, epoch milliseconds. */
  from?: number | undefined;
  before?: number | undefined;
}

/** Newest first, after `after`. */
export async function listRequests(
  { db, t }: Tx,
  query: RequestFilter & { after?: ListPosition | undefined; limit: number },
): Promise<RequestRow[]> {
  const { requestLog: l, requestPlayers: p } = t;
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
        query.environment === undefined ? undefined : eq(l.environment, query.environment),
        query.from === undefined ? undefined : gte(l.createdAt, query.from),
        query.before === undefined ? undefined : lt(l.createdAt, query.before),
        externalId === undefined
          ? undefined
          : inArray(
              l.id,
              db
                .select({ id: l.id })
                .from(l)
                .where(and(eq(l.accountId, accountId), eq(l.externalId, externalId)))
                .unionAll(
                  db
                    .select({ id: p.requestId })
                    .from(p)
                    .where(and(eq(p.accountId, accountId), eq(p.externalId, externalId))),
                ),
            ),
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

/**
 * Deletes up to `limit` requests from before `before`, and the players of as many. Returns how many went of
 * what there was more of: fewer than `limit` once none are left.
 */
export async function deleteOldRequests({ db, t }: Tx, before: number, limit: number): Promise<number> {
  const { requestLog: l, requestPlayers: p } = t;
  const oldPlayers = db.select({ id: p.requestId }).from(p).where(lt(p.createdAt, before)).limit(limit);
  const gonePlayers = await db
    .delete(p)
    .where(inArray(p.requestId, oldPlayers))
    .returning({ id: p.requestId });
  const old = db.select({ id: l.id }).from(l).where(lt(l.createdAt, before)).limit(limit);
  const gone = await db
    .delete(l)
    .where(and(inArray(l.id, old), lte(l.createdAt, before)))
    .returning({ id: l.id });
  return Math.max(gone.length, gonePlayers.length);
}
