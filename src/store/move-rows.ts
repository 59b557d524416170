import { getTableColumns, getTableName, sql } from "drizzle-orm";
import type { Tables } from "../../db/schema.ts";
import type { Store, Tx } from "./store.ts";

/** Rows of one statement: with the widest table fewer values than PostgreSQL takes at once. */
const ROWS_AT_ONCE = 500;

/** Every table, those first that others refer to. */
export const TABLES_IN_ORDER: readonly (keyof Tables)[] = [
  "accounts",
  "apiKeys",
  "users",
  "memberships",
  "setupLinks",
  "passkeys",
  "sessions",
  "auditEntries",
  "mails",
  "images",
  "imageReceipts",
  "ledgerEntries",
  "idempotencyRecords",
  "usageDays",
  "usageKeys",
  "photos",
  "batches",
  "batchCards",
  "requestLog",
  "requestPlayers",
  "templates",
  "templateVersions",
  "webhookEndpoints",
  "webhookEvents",
  "webhookDeliveries",
  "deliveryAttempts",
];

export interface MovedTable {
  table: string;
  rows: number;
}

/** Whether nothing has been written to a store yet. */
export async function isEmpty({ db, t }: Tx): Promise<boolean> {
  const found = await Promise.all([
    db.select({ id: t.accounts.id }).from(t.accounts).limit(1),
    db.select({ id: t.users.id }).from(t.users).limit(1),
  ]);
  return found.flat().length === 0;
}

/**
 * Copies all rows of an SQLite store into an empty one of any engine, in one transaction of its own: all or none. Throws
 * where the numbers differ in the end. `tell` is called with each table.
 */
export async function moveRows(
  from: Tx,
  to: Store,
  tell: (moved: MovedTable) => void,
): Promise<MovedTable[]> {
  return to.write("move rows", async (into) => {
    const moved: MovedTable[] = [];
    for (const name of TABLES_IN_ORDER) {
      const table = getTableName(from.t[name]);
      const rows = await moveTable(from, into, name);
      const [arrived] = await into.db.select({ n: sql`count(*)`.mapWith(Number) }).from(into.t[name]);
      if (arrived?.n !== rows)
        throw new Error(`${rows} rows of ${table} were read and ${arrived?.n} arrived`);
      moved.push({ table, rows });
      tell({ table, rows });
    }
    return moved;
  });
}

/** In the order they were inserted, which is that of the rules about them: a credit is reserved before it is settled. */
async function moveTable(from: Tx, into: Tx, name: keyof Tables): Promise<number> {
  const source = from.t[name];
  const rowid = sql<number>`rowid`.mapWith(Number);
  let moved = 0;
  let last = 0;
  for (;;) {
    const rows = await from.db
      .select({ ...getTableColumns(source), rowid })
      .from(source)
      .where(sql`rowid > ${last}`)
      .orderBy(sql`rowid`)
      .limit(ROWS_AT_ONCE);
    if (rows.length === 0) return moved;
    last = rows.at(-1)?.rowid ?? 0;
    await into.db.insert(into.t[name]).values(rows.map(({ rowid: _, ...row }) => row) as never);
    moved += rows.length;
  }
}
