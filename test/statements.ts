import type { OpenStore } from "../src/app/places.ts";
import type { RawQuery } from "../src/core/ports.ts";
import type { Store, Tx } from "../src/store/store.ts";

type Client = (text: string, ...rest: unknown[]) => unknown;
type Way = (...values: unknown[]) => unknown;

/** A store whose statements are noted, each a round trip where the database is a server. */
export interface NotedStore {
  openStore: OpenStore;
  /** What `work` has run since, of all that goes on meanwhile. Begin and commit count. */
  during(work: () => Promise<unknown>): Promise<string[]>;
}

/** Puts itself between a store, on whichever engine, and its users. */
export function notedStore(open: OpenStore): NotedStore {
  const noted: string[] = [];
  const seen = new WeakSet<object>();
  const note = (text: string) => void noted.push(text);
  const watched = (tx: Tx): Tx => {
    if (!seen.has(tx)) watch(tx, note);
    seen.add(tx);
    return tx;
  };
  return {
    openStore: async (...place) => {
      const store = await open(...place);
      const { rawQuery } = store;
      return {
        ...store,
        read: watched(store.read),
        write: (name, fn, options) => {
          note(`BEGIN -- ${name}`);
          return store
            .write(name, (tx) => fn(watched(tx)), options)
            .then((result) => {
              note("COMMIT");
              return result;
            });
        },
        ...(rawQuery && {
          rawQuery: ((text, values) => {
            note(text);
            return rawQuery(text, values);
          }) satisfies RawQuery,
        }),
      } satisfies Store;
    },
    during: async (work) => {
      noted.length = 0;
      await work();
      return noted.splice(0);
    },
  };
}

/** Drizzle's sessions run what they prepared: SQLite's by themselves, PostgreSQL's through a function. */
function watch(tx: Tx, note: (text: string) => void): void {
  const { session } = tx.db as unknown as {
    session: { client: unknown; prepareQuery: (query: { sql: string }, ...rest: unknown[]) => object };
  };
  if (typeof session.client === "function") {
    const client = session.client as Client;
    session.client = (text: string, ...rest: unknown[]) => {
      note(text);
      return client(text, ...rest);
    };
    const { rawQuery } = tx;
    if (rawQuery)
      Object.assign(tx, {
        rawQuery: ((text, values) => {
          note(text);
          return rawQuery(text, values);
        }) satisfies RawQuery,
      });
    return;
  }
  const prepare = session.prepareQuery.bind(session);
  session.prepareQuery = (query, ...rest) => {
    const compiled = prepare(query, ...rest) as Record<string, Way>;
    for (const name of ["all", "get", "run"]) {
      const way = compiled[name]?.bind(compiled);
      if (!way) continue;
      compiled[name] = (...values) => {
        note(query.sql);
        return way(...values);
      };
    }
    return compiled;
  };
}
