import { claimNextImage, hasClaimable, postponeTurns } from "../store/images/images.ts";
import type { Store } from "../store/store.ts";
import type { Claimed, OpenJobs } from "./jobs.ts";

/**
 * The rows of the images are the queue: their state, turn and lease say all there is to say, and every change
 * of a row is fenced by its lease.
 */
export function rowJobs(store: Pick<Store, "read">): OpenJobs {
  return {
    enqueue: async () => {},
    isWaiting: (environment, now) => hasClaimable(store.read, environment, now),
    claim: async (tx, claim) => (await claimNextImage(tx, claim)) as Claimed | undefined,
    // The lease itself shows it, for longer than any render takes.
    heartbeat: () => () => {},
    end: async () => true,
    requeue: async () => true,
    lock: async () => {},
    cancel: async () => {},
    postpone: postponeTurns,
    enqueueMissing: async () => undefined,
    close: async () => {},
  };
}
