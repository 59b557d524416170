import type { RateState } from "./rate-limit.ts";

/** One request being answered, and what its answer's headers need. */
export interface Exchange {
  readonly request: Request;
  readonly url: URL;
  readonly requestId: string;
  readonly clientAddress: string;
  /** The budget the answer reports: the account's once the key is known, the client address's before. */
  readonly rate: RateState;
}
