import { type Placeholder, sql } from "drizzle-orm";
import type { Database, Tx } from "./store.ts";

/** The values of a prepared query as they stand in it. */
export type Parameters<Values> = { readonly [Name in keyof Values]: Placeholder };

interface Preparable<Result> extends PromiseLike<Result> {
  prepare(): unknown;
}

/**
 * A query of the busy paths, built once for each connection and then run with other values: building costs several times
 * what running does. `name` is unique among them, since some engines keep prepared queries by it. What is a condition here
 * must not depend on a value: whoever has several shapes prepares each.
 */
export function prepared<Values, Result>(
  name: string,
  build: (tx: Tx, parameters: Parameters<Values>) => Preparable<Result>,
): (tx: Tx, values: Values) => Promise<Result> {
  const kept = new WeakMap<Database, { execute(values: Values): PromiseLike<Result> }>();
  return async (tx, values) => {
    const known = kept.get(tx.db);
    if (known) return known.execute(values);
    const query = build(tx, byName<Values>()) as unknown as {
      prepare(name: string): { execute(values: Values): PromiseLike<Result> };
    };
    const made = query.prepare(name);
    kept.set(tx.db, made);
    return made.execute(values);
  };
}

/** Whatever name is asked for, its place in the query. */
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
