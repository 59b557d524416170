import { getTableColumns, getTableName, type SQL, sql } from "drizzle-orm";
import { getTableConfig } from "drizzle-orm/sqlite-core";
import { sqliteTables, type Tables } from "../../../db/schema.ts";
import type { LedgerKind } from "../../core/credits.ts";
import type { Store, Tx } from "../store.ts";

/** Rows of one statement: with the widest table fewer values than PostgreSQL takes at once. */
const ROWS_AT_ONCE = 500;

/** Every table, those first that others refer to. */
export const TABLES_IN_ORDER: readonly (keyof Tables)[] = [
  "accounts",
  "statusDays",
  "statusNotices",
  "apiKeys",
  "users",
  "memberships",
  "setupLinks",
  "passkeys",
  "identities",
  "sessions",
  "auditEntries",
  "mails",
  "images",
  "imageMetadata",
  "imagePictures",
  "imageReceipts",
  "accountBuckets",
  "imageExports",
  "ledgerEntries",
  "idempotencyRecords",
  "usageDays",
  "usageKeys",
  "usageFailures",
  "photos",
  "batches",
  "batchCards",
  "requestLog",
  "requestPlayers",
  "brandKits",
  "playerConsents",
  "cardSets",
  "setPlayers",
  "setCards",
  "templates",
  "templateVersions",
  "webhookEndpoints",
  "webhookEvents",
  "webhookDeliveries",
  "deliveryAttempts",
  "sealedSpans",
  "sealedSums",
];

/**
 * Entries of one kind refer to those of kinds before it, and rules refuse them as long as those are missing.
 */
const LEDGER_PASSES: readonly (readonly LedgerKind[])[] = [
  ["grant", "reserve"],
  ["settle", "release"],
  ["expire"],
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

export interface MoveRowsOptions {
  /** Called with each table. */
  report: (moved: MovedTable) => void;
  /** What is to be written with the rows, or not at all. */
  last?: (into: Tx) => Promise<void>;
}

/**
 * Copies all rows of a store into an empty one, of whichever engines, in one transaction: all or none, as
 * they were at one moment, since nobody writes to the first one meanwhile. Throws where the numbers differ in
 * the end.
 */
export function moveRows(from: Store, to: Store, { report, last }: MoveRowsOptions): Promise<MovedTable[]> {
  return from.write("read rows", (source) =>
    to.write("move rows", async (into) => {
      const moved: MovedTable[] = [];
      for (const name of TABLES_IN_ORDER) {
        const table = getTableName(source.t[name]);
        const rows = await moveTable(source, into, name);
        const [arrived] = await into.db.select({ n: sql`count(*)`.mapWith(Number) }).from(into.t[name]);
        if (arrived?.n !== rows)
          throw new Error(`${rows} rows of ${table} were read and ${arrived?.n} arrived`);
        moved.push({ table, rows });
        report({ table, rows });
      }
      await last?.(into);
      return moved;
    }),
  );
}

async function moveTable(from: Tx, into: Tx, name: keyof Tables): Promise<number> {
  if (name !== "ledgerEntries") return moveRowsOf(from, into, name);
  let moved = 0;
  // Chosen here and not by a condition, which would have an engine sort the table for each page.
  for (const kinds of LEDGER_PASSES)
    moved += await moveRowsOf(from, into, name, (row) => kinds.includes(row.kind as LedgerKind));
  return moved;
}

type Row = Record<string, unknown>;

/** Page by page in the order of the primary key, which both engines read off its index. */
async function moveRowsOf(
  from: Tx,
  into: Tx,
  name: keyof Tables,
  isWanted: (row: Row) => boolean = () => true,
): Promise<number> {
  const source = from.t[name];
  const columns = getTableColumns(source);
  const key = keyOf(name);
  const place = sql.join(
    key.map((part) => sql`${columns[part as keyof typeof columns]}`),
    sql`, `,
  );
  let moved = 0;
  let after: SQL | undefined;
  for (;;) {
    const query = from.db.select().from(source);
    const rows: Row[] = await (after ? query.where(sql`(${place}) > (${after})`) : query)
      .orderBy(place)
      .limit(ROWS_AT_ONCE);
    const last = rows.at(-1);
    if (!last) return moved;
    after = sql.join(
      key.map((part) => sql`${last[part]}`),
      sql`, `,
    );
    const wanted = rows.filter(isWanted);
    if (wanted.length > 0) await into.db.insert(into.t[name]).values(wanted as never);
    moved += wanted.length;
  }
}

/** The names of the columns that identify a row. */
function keyOf(name: keyof Tables): string[] {
  const table = sqliteTables[name];
  const { columns, primaryKeys } = getTableConfig(table);
  const parts = primaryKeys[0]?.columns ?? columns.filter(({ primary }) => primary);
  const names = Object.entries(getTableColumns(table));
  return parts.flatMap((part) => names.filter(([, column]) => column === part).map(([known]) => known));
}
