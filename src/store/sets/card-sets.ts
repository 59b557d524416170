import { and, asc, desc, eq, inArray, ne, sql } from "drizzle-orm";
import type { Tables } from "../../../db/schema.ts";
import type { Environment } from "../../core/account.ts";
import type { ListPosition } from "../../core/list-position.ts";
import { ofIdempotencyKey } from "../idempotency-key.ts";
import type { Tx } from "../store.ts";

export type CardSet = Tables["cardSets"]["$inferSelect"];
export type SetPlayer = Tables["setPlayers"]["$inferSelect"];

interface Scope {
  accountId: string;
  environment: Environment;
}

/** Values that a statement names at most: SQLite accepts 32,766 in all. */
const AT_ONCE = 500;

/** The sets of this scope among these, by id. */
export async function setsById({ db, t }: Tx, scope: Scope, ids: string[]): Promise<Map<string, CardSet>> {
  const s = t.cardSets;
  const found = new Map<string, CardSet>();
  for (let at = 0; at < ids.length; at += AT_ONCE) {
    const rows = await db
      .select()
      .from(s)
      .where(inArray(s.id, ids.slice(at, at + AT_ONCE)));
    for (const row of rows)
      if (row.accountId === scope.accountId && row.environment === scope.environment) found.set(row.id, row);
  }
  return found;
}

export async function findSet(
  tx: Tx,
  { id, ...scope }: Scope & { id: string },
): Promise<CardSet | undefined> {
  return (await setsById(tx, scope, [id])).get(id);
}

/** See findSet: those that give a card a place in the set wait until this transaction ends. */
export async function lockSet(
  { db, t, locked }: Tx,
  { id, ...scope }: Scope & { id: string },
): Promise<CardSet | undefined> {
  const [row] = await locked(db.select().from(t.cardSets).where(eq(t.cardSets.id, id)));
  return row?.accountId === scope.accountId && row.environment === scope.environment ? row : undefined;
}

/** The set whose public gallery is called so. */
export async function findGallery({ db, t }: Tx, galleryName: string): Promise<CardSet | undefined> {
  const [set] = await db.select().from(t.cardSets).where(eq(t.cardSets.galleryName, galleryName)).limit(1);
  return set;
}

/** Opens a set's gallery under a name, or with null withdraws it. */
export async function nameGallery({ db, t }: Tx, id: string, galleryName: string | null): Promise<void> {
  await db.update(t.cardSets).set({ galleryName }).where(eq(t.cardSets.id, id));
}

/** Newest first, after a position. */
export async function listSets(
  { db, t }: Tx,
  query: Scope & { after?: ListPosition | undefined; limit: number },
): Promise<CardSet[]> {
  const s = t.cardSets;
  const { after } = query;
  return db
    .select()
    .from(s)
    .where(
      and(
        eq(s.accountId, query.accountId),
        eq(s.environment, query.environment),
        after ? sql`(${s.createdAt}, ${s.id}) < (${after.createdAt}, ${after.id})` : undefined,
      ),
    )
    .orderBy(desc(s.createdAt), desc(s.id))
    .limit(query.limit);
}

/** The set that was made with this idempotency key, however long ago. */
export async function findSetByKey(
  { db, t }: Tx,
  scope: Scope & { key: string },
): Promise<CardSet | undefined> {
  const [set] = await db.select().from(t.cardSets).where(ofIdempotencyKey(t.cardSets, scope)).limit(1);
  return set;
}

/** Frees an expired idempotency key for reuse. */
export async function freeSetKey({ db, t }: Tx, scope: Scope & { key: string }): Promise<void> {
  await db.update(t.cardSets).set({ idempotencyKey: null }).where(ofIdempotencyKey(t.cardSets, scope));
}

export async function countSets({ db, t }: Tx, { accountId, environment }: Scope): Promise<number> {
  const s = t.cardSets;
  const own = and(eq(s.accountId, accountId), eq(s.environment, environment));
  const [row] = await db
    .select({ n: sql<number>`count(*)`.mapWith(Number) })
    .from(s)
    .where(own);
  return row?.n ?? 0;
}

export async function insertSet({ db, t }: Tx, set: CardSet, players: SetPlayer[]): Promise<void> {
  await db.insert(t.cardSets).values(set);
  for (let at = 0; at < players.length; at += AT_ONCE)
    await db.insert(t.setPlayers).values(players.slice(at, at + AT_ONCE));
}

/** Deletes a set without cards, with its checklist and what failed cards left. */
export async function deleteSet({ db, t }: Tx, id: string): Promise<void> {
  await db.delete(t.setCards).where(and(eq(t.setCards.setId, id), eq(t.setCards.state, "released")));
  await db.delete(t.setPlayers).where(eq(t.setPlayers.setId, id));
  await db.delete(t.cardSets).where(eq(t.cardSets.id, id));
}

/** The checklist in its order; players who were deleted keep their places, without id and name. */
export async function playersOfSet({ db, t }: Tx, setId: string): Promise<SetPlayer[]> {
  const p = t.setPlayers;
  return db.select().from(p).where(eq(p.setId, setId)).orderBy(asc(p.position));
}

/**
 * The places of these players in the checklists of these sets. `lock`: nobody else gives them numbers until
 * this transaction ends. Always in one order, so that two of them never wait for each other.
 */
export async function checklistPlaces(
  { db, t, locked }: Tx,
  { setIds, externalIds, lock }: { setIds: string[]; externalIds: string[]; lock: boolean },
): Promise<SetPlayer[]> {
  const p = t.setPlayers;
  const sorted = [...new Set(externalIds)].sort();
  const found: SetPlayer[] = [];
  for (let at = 0; at < sorted.length; at += AT_ONCE) {
    const some = inArray(p.externalId, sorted.slice(at, at + AT_ONCE));
    const rows = db
      .select()
      .from(p)
      .where(and(some, ne(p.externalId, sql`''`), inArray(p.setId, setIds)))
      .orderBy(asc(p.externalId), asc(p.setId));
    found.push(...(await (lock ? locked(rows) : rows)));
  }
  return found;
}

/** Takes a player's id, name and number off all checklists of a scope; the places stay. */
export async function emptyChecklists(
  { db, t }: Tx,
  { accountId, environment, externalId }: Scope & { externalId: string },
): Promise<boolean> {
  const { setPlayers: p, cardSets: s } = t;
  const own = db
    .select({ id: s.id })
    .from(s)
    .where(and(eq(s.accountId, accountId), eq(s.environment, environment)));
  const emptied = await db
    .update(p)
    .set({ externalId: "", name: "", number: null })
    .where(and(eq(p.externalId, externalId), ne(p.externalId, sql`''`), inArray(p.setId, own)))
    .returning({ setId: p.setId });
  return emptied.length > 0;
}
