import {
  LOGGED_READS_PER_MINUTE,
  MAX_BUDGETS,
  MAX_BUFFERED_REQUESTS,
  REQUEST_LOG_RETENTION_MS,
} from "../../core/limits.ts";
import { MINUTE_MS } from "../../core/time.ts";
import { deleteOldRequests, insertRequests, type RequestRow } from "../../store/request-log.ts";
import type { AppContext } from "../context.ts";

/** Logs requests made with an account's keys, for that account's own developers. */
export interface RequestLog {
  /** Queues a row for the next write; drops successful polling above a rate, and everything in a flood. */
  note(row: RequestRow): void;
  /** Writes what was queued until now, also by a flush under way. Never rejects: nothing may fail for want of a log. */
  flush(): Promise<void>;
}

/** Rows per transaction. */
const ROWS_AT_ONCE = 200;

export function requestLog({ store, log }: Pick<AppContext, "store" | "log">): RequestLog {
  let rows: RequestRow[] = [];
  let dropped = 0;
  let minute = 0;
  const reads = new Map<string, number>();

  /** Whether a row is one of many alike, of which enough have been logged. */
  const isBeyondRate = (row: RequestRow): boolean => {
    if (row.status >= 400 ? row.status !== 429 : row.method !== "GET" && row.method !== "HEAD") return false;
    const now = Math.floor(row.createdAt / MINUTE_MS);
    if (now !== minute || reads.size > MAX_BUDGETS) reads.clear();
    minute = now;
    const count = (reads.get(row.accountId) ?? 0) + 1;
    reads.set(row.accountId, count);
    return count > LOGGED_READS_PER_MINUTE;
  };

  const write = async (): Promise<void> => {
    const taken = rows;
    rows = [];
    try {
      for (let at = 0; at < taken.length; at += ROWS_AT_ONCE)
        await store.write("log requests", (tx) => insertRequests(tx, taken.slice(at, at + ROWS_AT_ONCE)), {
          sideBySide: true,
        });
    } catch (error) {
      log.warn("requests_not_logged", { count: taken.length, error: String(error) });
    }
    if (dropped > 0) log.warn("requests_not_logged", { count: dropped, because: "too many at once" });
    dropped = 0;
  };
  let writing = Promise.resolve();

  return {
    note: (row) => {
      if (isBeyondRate(row)) return;
      if (rows.length >= MAX_BUFFERED_REQUESTS) dropped += 1;
      else rows.push(row);
    },
    flush: () => {
      writing = writing.then(write);
      return writing;
    },
  };
}

/** Deletes rows older than the retention period. */
export async function dropOldRequests({ store, clock }: AppContext): Promise<void> {
  const before = clock.now() - REQUEST_LOG_RETENTION_MS;
  for (;;) {
    const gone = await store.write("drop old requests", (tx) => deleteOldRequests(tx, before, ROWS_AT_ONCE));
    if (gone < ROWS_AT_ONCE) return;
  }
}
