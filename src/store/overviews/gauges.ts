import { min, sql } from "drizzle-orm";
import type { Tx } from "../store.ts";

const number = sql<number>`count(*)`.mapWith(Number);

/** The accounts, and their credits together. Reads all accounts, of which there are thousands at most. */
export async function accountNumbers({ db, t }: Tx): Promise<{
  active: number;
  suspended: number;
  available: number;
  held: number;
}> {
  const a = t.accounts;
  const sum = (what: ReturnType<typeof sql>) => sql<number>`coalesce(sum(${what}), 0)`.mapWith(Number);
  const rows = await db
    .select({
      status: a.status,
      n: number,
      available: sum(sql`${a.creditsPlan} + ${a.creditsTopup}`),
      held: sum(sql`${a.creditsHeld}`),
    })
    .from(a)
    .groupBy(a.status);
  const of = (status: string) => rows.find((row) => row.status === status)?.n ?? 0;
  return {
    active: of("active"),
    suspended: of("suspended"),
    available: rows.reduce((all, row) => all + row.available, 0),
    held: rows.reduce((all, row) => all + row.held, 0),
  };
}

/**
 * When the delivery that waits longest should have been attempted, in epoch milliseconds; null when none
 * waits.
 */
export async function earliestDue({ db, t }: Tx): Promise<number | null> {
  const { webhookDeliveries: d } = t;
  const [row] = await db
    .select({ at: min(d.nextAttemptAt) })
    .from(d)
    .where(sql`${d.state} = 'pending'`);
  return row?.at ?? null;
}
