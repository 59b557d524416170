import { and, asc, eq, inArray } from "drizzle-orm";
import type { Tables } from "../../../db/schema.ts";
import type { Tx } from "../store.ts";
import type { User } from "./users.ts";

export type Identity = Tables["identities"]["$inferSelect"];

/** False when somebody has this subject already: then nothing is stored. */
export async function insertIdentity({ db, t }: Tx, identity: Identity): Promise<boolean> {
  const { identities } = t;
  const kept = await db
    .insert(identities)
    .values(identity)
    .onConflictDoNothing({ target: [identities.issuer, identities.subject] })
    .returning({ id: identities.id });
  return kept.length > 0;
}

export async function findIdentity(
  { db, t }: Tx,
  { issuer, subject }: Pick<Identity, "issuer" | "subject">,
): Promise<{ identity: Identity; user: User } | undefined> {
  const { identities, users } = t;
  const [row] = await db
    .select({ identity: identities, user: users })
    .from(identities)
    .innerJoin(users, eq(users.id, identities.userId))
    .where(and(eq(identities.issuer, issuer), eq(identities.subject, subject)))
    .limit(1);
  return row;
}

/** A user's identities at every provider there has been, oldest first. */
export async function identitiesOf({ db, t }: Tx, userId: string): Promise<Identity[]> {
  const { identities } = t;
  return db
    .select()
    .from(identities)
    .where(eq(identities.userId, userId))
    .orderBy(asc(identities.createdAt), asc(identities.id));
}

export async function touchIdentity(
  { db, t }: Tx,
  id: string,
  use: Pick<Identity, "email" | "lastUsedAt">,
): Promise<void> {
  await db.update(t.identities).set(use).where(eq(t.identities.id, id));
}

/** Those that are gone now. */
export async function deleteIdentitiesOf({ db, t }: Tx, userId: string): Promise<Identity[]> {
  return db.delete(t.identities).where(eq(t.identities.userId, userId)).returning();
}

/** How somebody can sign in. */
export interface WaysIn {
  password: boolean;
  passkey: boolean;
  /** At the provider with this issuer. */
  provider: boolean;
}

/** The ways in of several users at once; `issuer` is that of the configured provider, if there is one. */
export async function waysIn(
  { db, t }: Tx,
  users: readonly User[],
  issuer: string | undefined,
): Promise<Map<string, WaysIn>> {
  const ids = users.map(({ id }) => id);
  if (ids.length === 0) return new Map();
  const { passkeys, identities } = t;
  const withPasskey = await db
    .selectDistinct({ userId: passkeys.userId })
    .from(passkeys)
    .where(inArray(passkeys.userId, ids));
  const withIdentity = await db
    .selectDistinct({ userId: identities.userId })
    .from(identities)
    .where(and(inArray(identities.userId, ids), eq(identities.issuer, issuer ?? "")));
  const has = (rows: { userId: string }[], id: string) => rows.some(({ userId }) => userId === id);
  return new Map(
    users.map(({ id, passwordHash }) => [
      id,
      { password: passwordHash !== null, passkey: has(withPasskey, id), provider: has(withIdentity, id) },
    ]),
  );
}
