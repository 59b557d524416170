import type { Environment } from "../../core/account.ts";
import {
  MAX_QUEUE_WAIT_MS,
  MAX_QUEUE_WORK_MS,
  MAX_WAITING_TEST_IMAGES,
  TYPICAL_RENDER_MS,
} from "../../core/limits.ts";
import { overloaded } from "../../core/partner-refusals.ts";
import type { NodeLoad } from "../../state/nodes.ts";
import type { CountLimits, QueuePlace } from "../../store/images/queue-place.ts";

/** Weight of the newest render in the moving average, which about the last twenty determine. */
const NEWEST_WEIGHT = 0.1;
/**
 * Caps how many average renders a single one may count for. A photo that hits the time limit each time would
 * otherwise inflate everybody's estimate by minutes; when all renders become slow, the average still follows
 * within about fifteen of them.
 */
const MAX_OUTLIER = 4;

const TEST_RETRY_AFTER_SECONDS = 10;

/** Estimates waiting times from the queue's length and recent renders. */
export interface QueueEstimate {
  /** Records how long a render kept a worker busy. */
  observe(renderMs: number): void;
  /** What this process can do, for the others. */
  load(): NodeLoad;
  /** Whole seconds until a live image accepted at this place is finished; at least 1. */
  etaSeconds(place: Pick<QueuePlace, "ahead">): number;
  /**
   * Throws SERVICE_OVERLOADED when an image at this place would wait longer than MAX_QUEUE_WAIT_MS. Places
   * follow the fair order, so an account that has filled its share is refused while others are not.
   */
  refuseWhenFull(environment: Environment, place: Pick<QueuePlace, "ahead" | "total">): void;
  /** The numbers from which on refuseWhenFull refuses: none needs to be counted beyond. */
  mostCounted(environment: Environment): CountLimits;
}

export interface QueueEstimateOptions {
  /** Of this process. */
  workers: number;
  /** What other processes on the same queue can do. */
  others?: () => readonly NodeLoad[];
}

/**
 * Starts from a typical render; the first few after a start correct it, within seconds if there is a queue.
 */
export function queueEstimate({ workers, others = () => [] }: QueueEstimateOptions): QueueEstimate {
  let renderMs = TYPICAL_RENDER_MS;
  /** Images per ms. */
  const pace = () => [{ workers, renderMs }, ...others()].reduce((sum, n) => sum + n.workers / n.renderMs, 0);
  const workMs = (images: number) => images / pace();
  return {
    load: () => ({ workers, renderMs }),
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
    // One more than what fits, as the last one may be a fraction.
    mostCounted: (environment) =>
      environment === "test"
        ? { ahead: MAX_WAITING_TEST_IMAGES, total: 0 }
        : {
            ahead: Math.floor(MAX_QUEUE_WAIT_MS * pace()) + 1,
            total: Math.floor(MAX_QUEUE_WORK_MS * pace()) + 1,
          },
  };
}

function refuseBeyond(maxMs: number, waitMs: number): void {
  // Suggests returning when half the queue is done: earlier calls would mostly get the same answer.
  if (waitMs >= maxMs) throw overloaded(Math.ceil((waitMs - maxMs / 2) / 1000));
}
