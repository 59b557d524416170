import { and, asc, desc, eq, gte, isNull, lt, or, sql } from "drizzle-orm";
import type { Tables } from "../../../db/schema.ts";
import { NO_MINUTES, withMinute } from "../../core/minutes.ts";
import type { Tx } from "../store.ts";

export type StatusDay = Tables["statusDays"]["$inferSelect"];
export type StatusNotice = Tables["statusNotices"]["$inferSelect"];

/** Marks a minute of a day, beside what others marked. */
export async function markMinute({ db, t }: Tx, day: string, minute: number): Promise<void> {
  const d = t.statusDays;
  const [known] = await db.select().from(d).where(eq(d.day, day)).limit(1);
  const minutes = withMinute(known?.minutes ?? NO_MINUTES, minute);
  await db.insert(d).values({ day, minutes }).onConflictDoUpdate({ target: d.day, set: { minutes } });
}

/** Notes that a server ran on that day, whether or not it took anything. */
export async function beginDay({ db, t }: Tx, day: string): Promise<void> {
  await db.insert(t.statusDays).values({ day, minutes: NO_MINUTES }).onConflictDoNothing();
}

export async function dropDaysBefore({ db, t }: Tx, day: string): Promise<void> {
  await db.delete(t.statusDays).where(lt(t.statusDays.day, day));
}

/** From this day on, oldest first. */
export async function daysSince({ db, t }: Tx, day: string): Promise<StatusDay[]> {
  return db.select().from(t.statusDays).where(gte(t.statusDays.day, day)).orderBy(asc(t.statusDays.day));
}

export async function insertNotice({ db, t }: Tx, notice: StatusNotice): Promise<void> {
  await db.insert(t.statusNotices).values(notice);
}

/** Undefined when there is none, or it is resolved already. */
export async function resolveNotice(
  { db, t }: Tx,
  id: string,
  now: number,
): Promise<StatusNotice | undefined> {
  const n = t.statusNotices;
  const [resolved] = await db
    .update(n)
    .set({ resolvedAt: now })
    .where(and(eq(n.id, id), isNull(n.resolvedAt)))
    .returning();
  return resolved;
}

/** Those that hold, and those resolved since then; newest first. */
export async function noticesSince({ db, t }: Tx, since: number, limit: number): Promise<StatusNotice[]> {
  const n = t.statusNotices;
  return db
    .select()
    .from(n)
    .where(or(isNull(n.resolvedAt), gte(n.resolvedAt, since)))
    .orderBy(desc(n.postedAt), desc(n.id))
    .limit(limit);
}

/** How long the newest live cards that ended since then took, in milliseconds; `limit` of them at most. */
export async function recentDurations({ db, t }: Tx, since: number, limit: number): Promise<number[]> {
  const i = t.images;
  const rows = await db
    .select({ ms: sql<number>`${i.completedAt} - ${i.createdAt}`.mapWith(Number) })
    .from(i)
    // Written out: SQLite does not look into parameters when it chooses a partial index.
    .where(
      and(
        sql`${i.completedAt} is not null`,
        gte(i.completedAt, since),
        sql`${i.state} = 'completed' and ${i.environment} = 'live'`,
      ),
    )
    .orderBy(desc(i.completedAt))
    .limit(limit);
  return rows.map(({ ms }) => ms);
}
