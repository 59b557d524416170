import { IDEMPOTENCY_RETENTION_MS } from "../core/limits.ts";
import { idempotencyKeyReused } from "../core/partner-refusals.ts";

/**
 * What an idempotency key was used for, as long as it is retained. Throws IDEMPOTENCY_KEY_REUSED when that
 * was another request than the one with this fingerprint.
 */
export function earlierOf<Row extends { createdAt: number; fingerprint: string | null }>(
  row: Row | undefined,
  print: string,
  now: number,
): Row | undefined {
  if (!row || row.createdAt <= now - IDEMPOTENCY_RETENTION_MS) return undefined;
  if (row.fingerprint !== print) throw idempotencyKeyReused();
  return row;
}
