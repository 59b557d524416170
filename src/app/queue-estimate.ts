import type { Environment } from "../core/api-key.ts";
import { AppError } from "../core/errors.ts";
import { MAX_QUEUE_WAIT_MS, MAX_WAITING_TEST_IMAGES, TYPICAL_RENDER_MS } from "../core/limits.ts";
import { countUnfinished } from "../store/images.ts";
import type { Tx } from "../store/store.ts";

/** Weight of the newest render in the moving average: the last twenty or so decide. */
const NEWEST_WEIGHT = 0.1;

const TEST_RETRY_AFTER_SECONDS = 10;

/** What the queue's length and the recent renders say about waiting. */
export interface QueueEstimate {
  /** Tells the estimate how long a render took. */
  observe(renderMs: number): void;
  /** Whole seconds until a live image accepted now is finished; at least 1. */
  etaSeconds(tx: Tx): Promise<number>;
  /** Throws SERVICE_OVERLOADED when the queue holds more than MAX_QUEUE_WAIT_MS of work. */
  refuseWhenFull(tx: Tx, environment: Environment): Promise<void>;
}

export function queueEstimate(options: { workers: number }): QueueEstimate {
  let renderMs = TYPICAL_RENDER_MS;
  const waitMs = (unfinished: number) => (unfinished / options.workers) * renderMs;
  return {
    observe: (ms) => {
      renderMs += NEWEST_WEIGHT * (ms - renderMs);
    },
    etaSeconds: async (tx) => {
      const unfinished = await countUnfinished(tx, "live");
      return Math.max(1, Math.ceil((waitMs(unfinished) + renderMs) / 1000));
    },
    refuseWhenFull: async (tx, environment) => {
      const unfinished = await countUnfinished(tx, environment);
      if (environment === "test") {
        if (unfinished >= MAX_WAITING_TEST_IMAGES) throw overloaded(TEST_RETRY_AFTER_SECONDS);
        return;
      }
      const wait = waitMs(unfinished);
      // Back when half of the queue is done: earlier calls would mostly meet the same answer.
      if (wait >= MAX_QUEUE_WAIT_MS) throw overloaded(Math.ceil((wait - MAX_QUEUE_WAIT_MS / 2) / 1000));
    },
  };
}

function overloaded(retryAfterSeconds: number): AppError {
  return new AppError(
    "SERVICE_OVERLOADED",
    "The service has more work than it can finish soon. Nothing was reserved; send the same request again after the time in Retry-After.",
    { retryAfterSeconds },
  );
}
