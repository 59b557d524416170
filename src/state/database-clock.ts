import { DATABASE_CLOCK_TOLERANCE_MS } from "../core/limits.ts";
import type { Clock, RawQuery } from "../core/ports.ts";

/** Epoch ms by the clock of PostgreSQL, in its SQL: those of the machines that share it may differ. */
export const DATABASE_NOW = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/** Whether a clock so far ahead of the database's, or behind, goes by another time than others on it. */
export function isOtherTime(aheadMs: number): boolean {
  return Math.abs(aheadMs) > DATABASE_CLOCK_TOLERANCE_MS;
}

/** How far this clock is ahead of the database's, in milliseconds: negative when it is behind. */
export async function aheadOfDatabase(
  rawQuery: RawQuery,
  { now, elapsed }: Pick<Clock, "now" | "elapsed">,
): Promise<number> {
  const before = elapsed();
  const [row] = await rawQuery(`SELECT ${DATABASE_NOW} AS now`, []);
  // The answer was made somewhere in between.
  return Math.round(now() - (elapsed() - before) / 2 - Number(row?.now));
}
