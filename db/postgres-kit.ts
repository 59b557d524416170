import * as pg from "drizzle-orm/pg-core";
import type { Kit } from "./kit.ts";

/**
 * Compared byte by byte, as in SQLite, so that ids, names and paged lists have the same order on both
 * engines.
 */
const text = pg.customType<{ data: string }>({ dataType: () => 'text collate "C"' });

/** JSON as text: jsonb refuses NUL and lone surrogates and sorts keys, and this driver encodes it twice. */
const json = pg.customType<{ data: unknown; driverData: string }>({
  dataType: () => "text",
  toDriver: (value) => JSON.stringify(value),
  fromDriver: (stored) => JSON.parse(stored),
});

/** The same kit for Postgres. The cast is sound for what this project uses: equal names, equal row types. */
export const postgresKit = {
  table: pg.pgTable,
  text,
  oneOf: (name: string) => text(name),
  int: (name: string) => pg.bigint(name, { mode: "number" }),
  json,
  index: pg.index,
  uniqueIndex: pg.uniqueIndex,
  primaryKey: pg.primaryKey,
  check: pg.check,
} as unknown as Kit;
