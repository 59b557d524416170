import { and, asc, eq, sql } from "drizzle-orm";
import type { Tables } from "../../../db/schema.ts";
import type { Tx } from "../store.ts";

/** How an account's cards look, saved under a name. */
export type BrandKit = Tables["brandKits"]["$inferSelect"];

/** An account's kits by name. */
export async function listKits({ db, t }: Tx, accountId: string): Promise<BrandKit[]> {
  const k = t.brandKits;
  return db.select().from(k).where(eq(k.accountId, accountId)).orderBy(asc(k.name));
}

export async function findKit(
  { db, t }: Tx,
  { accountId, id }: Pick<BrandKit, "accountId" | "id">,
): Promise<BrandKit | undefined> {
  const k = t.brandKits;
  const [kit] = await db
    .select()
    .from(k)
    .where(and(eq(k.id, id), eq(k.accountId, accountId)));
  return kit;
}

/** Whether another kit of the account than `id` has this name. */
export async function isKitNameTaken(
  { db, t }: Tx,
  { accountId, id, name }: Pick<BrandKit, "accountId" | "id" | "name">,
): Promise<boolean> {
  const k = t.brandKits;
  const [other] = await db
    .select({ id: k.id })
    .from(k)
    .where(and(eq(k.accountId, accountId), eq(k.name, name)));
  return other !== undefined && other.id !== id;
}

/** Whether a kit of the account has this badge. */
export async function isBadgeOfKit(
  { db, t }: Tx,
  { accountId, badgeUrl }: Pick<BrandKit, "accountId" | "badgeUrl">,
): Promise<boolean> {
  const k = t.brandKits;
  const kits = await db
    .select({ id: k.id })
    .from(k)
    .where(and(eq(k.accountId, accountId), eq(k.badgeUrl, badgeUrl)))
    .limit(1);
  return kits.length > 0;
}

export async function countKits({ db, t }: Tx, accountId: string): Promise<number> {
  const k = t.brandKits;
  const [row] = await db
    .select({ n: sql<number>`count(*)`.mapWith(Number) })
    .from(k)
    .where(eq(k.accountId, accountId));
  return row?.n ?? 0;
}

/** Writes a kit, or writes it over the one of its id. */
export async function putKit({ db, t }: Tx, kit: BrandKit): Promise<void> {
  const { id, accountId, createdAt, ...rest } = kit;
  await db.insert(t.brandKits).values(kit).onConflictDoUpdate({ target: t.brandKits.id, set: rest });
}

/** The kit that is gone now. */
export async function deleteKit(
  { db, t }: Tx,
  { accountId, id }: Pick<BrandKit, "accountId" | "id">,
): Promise<BrandKit | undefined> {
  const k = t.brandKits;
  const [gone] = await db
    .delete(k)
    .where(and(eq(k.id, id), eq(k.accountId, accountId)))
    .returning();
  return gone;
}
