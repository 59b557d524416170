import { createHash } from "node:crypto";
import type { RawQuery } from "../core/ports.ts";
import type { SecretBox } from "../core/secret-box.ts";
import type { Counters, ShortLivedState, StateBounds, Values } from "./state.ts";

export interface SharedStateOptions {
  rawQuery: RawQuery;
  /** Epoch ms. Machines whose clocks differ by a second see values for a second longer or shorter. */
  now: () => number;
  /** Values are sealed: some are secrets that are shown once, and must not lie readable in a database. */
  secrets: Pick<SecretBox, "seal" | "open">;
}

/**
 * Counting all keys at each addition would cost more than the addition: it is done after this share of the
 * bound.
 */
const TRIM_SHARE = 100;

/**
 * State in a table that all machines share, each operation one statement. It outlives a restart of the
 * service, and not a crash of the database.
 */
export function sharedState(options: SharedStateOptions): ShortLivedState {
  const { rawQuery, now } = options;
  return {
    values: <V>(name: string, bounds: StateBounds) => sharedValues<V>(options, name, bounds),
    counters: (name, bounds) => sharedCounters(options, name, bounds),
    sweep: async () => {
      await rawQuery(`DELETE FROM short_lived_state WHERE ${unlocked("until <= $1")}`, [now()]);
    },
  };
}

function sharedValues<V>(
  { rawQuery, now, secrets }: SharedStateOptions,
  name: string,
  bounds: StateBounds,
): Values<V> {
  const trim = trimmer(rawQuery, name, bounds);
  const context = (key: string) => `${name} ${placeOf(key)}`;
  const opened = ([row]: Record<string, unknown>[], key: string): V | undefined =>
    row && Number(row.until) > now() ? JSON.parse(secrets.open(String(row.value), context(key))) : undefined;
  /** Whether it was stored. */
  const store = async (key: string, value: V, onlyOver: "" | "WHERE s.until <= $5"): Promise<boolean> => {
    const time = now();
    const sealed = secrets.seal(JSON.stringify(value), context(key));
    const parameters = [name, placeOf(key), sealed, time + bounds.forMs];
    const stored = await rawQuery(
      `INSERT INTO short_lived_state AS s (name, key, value, until) VALUES ($1, $2, $3, $4)
       ON CONFLICT (name, key) DO UPDATE SET value = excluded.value, until = excluded.until, added = excluded.added
       ${onlyOver} RETURNING 1 AS stored`,
      onlyOver ? [...parameters, time] : parameters,
    );
    if (stored.length > 0) await trim();
    return stored.length > 0;
  };
  const found = (key: string) =>
    rawQuery("SELECT value, until FROM short_lived_state WHERE name = $1 AND key = $2", [name, placeOf(key)]);
  return {
    put: async (key, value) => void (await store(key, value, "")),
    putNew: (key, value) => store(key, value, "WHERE s.until <= $5"),
    has: async (key) => (await found(key)).some((row) => Number(row.until) > now()),
    get: async (key) => opened(await found(key), key),
    take: async (key) =>
      opened(
        await rawQuery("DELETE FROM short_lived_state WHERE name = $1 AND key = $2 RETURNING value, until", [
          name,
          placeOf(key),
        ]),
        key,
      ),
    size: async () => {
      const [row] = await rawQuery(
        "SELECT count(*)::int AS n FROM short_lived_state WHERE name = $1 AND until > $2",
        [name, now()],
      );
      return Number(row?.n);
    },
  };
}

function sharedCounters({ rawQuery, now }: SharedStateOptions, name: string, bounds: StateBounds): Counters {
  const trim = trimmer(rawQuery, name, bounds);
  return {
    add: async (key, amount) => {
      const time = now();
      // What has run out begins anew; what runs keeps its end.
      const kept = (column: string, also = "") =>
        `${column} = CASE WHEN s.until > $5 THEN s.${column}${also} ELSE excluded.${column} END`;
      const [row] = await rawQuery(
        `INSERT INTO short_lived_state AS s (name, key, amount, until) VALUES ($1, $2, $3, $4)
         ON CONFLICT (name, key) DO UPDATE
         SET ${kept("amount", " + excluded.amount")}, ${kept("until")}, ${kept("added")}
         RETURNING amount, until`,
        [name, placeOf(key), amount, time + bounds.forMs, time],
      );
      if (Number(row?.until) === time + bounds.forMs) await trim();
      return Number(row?.amount);
    },
    sum: async (key) => {
      const [row] = await rawQuery(
        "SELECT amount FROM short_lived_state WHERE name = $1 AND key = $2 AND until > $3",
        [name, placeOf(key), now()],
      );
      return Number(row?.amount ?? 0);
    },
    forget: async (key) => {
      await rawQuery("DELETE FROM short_lived_state WHERE name = $1 AND key = $2", [name, placeOf(key)]);
    },
  };
}

/** To be called after each addition: now and then it evicts what exceeds the bound, the oldest first. */
function trimmer(rawQuery: RawQuery, name: string, { maxKeys }: StateBounds): () => Promise<void> {
  const every = Math.max(1, Math.floor(maxKeys / TRIM_SHARE));
  let added = 0;
  return async () => {
    if (++added < every) return;
    added = 0;
    const newestTooMany =
      "SELECT added FROM short_lived_state WHERE name = $1 ORDER BY added DESC OFFSET $2 LIMIT 1";
    await rawQuery(
      `DELETE FROM short_lived_state WHERE ${unlocked(`name = $1 AND added <= (${newestTooMany})`)}`,
      [name, maxKeys],
    );
  };
}

/**
 * Rows that another machine is deleting are left to it: two that wait for each other would end in a deadlock.
 */
const unlocked = (condition: string) =>
  `(name, key) IN (SELECT name, key FROM short_lived_state WHERE ${condition} FOR UPDATE SKIP LOCKED)`;

/**
 * Keys may hold addresses of people, and anything a request brings; of this no index grows too large either.
 */
const placeOf = (key: string) => createHash("sha256").update(key).digest("base64url");
