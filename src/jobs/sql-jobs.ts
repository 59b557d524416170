import { claimNextImage, hasClaimable, postponeTurns } from "../store/images.ts";
import type { Store } from "../store/store.ts";
import type { Claimed, Jobs } from "./jobs.ts";

/**
 * The rows of the images are the queue: their state, turn and lease say all there is to say, and every change of a row is
 * fenced by its lease.
 */
export function sqlJobs(store: Pick<Store, "read">, now: () => number): Jobs {
  return {
    enqueue: async () => {},
    isWaiting: (environment) => hasClaimable(store.read, environment, now()),
    claim: async (tx, claim) => (await claimNextImage(tx, claim)) as Claimed | undefined,
    end: async () => true,
    giveBack: async () => true,
    withdraw: async () => {},
    postpone: postponeTurns,
  };
}
