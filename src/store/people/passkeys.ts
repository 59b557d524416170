import { and, asc, eq } from "drizzle-orm";
import type { Tables } from "../../../db/schema.ts";
import type { Tx } from "../store.ts";
import type { User } from "./users.ts";

export type Passkey = Tables["passkeys"]["$inferSelect"];

export async function insertPasskey({ db, t }: Tx, passkey: Passkey): Promise<void> {
  await db.insert(t.passkeys).values(passkey);
}

export async function passkeysOf({ db, t }: Tx, userId: string): Promise<Passkey[]> {
  return db.select().from(t.passkeys).where(eq(t.passkeys.userId, userId)).orderBy(asc(t.passkeys.createdAt));
}

export async function findPasskey(
  { db, t }: Tx,
  credentialId: string,
): Promise<{ passkey: Passkey; user: User } | undefined> {
  const [row] = await db
    .select({ passkey: t.passkeys, user: t.users })
    .from(t.passkeys)
    .innerJoin(t.users, eq(t.users.id, t.passkeys.userId))
    .where(eq(t.passkeys.credentialId, credentialId))
    .limit(1);
  return row;
}

export async function touchPasskey(
  { db, t }: Tx,
  id: string,
  use: { counter: number; now: number },
): Promise<void> {
  await db.update(t.passkeys).set({ counter: use.counter, lastUsedAt: use.now }).where(eq(t.passkeys.id, id));
}

/** Those that are gone now. */
export async function deletePasskeysOf({ db, t }: Tx, userId: string): Promise<Passkey[]> {
  return db.delete(t.passkeys).where(eq(t.passkeys.userId, userId)).returning();
}

/** The passkey that is gone now, undefined when the user had no such one. */
export async function deletePasskey({ db, t }: Tx, userId: string, id: string): Promise<Passkey | undefined> {
  const [gone] = await db
    .delete(t.passkeys)
    .where(and(eq(t.passkeys.id, id), eq(t.passkeys.userId, userId)))
    .returning();
  return gone;
}
