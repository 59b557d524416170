import { SECOND_MS } from "./time.ts";

/** The bounds of fetching the photos of batches; each with its unit and its reason. */

/** Concurrent photo fetches of a process for batches; the remaining slots are for single creates. */
export const MAX_BATCH_FETCHES = 8;
/**
 * The same of one account, by all servers together: what its photos' host is asked does not grow with the
 * servers.
 */
export const MAX_BATCH_FETCHES_PER_ACCOUNT = 2;
/**
 * Photos that are being fetched, or whose failed tries are counted: several full batches of unreachable
 * photos.
 */
export const MAX_COUNTED_BATCH_FETCHES = 100_000;
/**
 * Several times what fetching takes, so that only what a dead process was fetching is fetched by another one.
 * Less than MAX_RETRY_PAUSE_MS by more than clocks of machines differ.
 */
export const BATCH_FETCH_LEASE_MS = 45 * SECOND_MS;
/** Pauses before fetching a batch photo again, when its host may only have been busy. */
export const BATCH_FETCH_PAUSES_MS = [5 * SECOND_MS, 30 * SECOND_MS] as const;
