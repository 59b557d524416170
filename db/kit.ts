import * as sqlite from "drizzle-orm/sqlite-core";

/**
 * The few column types a table may use, defined once for SQLite and once for Postgres. Ids are text, times
 * are epoch milliseconds, money is whole credits, so `text`, `int` and `json` are enough.
 */
export const sqliteKit = {
  table: sqlite.sqliteTable,
  text: (name: string) => sqlite.text(name),
  /** A text column that holds one of `values`. */
  oneOf: <const T extends readonly [string, ...string[]]>(name: string, values: T) =>
    sqlite.text(name, { enum: values as unknown as [T[number], ...T[number][]] }),
  int: (name: string) => sqlite.integer(name, { mode: "number" }),
  json: <T>(name: string) => sqlite.text(name, { mode: "json" }).$type<T>(),
  index: sqlite.index,
  uniqueIndex: sqlite.uniqueIndex,
  primaryKey: sqlite.primaryKey,
  check: sqlite.check,
};

export type Kit = typeof sqliteKit;
