import { Refusal } from "./errors.ts";

/**
 * The store can be neither read nor written now: its disk is full or failing, another process keeps it locked, or its file
 * is damaged or gone. What was under way left nothing behind, unless it was just being committed; asking again later may
 * help. Each way in says so in its own words.
 */
export class StorageUnavailable extends Error {
  override name = "StorageUnavailable";

  /** `cause`: what the engine said. */
  constructor(cause: Error, during?: string) {
    super(during === undefined ? cause.message : `${during}: ${cause.message}`, { cause });
  }
}

/** The fault of the store behind an error, also when a query builder has wrapped it; undefined when there is none. */
export function storageFault(error: unknown): StorageUnavailable | undefined {
  for (let e = error; e instanceof Error && !(e instanceof Refusal); e = e.cause)
    if (e instanceof StorageUnavailable) return e;
  return undefined;
}
