import { and, desc, eq, getTableColumns, inArray, lt, lte, type SQL, sql } from "drizzle-orm";
import type { Tables } from "../../../db/schema.ts";
import type { Environment } from "../../core/account.ts";
import { MAX_LOG_EXAMINED } from "../../core/limits.ts";
import type { ListPosition } from "../../core/list-position.ts";
import { pageBounds } from "../page-bounds.ts";
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

interface RequestQuery extends RequestFilter {
  after?: ListPosition | undefined;
  limit: number;
}

export interface RequestPage {
  requests: RequestRow[];
  /** Where the next page begins; null on the last one. */
  next: ListPosition | null;
}

/**
 * A page of the log, newest first. Where few requests fit it may have fewer than `limit` of them and go on
 * nevertheless.
 */
export async function listRequests(tx: Tx, query: RequestQuery): Promise<RequestPage> {
  const examined = isExact(query) ? query.limit + 1 : MAX_LOG_EXAMINED;
  const found = await requestsQuery(tx, query, examined);
  const requests = found.slice(0, query.limit);
  const last = requests.at(-1);
  if (found.length > query.limit && last) return { requests, next: last };
  if (isExact(query)) return { requests, next: null };
  const [next] = await candidates(tx, query)
    .limit(1)
    .offset(examined - 1);
  return { requests, next: next ?? null };
}

/** Whether every candidate fits, so that no more are looked at than the page has. */
function isExact({ refused, status, externalId, environment }: RequestFilter): boolean {
  return status === undefined && environment === undefined && !(refused && externalId !== undefined);
}

function requestsQuery(tx: Tx, query: RequestQuery, examined: number) {
  const { requestLog: l } = tx.t;
  const { refused, status, environment } = query;
  if (isExact(query) && query.externalId === undefined)
    return tx.db
      .select()
      .from(l)
      .where(ofAnyPlayer(tx, query))
      .orderBy(desc(l.createdAt), desc(l.id))
      .limit(examined);
  const examinedOnes = candidates(tx, query).limit(examined).as("candidates");
  return tx.db
    .select(getTableColumns(l))
    .from(examinedOnes)
    .innerJoin(l, eq(l.id, examinedOnes.id))
    .where(
      and(
        refused ? sql`${l.status} >= 400` : undefined,
        status === undefined ? undefined : eq(l.status, status),
        environment === undefined ? undefined : eq(l.environment, environment),
      ),
    )
    .orderBy(desc(examinedOnes.createdAt), desc(examinedOnes.id))
    .limit(query.limit + 1);
}

/** Ids and moments of requests in the log's order, by the filter that is likely to leave the fewest. */
function candidates(tx: Tx, query: RequestQuery) {
  const { db, t } = tx;
  const { requestLog: l, requestPlayers: p } = t;
  const { accountId, externalId } = query;
  if (externalId === undefined)
    return db
      .select({ id: l.id, createdAt: l.createdAt })
      .from(l)
      .where(ofAnyPlayer(tx, query))
      .orderBy(desc(l.createdAt), desc(l.id))
      .$dynamic();
  const own = db
    .select({ id: l.id, createdAt: l.createdAt })
    .from(l)
    .where(
      and(eq(l.accountId, accountId), eq(l.externalId, externalId), pageBounds(l.createdAt, l.id, query)),
    )
    .orderBy(desc(l.createdAt), desc(l.id))
    .limit(MAX_LOG_EXAMINED)
    .as("own");
  const ofMany = db
    .select({ id: p.requestId, createdAt: p.createdAt })
    .from(p)
    .where(
      and(
        eq(p.accountId, accountId),
        eq(p.externalId, externalId),
        pageBounds(p.createdAt, p.requestId, query),
      ),
    )
    .orderBy(desc(p.createdAt), desc(p.requestId))
    .limit(MAX_LOG_EXAMINED)
    .as("of_many");
  // Each by itself up to a limit: neither engine would merge the two along their indexes.
  const both = db.select().from(own).union(db.select().from(ofMany)).as("both");
  return db.select().from(both).orderBy(desc(both.createdAt), desc(both.id)).$dynamic();
}

function ofAnyPlayer({ t: { requestLog: l } }: Tx, query: RequestQuery): SQL | undefined {
  const { accountId, refused = false, status = 0 } = query;
  return and(
    eq(l.accountId, accountId),
    // Written out, as the index of the few is.
    refused || status >= 400 ? sql`${l.status} >= 400` : undefined,
    pageBounds(l.createdAt, l.id, query),
  );
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
