import {
  LOGGED_PLAYERS_PER_MINUTE,
  LOGGED_READS_PER_MINUTE,
  MAX_BUDGETS,
  MAX_BUFFERED_REQUESTS,
  REQUEST_LOG_RETENTION_MS,
} from "../../core/limits.ts";
import { MINUTE_MS } from "../../core/time.ts";
import { deleteOldRequests, insertRequests, type LoggedRequest } from "../../store/overviews/request-log.ts";
import type { AppContext } from "../context.ts";

/** Logs requests made with an account's keys, for that account's own developers. */
export interface RequestLog {
  /**
   * Queues the row of a call for the next write. Of successful polling above a rate, and of a flood, nothing
   * is queued, nor is its row made.
   */
  note(call: LoggedCall, row: () => LoggedRequest): void;
  /**
   * Writes what was queued until now, also by a flush under way. Never rejects: nothing may fail for want of
   * a log.
   */
  flush(): Promise<void>;
}

/** What decides whether a call is logged at all. */
export type LoggedCall = Pick<LoggedRequest, "accountId" | "method" | "status" | "createdAt"> & {
  /** Whether no budget limits how often it comes, so that its refusals are many too. */
  isUnlimited?: boolean;
};

/** Rows per transaction. */
const ROWS_AT_ONCE = 200;

export function requestLog({ store, log }: Pick<AppContext, "store" | "log">): RequestLog {
  let rows: LoggedRequest[] = [];
  let dropped = 0;
  const reads = minuteCounter();
  const players = minuteCounter();

  /** Whether a row is one of many alike, of which enough have been logged. */
  const isBeyondRate = (call: LoggedCall): boolean => {
    const isRare =
      call.status >= 400
        ? call.status !== 429 && call.isUnlimited !== true
        : call.method !== "GET" && call.method !== "HEAD";
    if (isRare) return false;
    return reads(call, 1) > LOGGED_READS_PER_MINUTE;
  };

  const write = async (): Promise<void> => {
    const taken = rows;
    rows = [];
    try {
      for (let at = 0; at < taken.length; at += ROWS_AT_ONCE)
        await store.write("log requests", (tx) => insertRequests(tx, taken.slice(at, at + ROWS_AT_ONCE)), {
          concurrent: true,
        });
    } catch (error) {
      log.warn("requests_not_logged", { count: taken.length, error: String(error) });
    }
    if (dropped > 0) log.warn("requests_not_logged", { count: dropped, because: "too many at once" });
    dropped = 0;
  };
  let writing = Promise.resolve();

  return {
    note: (call, rowOf) => {
      if (isBeyondRate(call)) return;
      if (rows.length >= MAX_BUFFERED_REQUESTS) {
        dropped += 1;
        return;
      }
      const row = rowOf();
      if (row.players.length > 0 && players(row, row.players.length) > LOGGED_PLAYERS_PER_MINUTE)
        rows.push({ ...row, players: [] });
      else rows.push(row);
    },
    flush: () => {
      writing = writing.then(write);
      return writing;
    },
  };
}

/** Counts something by account within a minute, and returns the sum so far. */
function minuteCounter(): (call: LoggedCall, count: number) => number {
  let minute = 0;
  const counts = new Map<string, number>();
  return ({ accountId, createdAt }, count) => {
    const now = Math.floor(createdAt / MINUTE_MS);
    if (now !== minute || counts.size > MAX_BUDGETS) counts.clear();
    minute = now;
    const sum = (counts.get(accountId) ?? 0) + count;
    counts.set(accountId, sum);
    return sum;
  };
}

/** Deletes rows older than the retention period. */
export async function dropOldRequests({ store, clock }: AppContext): Promise<void> {
  const before = clock.now() - REQUEST_LOG_RETENTION_MS;
  for (;;) {
    const gone = await store.write("drop old requests", (tx) => deleteOldRequests(tx, before, ROWS_AT_ONCE), {
      concurrent: true,
    });
    if (gone < ROWS_AT_ONCE) return;
  }
}
