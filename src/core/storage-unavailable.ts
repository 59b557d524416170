import { Refusal } from "./errors.ts";

/**
 * The store can currently be neither read nor written: its disk is full or failing, another process holds it
 * locked, or its file is damaged or gone. Work in progress left nothing behind, unless it was just being
 * committed; retrying later may help. Each edge reports it in its own words.
 */
export class StorageUnavailable extends Error {
  override name = "StorageUnavailable";

  /** `cause`: the database engine's own error. */
  constructor(cause: Error, during?: string) {
    super(during === undefined ? cause.message : `${during}: ${cause.message}`, { cause });
  }
}

/**
 * The store fault behind an error, even when a query builder has wrapped it; undefined when there is none.
 */
export function storageFault(error: unknown): StorageUnavailable | undefined {
  for (let e = error; e instanceof Error && !(e instanceof Refusal); e = e.cause)
    if (e instanceof StorageUnavailable) return e;
  return undefined;
}
