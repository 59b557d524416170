import { NODE_BEAT_MS, NODE_SILENCE_MS } from "../core/limits.ts";
import type { Clock, RawQuery } from "../core/ports.ts";
import { HOUR_MS } from "../core/time.ts";
import { DATABASE_NOW as NOW } from "./database-clock.ts";
import type { NodeLoad, Nodes } from "./nodes.ts";

export interface SharedNodesOptions {
  rawQuery: RawQuery;
  clock: Pick<Clock, "now" | "elapsed">;
  /** This node. */
  name: string;
  /** The program's. */
  version: string;
}

/** Two beats in a row may be this far apart before the database counts as having been away. */
const REGULAR_MS = 2 * NODE_BEAT_MS;
/** Rows of killed nodes are kept this long, for operators who look. */
const KEPT_MS = HOUR_MS;

/** The names of all nodes that serve from a database, each with its version. */
export async function servingNodes(rawQuery: RawQuery): Promise<string[]> {
  const living = await rawQuery(
    `SELECT name || ' (' || version || ')' AS node FROM nodes WHERE seen_at > ${NOW} - $1::bigint ORDER BY name`,
    [NODE_SILENCE_MS],
  );
  return living.map(({ node }) => String(node));
}

/** Nodes in a table of the database they share. */
export function sharedNodes({ rawQuery, clock, name, version }: SharedNodesOptions): Nodes {
  let others: NodeLoad[] = [];
  let aheadMs = 0;
  const struck = new Set<string>();
  let lastBeat = Number.NEGATIVE_INFINITY;
  /** Since when the beats came through without a gap. */
  let regularSince = Number.POSITIVE_INFINITY;

  const beat = async ({ workers, renderMs }: NodeLoad) => {
    const asked = clock.elapsed();
    const [row] = await rawQuery(
      `INSERT INTO nodes (name, version, workers, render_ms, seen_at) VALUES ($1, $2, $3, $4, ${NOW})
       ON CONFLICT (name) DO UPDATE SET workers = excluded.workers, render_ms = excluded.render_ms, seen_at = excluded.seen_at
       RETURNING seen_at`,
      [name, version, workers, Math.round(renderMs)],
    );
    const now = clock.elapsed();
    // The answer was made somewhere in between.
    aheadMs = Math.round(clock.now() - (now - asked) / 2 - Number(row?.seen_at));
    if (now - lastBeat > REGULAR_MS) regularSince = now;
    lastBeat = now;
    const living = await rawQuery(
      `SELECT workers, render_ms FROM nodes WHERE name <> $1 AND seen_at > ${NOW} - $2::bigint`,
      [name, NODE_SILENCE_MS],
    );
    others = living.map((row) => ({ workers: Number(row.workers), renderMs: Number(row.render_ms) }));
    await rawQuery(`DELETE FROM nodes WHERE seen_at < ${NOW} - $1::bigint`, [KEPT_MS]);
  };

  const ended = async (names: readonly string[]) => {
    const strangers = [...new Set(names)].filter((other) => other !== name);
    if (strangers.length === 0) return [];
    // Where nobody could reach the database, all others look silent, though they live: they get the time to
    // say so.
    const canJudge = clock.elapsed() - regularSince >= NODE_SILENCE_MS;
    if (!canJudge) return strangers.filter((other) => struck.has(other));
    const rows = await rawQuery(`SELECT name FROM nodes WHERE seen_at > ${NOW} - $1::bigint`, [
      NODE_SILENCE_MS,
    ]);
    const living = new Set(rows.map((row) => row.name));
    return strangers.filter((other) => !living.has(other));
  };

  return {
    beat,
    aheadMs: () => aheadMs,
    others: () => others,
    ended,
    strike: async (other) => {
      struck.add(other);
      await rawQuery("DELETE FROM nodes WHERE name = $1", [other]);
    },
  };
}
