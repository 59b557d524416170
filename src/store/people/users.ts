import { and, asc, eq, exists, isNotNull, or, sql } from "drizzle-orm";
import type { Tables } from "../../../db/schema.ts";
import type { Tx } from "../store.ts";
import type { Account } from "./accounts.ts";

export type User = Tables["users"]["$inferSelect"];
export type Membership = Tables["memberships"]["$inferSelect"];
export type MemberRole = Membership["role"];

export async function insertUser({ db, t }: Tx, user: User): Promise<void> {
  await db.insert(t.users).values(user);
}

export async function findUser({ db, t }: Tx, id: string): Promise<User | undefined> {
  const [user] = await db.select().from(t.users).where(eq(t.users.id, id)).limit(1);
  return user;
}

/** `email` in lower case. */
export async function findUserByEmail({ db, t }: Tx, email: string): Promise<User | undefined> {
  const [user] = await db.select().from(t.users).where(eq(t.users.email, email)).limit(1);
  return user;
}

export async function listOperators({ db, t }: Tx): Promise<User[]> {
  return db.select().from(t.users).where(eq(t.users.isOperator, 1)).orderBy(asc(t.users.createdAt));
}

/** The operators who have a way in: a password, or somebody's identity at a provider. */
export async function operatorsWhoSignIn({ db, t }: Tx): Promise<User[]> {
  const { users, identities } = t;
  const own = db.select({ id: identities.id }).from(identities).where(eq(identities.userId, users.id));
  return db
    .select()
    .from(users)
    .where(and(eq(users.isOperator, 1), or(isNotNull(users.passwordHash), exists(own))))
    .orderBy(asc(users.createdAt));
}

/** `isVouched`: whether an operator gave out the link that sets it. */
export async function setPassword(
  { db, t }: Tx,
  id: string,
  password: Pick<User, "passwordHash" | "isVouched">,
): Promise<void> {
  await db.update(t.users).set(password).where(eq(t.users.id, id));
}

/** False when the password is not `from` any more: then nothing is changed. */
export async function replacePassword(
  { db, t }: Tx,
  id: string,
  { from, to }: { from: string; to: string },
): Promise<boolean> {
  const changed = await db
    .update(t.users)
    .set({ passwordHash: to })
    .where(and(eq(t.users.id, id), eq(t.users.passwordHash, from)))
    .returning({ id: t.users.id });
  return changed.length > 0;
}

export async function markSignIn({ db, t }: Tx, id: string, now: number): Promise<void> {
  await db.update(t.users).set({ lastSignInAt: now }).where(eq(t.users.id, id));
}

/** From now on what that release changed is not shown to this person. */
export async function markSeenVersion({ db, t }: Tx, id: string, version: string): Promise<void> {
  await db.update(t.users).set({ seenVersion: version }).where(eq(t.users.id, id));
}

/** `byGroups`: 1 when the provider's groups make them one, and may end it. */
export async function makeOperator({ db, t }: Tx, id: string, byGroups: 0 | 1 = 0): Promise<void> {
  await db.update(t.users).set({ isOperator: 1, operatorByGroups: byGroups }).where(eq(t.users.id, id));
}

export async function endOperator({ db, t }: Tx, id: string): Promise<void> {
  await db.update(t.users).set({ isOperator: 0, operatorByGroups: 0 }).where(eq(t.users.id, id));
}

/** Adds a member, or changes the role of one and where it comes from. */
export async function putMembership({ db, t }: Tx, membership: Membership): Promise<void> {
  const { memberships } = t;
  await db
    .insert(memberships)
    .values(membership)
    .onConflictDoUpdate({
      target: [memberships.userId, memberships.accountId],
      set: {
        role: membership.role,
        groupRole: membership.groupRole,
        handRole: membership.handRole,
      },
    });
}

export async function deleteMembership(
  { db, t }: Tx,
  { userId, accountId }: Pick<Membership, "userId" | "accountId">,
): Promise<void> {
  const { memberships } = t;
  await db
    .delete(memberships)
    .where(and(eq(memberships.userId, userId), eq(memberships.accountId, accountId)));
}

/** A user's memberships with their accounts, oldest first. */
export async function membershipsOf(
  { db, t }: Tx,
  userId: string,
): Promise<{ membership: Membership; account: Account }[]> {
  return db
    .select({ membership: t.memberships, account: t.accounts })
    .from(t.memberships)
    .innerJoin(t.accounts, eq(t.accounts.id, t.memberships.accountId))
    .where(eq(t.memberships.userId, userId))
    .orderBy(asc(t.memberships.createdAt), asc(t.accounts.id));
}

/** A user's role in an account; undefined for a non-member. */
export async function findRole(
  { db, t }: Tx,
  { userId, accountId }: Pick<Membership, "userId" | "accountId">,
): Promise<MemberRole | undefined> {
  const { memberships: m } = t;
  const [own] = await db
    .select({ role: m.role })
    .from(m)
    .where(and(eq(m.userId, userId), eq(m.accountId, accountId)));
  return own?.role;
}

/** An account's members, oldest first. */
export async function membersOf(
  { db, t }: Tx,
  accountId: string,
): Promise<{ membership: Membership; user: User }[]> {
  return db
    .select({ membership: t.memberships, user: t.users })
    .from(t.memberships)
    .innerJoin(t.users, eq(t.users.id, t.memberships.userId))
    .where(eq(t.memberships.accountId, accountId))
    .orderBy(asc(t.memberships.createdAt), asc(t.users.email));
}

/** The email addresses of an account's owners. */
export async function ownersOf(tx: Tx, accountId: string): Promise<string[]> {
  const members = await membersOf(tx, accountId);
  return members.filter(({ membership }) => membership.role === "owner").map(({ user }) => user.email);
}

export async function countOwners({ db, t }: Tx, accountId: string): Promise<number> {
  const [row] = await db
    .select({ n: sql<number>`count(*)`.mapWith(Number) })
    .from(t.memberships)
    .where(and(eq(t.memberships.accountId, accountId), eq(t.memberships.role, "owner")));
  return row?.n ?? 0;
}
