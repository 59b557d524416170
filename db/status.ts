import type { Kit } from "./kit.ts";

/** What the public status page remembers; part of the tables of schema.ts. */
export function statusTables(kit: Kit) {
  const { table, text, int, index } = kit;

  /** In which minutes of a day, in UTC, some server found that it takes creates. */
  const statusDays = table("status_days", {
    /** Such as 2026-11-30. */
    day: text("day").primaryKey(),
    /** A bit for each minute, as 360 hex digits: the first digit's highest bit is 00:00. */
    minutes: text("minutes").notNull(),
  });

  /** What operators tell partners on that page. */
  const statusNotices = table(
    "status_notices",
    {
      id: text("id").primaryKey(),
      title: text("title").notNull(),
      message: text("message").notNull(),
      postedAt: int("posted_at").notNull(),
      /** Null while it holds. */
      resolvedAt: int("resolved_at"),
    },
    (t) => [index("status_notices_posted").on(t.postedAt)],
  );
  return { statusDays, statusNotices };
}
