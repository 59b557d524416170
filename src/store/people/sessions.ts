import { and, desc, eq, gt, isNull, lte, ne } from "drizzle-orm";
import type { Tables } from "../../../db/schema.ts";
import { SESSION_IDLE_MS } from "../../core/sign-in-limits.ts";
import type { Tx } from "../store.ts";
import type { User } from "./users.ts";

export type Session = Tables["sessions"]["$inferSelect"];
export type SetupLink = Tables["setupLinks"]["$inferSelect"];

export async function insertSession({ db, t }: Tx, session: Session): Promise<void> {
  await db.insert(t.sessions).values(session);
}

export async function findSession(
  { db, t }: Tx,
  tokenHash: string,
): Promise<{ session: Session; user: User } | undefined> {
  const [row] = await db
    .select({ session: t.sessions, user: t.users })
    .from(t.sessions)
    .innerJoin(t.users, eq(t.users.id, t.sessions.userId))
    .where(eq(t.sessions.tokenHash, tokenHash))
    .limit(1);
  return row;
}

export async function touchSession({ db, t }: Tx, id: string, now: number): Promise<void> {
  await db.update(t.sessions).set({ lastSeenAt: now }).where(eq(t.sessions.id, id));
}

/** Sets the account whose console the session shows; null for none. */
export async function openAccount({ db, t }: Tx, id: string, accountId: string | null): Promise<void> {
  await db.update(t.sessions).set({ accountId }).where(eq(t.sessions.id, id));
}

export async function deleteSession({ db, t }: Tx, tokenHash: string): Promise<void> {
  await db.delete(t.sessions).where(eq(t.sessions.tokenHash, tokenHash));
}

/** A user's active sessions, most recently used first. */
export async function sessionsOf({ db, t }: Tx, userId: string, now: number): Promise<Session[]> {
  const s = t.sessions;
  return db
    .select()
    .from(s)
    .where(and(eq(s.userId, userId), gt(s.expiresAt, now), gt(s.lastSeenAt, now - SESSION_IDLE_MS)))
    .orderBy(desc(s.lastSeenAt));
}

/** Signs a user out everywhere; `exceptId` keeps the requesting session. */
export async function deleteSessionsOf({ db, t }: Tx, userId: string, exceptId?: string): Promise<void> {
  const { sessions } = t;
  await db
    .delete(sessions)
    .where(and(eq(sessions.userId, userId), exceptId === undefined ? undefined : ne(sessions.id, exceptId)));
}

/** Ends what began by an identity; `exceptId` keeps the requesting session. */
export async function deleteSessionsBy({ db, t }: Tx, identityId: string, exceptId: string): Promise<void> {
  const { sessions } = t;
  await db.delete(sessions).where(and(eq(sessions.identityId, identityId), ne(sessions.id, exceptId)));
}

export async function deleteExpiredSessions({ db, t }: Tx, now: number): Promise<void> {
  await db.delete(t.sessions).where(lte(t.sessions.expiresAt, now));
  await db.delete(t.setupLinks).where(lte(t.setupLinks.expiresAt, now));
}

/**
 * Stores a link and revokes every earlier one of the same user. Those for the first operator stay: each
 * server that starts shows one, and whichever is opened first ends them all.
 */
export async function replaceSetupLink({ db, t }: Tx, link: SetupLink): Promise<void> {
  const { setupLinks } = t;
  if (link.userId !== null) await db.delete(setupLinks).where(eq(setupLinks.userId, link.userId));
  await db.insert(setupLinks).values(link);
}

/** Revokes all links of a user. */
export async function deleteSetupLinksOf({ db, t }: Tx, userId: string): Promise<void> {
  await db.delete(t.setupLinks).where(eq(t.setupLinks.userId, userId));
}

/** A link that can still be used. */
export async function findSetupLink(
  { db, t }: Tx,
  tokenHash: string,
  now: number,
): Promise<SetupLink | undefined> {
  const { setupLinks } = t;
  const [link] = await db
    .select()
    .from(setupLinks)
    .where(usable(t, tokenHash, now))
    .limit(1);
  return link;
}

/** Uses up a link; undefined when it was used, has expired or never existed. */
export async function useSetupLink(
  { db, t }: Tx,
  tokenHash: string,
  now: number,
): Promise<SetupLink | undefined> {
  const [link] = await db
    .update(t.setupLinks)
    .set({ usedAt: now })
    .where(usable(t, tokenHash, now))
    .returning();
  return link;
}

function usable(t: Tables, tokenHash: string, now: number) {
  const { setupLinks } = t;
  return and(eq(setupLinks.tokenHash, tokenHash), isNull(setupLinks.usedAt), gt(setupLinks.expiresAt, now));
}
