import { and, gte, sql } from "drizzle-orm";
import { faulty } from "../images/image-search.ts";
import type { Tx } from "../store.ts";

const number = sql<number>`count(*)`.mapWith(Number);

/** The counts on the operator overview, apart from the queue; each has an index. */
export async function overviewCounts(
  { db, t }: Tx,
  query: { since: number },
): Promise<{ failedSince: number; deliveriesOpen: number; endpointsFailing: number }> {
  const { images: i, webhookDeliveries: d, webhookEndpoints: e } = t;
  // States are written out: SQLite does not look into parameters when it chooses a partial index.
  const [failed, pending, sending, failing] = await Promise.all([
    db
      .select({ n: number })
      .from(i)
      .where(and(faulty(i), gte(i.completedAt, query.since))),
    db.select({ n: number }).from(d).where(sql`${d.state} = 'pending'`),
    db.select({ n: number }).from(d).where(sql`${d.state} = 'sending'`),
    db
      .select({ n: number })
      .from(e)
      .where(sql`${e.state} = 'disabled' or (${e.state} = 'enabled' and ${e.failingSince} is not null)`),
  ]);
  return {
    failedSince: failed[0]?.n ?? 0,
    deliveriesOpen: (pending[0]?.n ?? 0) + (sending[0]?.n ?? 0),
    endpointsFailing: failing[0]?.n ?? 0,
  };
}
