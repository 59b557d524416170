import { getTableColumns, type Placeholder, sql, type Table } from "drizzle-orm";
import type { Database, Tx } from "../store.ts";
import { mapRowsDirectly, type PreparedQuery } from "./map-rows.ts";

/** The values of a prepared query as they stand in it. */
export type Parameters<Values> = { readonly [Name in keyof Values]: Placeholder };

interface Preparable<Result> extends PromiseLike<Result> {
  prepare(): unknown;
  toSQL(): { sql: string };
}

/** The texts of the queries below. */
const texts = new Set<string>();

/**
 * SQLite compiles a statement anew when a value it looked at while planning, such as a LIMIT's or one beside
 * an ORDER BY, is bound otherwise: its plan may be better then, but that costs several times what looking up
 * a row does. Into an expression it does not look, and a plus before a value changes nothing else of any
 * type. For the prepared queries alone: the plans of others rest on their values.
 */
export function hideParamsFromPlanner(query: string): string {
  return texts.has(query) && /^\(?select\b/i.test(query) ? query.replaceAll("?", "+?") : query;
}

/**
 * A query of the busy paths, built once for each connection and then run with other values: building costs
 * several times what running does. `name` is unique among them, since some engines keep prepared queries by
 * it. What is a condition here must not depend on a value: a query of several shapes is prepared in each.
 */
export function prepared<Values, Result>(
  name: string,
  build: (tx: Tx, parameters: Parameters<Values>) => Preparable<Result>,
): (tx: Tx, values: Values) => Promise<Result> {
  const kept = new WeakMap<Database, PreparedQuery<Values, Result>>();
  return async (tx, values) => {
    const known = kept.get(tx.db);
    if (known) return run(known, values);
    const built = build(tx, byName<Values>());
    texts.add(built.toSQL().sql);
    const made = (built as unknown as { prepare(name: string): PreparedQuery<Values, Result> }).prepare(name);
    mapRowsDirectly(made);
    kept.set(tx.db, made);
    return run(made, values);
  };
}

/** SQLite has the result at once: three promises less than by awaiting what Drizzle wraps it in. */
function run<Values, Result>(
  query: PreparedQuery<Values, Result>,
  values: Values,
): PromiseLike<Result> | Result {
  const running = query.execute(values);
  return running.sync ? running.sync() : running;
}

/**
 * Placeholders for each column of a table, for inserting whole rows. Not for JSON columns that may be null.
 */
export function everyColumn<Of extends Table>(
  table: Of,
  values: Parameters<Of["$inferSelect"]>,
): Of["$inferInsert"] {
  const columns = Object.entries(getTableColumns(table));
  // Drizzle would write the text "null".
  const [unfit] = columns.find(([, column]) => column.dataType === "json" && !column.notNull) ?? [];
  if (unfit) throw new Error(`${unfit} may be null and is JSON: insert its rows without preparing that`);
  return Object.fromEntries(
    columns.map(([name]) => [name, values[name as keyof typeof values]]),
  ) as Of["$inferInsert"];
}

/** A proxy that returns a placeholder for any property. */
function byName<Values>(): Parameters<Values> {
  return new Proxy({} as Parameters<Values>, {
    get: (_, name) => sql.placeholder(String(name)),
    ownKeys: () => {
      throw new Error(
        "the values of a prepared query are not known by name: take each, instead of spreading them",
      );
    },
  });
}
