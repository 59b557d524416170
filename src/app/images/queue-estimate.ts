import type { Environment } from "../../core/account.ts";
import {
  MAX_QUEUE_WAIT_MS,
  MAX_QUEUE_WORK_MS,
  MAX_WAITING_TEST_IMAGES,
  TYPICAL_RENDER_MS,
} from "../../core/limits.ts";
import { overloaded } from "../../core/partner-refusals.ts";
import type { QueuePlace } from "../../store/images.ts";

/** Weight of the newest render in the moving average: the last twenty or so decide. */
const NEWEST_WEIGHT = 0.1;
/**
 * One render counts as at most so many average ones. A photo that runs into the time limit three times would otherwise
 * make every partner wait for minutes that nobody has to wait; when all renders get slow, the average still follows
 * within about fifteen of them.
 */
const MAX_OUTLIER = 4;

const TEST_RETRY_AFTER_SECONDS = 10;

/** What the queue's length and the recent renders say about waiting. */
export interface QueueEstimate {
  /** Tells the estimate how long a render kept a worker busy. */
  observe(renderMs: number): void;
  /** Whole seconds until a live image accepted at this place is finished; at least 1. */
  etaSeconds(place: Pick<QueuePlace, "ahead">): number;
  /**
   * Throws SERVICE_OVERLOADED when an image at this place would wait longer than MAX_QUEUE_WAIT_MS. The place is one in
   * the fair order, so an account that has filled its share is refused and the others are not.
   */
  refuseWhenFull(environment: Environment, place: Pick<QueuePlace, "ahead" | "total">): void;
}

/** Begins with a typical render: the first few after a start put it right, within seconds if there is a queue. */
export function queueEstimate(options: { workers: number }): QueueEstimate {
  let renderMs = TYPICAL_RENDER_MS;
  const workMs = (images: number) => (images / options.workers) * renderMs;
  return {
    observe: (ms) => {
      renderMs += NEWEST_WEIGHT * (Math.min(ms, MAX_OUTLIER * renderMs) - renderMs);
    },
    etaSeconds: ({ ahead }) => Math.max(1, Math.ceil((workMs(ahead) + renderMs) / 1000)),
    refuseWhenFull: (environment, { ahead, total }) => {
      if (environment === "test") {
        if (ahead >= MAX_WAITING_TEST_IMAGES) throw overloaded(TEST_RETRY_AFTER_SECONDS);
        return;
      }
      refuseBeyond(MAX_QUEUE_WAIT_MS, workMs(ahead));
      refuseBeyond(MAX_QUEUE_WORK_MS, workMs(total));
    },
  };
}

function refuseBeyond(maxMs: number, waitMs: number): void {
  // Back when half of it is done: earlier calls would mostly meet the same answer.
  if (waitMs >= maxMs) throw overloaded(Math.ceil((waitMs - maxMs / 2) / 1000));
}
