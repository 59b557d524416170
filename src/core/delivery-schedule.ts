import { HOUR_MS, MINUTE_MS, SECOND_MS } from "./time.ts";

/**
 * The wait before each attempt, counted from the end of the one before: ten attempts in a little over three
 * days, the example schedule of Standard Webhooks 1.0. A weekend's outage loses nothing.
 */
export const DELIVERY_WAITS_MS = [
  0,
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
] as const;

/**
 * Jitter: each wait is stretched or shortened by up to this fraction, so that deliveries that failed together
 * are not retried together.
 */
export const DELIVERY_JITTER = 0.2;
/** The longest wait a receiver can ask for with Retry-After. */
export const MAX_RETRY_AFTER_MS = 24 * HOUR_MS;

/**
 * When to try again after `made` failed attempts, or null when the schedule is exhausted. `random` is in [0,
 * 1). A Retry-After makes the wait longer, never shorter.
 */
export function nextAttemptAt(failed: {
  made: number;
  now: number;
  random: number;
  retryAfterMs: number | null;
}): number | null {
  const waitMs = DELIVERY_WAITS_MS[failed.made];
  if (waitMs === undefined) return null;
  const jittered = Math.round(waitMs * (1 - DELIVERY_JITTER + 2 * DELIVERY_JITTER * failed.random));
  return failed.now + Math.max(jittered, failed.retryAfterMs ?? 0);
}

/**
 * The wait requested by a Retry-After header (RFC 9110, 10.2.3: seconds or a date), capped at a day; null
 * without one.
 */
export function retryAfterMs(header: string | undefined, now: number): number | null {
  const text = header?.trim() ?? "";
  const waitMs = /^\d+$/.test(text)
    ? Number(text) * SECOND_MS
    : /GMT$/.test(text)
      ? Date.parse(text) - now
      : NaN;
  if (Number.isNaN(waitMs)) return null;
  return Math.min(Math.max(waitMs, 0), MAX_RETRY_AFTER_MS);
}
