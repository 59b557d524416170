import { and, asc, eq, inArray, lt, lte, sql } from "drizzle-orm";
import type { Tables } from "../../../db/schema.ts";
import type { Tx } from "../store.ts";

export type Mail = Tables["mails"]["$inferSelect"];

/** False when this person already has a mail about this occasion. */
export async function insertMail({ db, t }: Tx, mail: Mail): Promise<boolean> {
  const rows = await db.insert(t.mails).values(mail).onConflictDoNothing().returning({ id: t.mails.id });
  return rows.length > 0;
}

/** Whether a mail is due: an idle service takes no write lock. */
export async function hasDueMail(tx: Tx, now: number): Promise<boolean> {
  return (await longestOverdue(tx, now)).length > 0;
}

/**
 * Takes the mail that is longest overdue. Nobody else gets it until `leaseExpiresAt`: the server that took it
 * should be done by then, and if not, it is due again.
 */
export async function claimMail(
  tx: Tx,
  { now, leaseExpiresAt }: { now: number; leaseExpiresAt: number },
): Promise<Mail | undefined> {
  const m = tx.t.mails;
  const [mail] = await tx.db
    .update(m)
    .set({ nextAttemptAt: leaseExpiresAt })
    .where(and(eq(m.id, tx.claimable(longestOverdue(tx, now))), eq(m.state, "pending")))
    .returning();
  return mail;
}

function longestOverdue({ db, t }: Tx, now: number) {
  const m = t.mails;
  return (
    db
      .select({ id: m.id })
      .from(m)
      // Written out: SQLite does not look into parameters when it chooses a partial index.
      .where(and(sql`${m.state} = 'pending'`, lte(m.nextAttemptAt, now)))
      .orderBy(asc(m.nextAttemptAt))
      .limit(1)
  );
}

/** Records the end of an attempt, unless its lease was lost. Finished mails keep none of their text. */
export async function endAttempt(
  { db, t }: Tx,
  { id, nextAttemptAt: leaseExpiresAt }: Pick<Mail, "id" | "nextAttemptAt">,
  end: { state: "sent" | "failed"; error: string | null; now: number } | { retryAt: number; error: string },
): Promise<void> {
  const m = t.mails;
  const attempts = sql`${m.attempts} + 1`;
  const change =
    "retryAt" in end
      ? { attempts, nextAttemptAt: end.retryAt, lastError: end.error }
      : {
          attempts,
          state: end.state,
          nextAttemptAt: null,
          lastError: end.error,
          body: "",
          endedAt: end.now,
        };
  await db
    .update(m)
    .set(change)
    .where(and(eq(m.id, id), eq(m.state, "pending"), eq(m.nextAttemptAt, leaseExpiresAt ?? 0)));
}

export async function countMails({ db, t }: Tx): Promise<Record<Mail["state"], number>> {
  const m = t.mails;
  const rows = await db
    .select({ state: m.state, n: sql<number>`count(*)`.mapWith(Number) })
    .from(m)
    .groupBy(m.state);
  const of = (state: Mail["state"]) => rows.find((row) => row.state === state)?.n ?? 0;
  return { pending: of("pending"), sent: of("sent"), failed: of("failed") };
}

/** Deletes up to `limit` mails older than a given time, whatever became of them. Returns how many. */
export async function deleteOldMails({ db, t }: Tx, before: number, limit: number): Promise<number> {
  const m = t.mails;
  const old = db.select({ id: m.id }).from(m).where(lt(m.createdAt, before)).limit(limit);
  return (await db.delete(m).where(inArray(m.id, old)).returning({ id: m.id })).length;
}
