import { and, isNotNull, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import { leasesOf } from "../core/lease.ts";

/** Leased rows whose holder is none of these processes. */
export function heldByNoneOf(living: readonly string[], token: SQLWrapper): SQL | undefined {
  const others = living.map(leasesOf).map((start) => sql`substr(${token}, 1, ${start.length}) <> ${start}`);
  return and(isNotNull(token), ...others);
}
