import { and, asc, eq, isNull, sql } from "drizzle-orm";
import type { Tables } from "../../../db/schema.ts";
import { type Parameters, prepared } from "../engine/prepared.ts";
import type { Tx } from "../store.ts";
import type { Account } from "./accounts.ts";

export type ApiKey = Tables["apiKeys"]["$inferSelect"];

export async function insertKey({ db, t }: Tx, key: ApiKey): Promise<void> {
  await db.insert(t.apiKeys).values(key);
}

const keyByHash = prepared("key by hash", ({ db, t }, { hash }: Parameters<{ hash: string }>) =>
  db
    .select({ key: t.apiKeys, account: t.accounts })
    .from(t.apiKeys)
    .innerJoin(t.accounts, eq(t.accounts.id, t.apiKeys.accountId))
    .where(eq(t.apiKeys.hash, hash))
    .limit(1),
);

/** The key with this hash, revoked or not, with its account. */
export async function findKeyByHash(
  tx: Tx,
  hash: string,
): Promise<{ key: ApiKey; account: Account } | undefined> {
  const [row] = await keyByHash(tx, { hash });
  return row;
}

const keyById = prepared("key by id", ({ db, t }, { id }: Parameters<{ id: string }>) =>
  db
    .select({ key: t.apiKeys, account: t.accounts })
    .from(t.apiKeys)
    .innerJoin(t.accounts, eq(t.accounts.id, t.apiKeys.accountId))
    .where(eq(t.apiKeys.id, id))
    .limit(1),
);

/** The key with this id, revoked or not, with its account. */
export async function findKeyWithAccount(
  tx: Tx,
  id: string,
): Promise<{ key: ApiKey; account: Account } | undefined> {
  const [row] = await keyById(tx, { id });
  return row;
}

/** Gives a key in force another signing secret, or none. Undefined when there is no such key. */
export async function setSigningSecret(
  { db, t }: Tx,
  id: string,
  signingSecret: string | null,
): Promise<ApiKey | undefined> {
  const [key] = await db
    .update(t.apiKeys)
    .set({ signingSecret })
    .where(and(eq(t.apiKeys.id, id), isNull(t.apiKeys.revokedAt)))
    .returning();
  return key;
}

export async function findKey({ db, t }: Tx, id: string): Promise<ApiKey | undefined> {
  const [key] = await db.select().from(t.apiKeys).where(eq(t.apiKeys.id, id)).limit(1);
  return key;
}

export async function listKeys({ db, t }: Tx, accountId: string): Promise<ApiKey[]> {
  return db
    .select()
    .from(t.apiKeys)
    .where(eq(t.apiKeys.accountId, accountId))
    .orderBy(asc(t.apiKeys.createdAt), asc(t.apiKeys.id));
}

export async function countKeysInForce({ db, t }: Tx, accountId: string): Promise<number> {
  const [row] = await db
    .select({ n: sql<number>`count(*)`.mapWith(Number) })
    .from(t.apiKeys)
    .where(and(eq(t.apiKeys.accountId, accountId), isNull(t.apiKeys.revokedAt)));
  return row?.n ?? 0;
}

/** Revokes a key, keeping the time of the first revocation. Undefined when there is no such key. */
export async function setKeyRevoked({ db, t }: Tx, id: string, now: number): Promise<ApiKey | undefined> {
  await db
    .update(t.apiKeys)
    .set({ revokedAt: now })
    .where(and(eq(t.apiKeys.id, id), isNull(t.apiKeys.revokedAt)));
  const [key] = await db.select().from(t.apiKeys).where(eq(t.apiKeys.id, id)).limit(1);
  return key;
}

export async function touchKey({ db, t }: Tx, id: string, now: number): Promise<void> {
  await db.update(t.apiKeys).set({ lastUsedAt: now }).where(eq(t.apiKeys.id, id));
}
