/** Durations and calendar helpers. Every period of the service is in UTC. */

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** Formats as "2026-11-21". */
export function dayOf(epochMs: number): string {
  return new Date(epochMs).toISOString().slice(0, 10);
}

/** Formats as "2026-11". */
export function monthOf(epochMs: number): string {
  return new Date(epochMs).toISOString().slice(0, 7);
}

/** The first moment of the next month. */
export function nextMonth(epochMs: number): number {
  const day = new Date(epochMs);
  return Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + 1);
}

/** Formats as ISO 8601 in UTC, like every timestamp of the API. */
export function isoTime(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

/** The same for a time that may not have come. */
export const isoTimeOrNull = (epochMs: number | null): string | null =>
  epochMs === null ? null : isoTime(epochMs);

const RFC_3339 = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/i;

/**
 * A time as RFC 3339 writes it, in epoch milliseconds; null for anything else, and for days that there are
 * not.
 */
export function parseTime(text: string): number | null {
  const day = RFC_3339.exec(text)?.[1];
  if (day === undefined) return null;
  const time = Date.parse(text.toUpperCase());
  // The parser takes the 30th of February for the 2nd of March.
  const isDay = new Date(`${day}T00:00:00Z`).toJSON()?.slice(0, 10) === day;
  return isDay && !Number.isNaN(time) ? time : null;
}

/**
 * The days of a month such as 2026-11, both included, to compare days with; the last may be none of that
 * month's.
 */
export function daysOfMonth(month: string): { from: string; to: string } {
  return { from: `${month}-01`, to: `${month}-31` };
}

export const USAGE_PERIODS = ["current_month", "previous_month", "last_30_days"] as const;
export type UsagePeriod = (typeof USAGE_PERIODS)[number];

/** First and last day (inclusive) of a usage period, and its label in year-month form. */
export function usagePeriodDays(
  period: UsagePeriod,
  nowMs: number,
): { from: string; to: string; label: string } {
  const now = new Date(nowMs);
  const label = monthOf(nowMs);
  if (period === "last_30_days") return { from: dayOf(nowMs - 29 * DAY_MS), to: dayOf(nowMs), label };
  if (period === "current_month") return { from: `${label}-01`, to: dayOf(nowMs), label };
  const lastOfPrevious = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 0);
  const previous = monthOf(lastOfPrevious);
  return { from: `${previous}-01`, to: dayOf(lastOfPrevious), label: previous };
}

/** The last millisecond of a day such as 2027-06-30, in UTC; NaN for what no calendar has. */
export function endOfDay(day: string): number {
  const at = /^\d{4}-\d{2}-\d{2}$/.test(day) ? Date.parse(`${day}T23:59:59.999Z`) : Number.NaN;
  // 31 February is read as 3 March.
  return !Number.isNaN(at) && isoTime(at).startsWith(day) ? at : Number.NaN;
}
