import type { RateState } from "./rate-limit.ts";

/** One request in progress, with what the response headers need. */
export interface Exchange {
  readonly request: Request;
  /** As if the service had its host to itself: without the base path. */
  readonly url: URL;
  /** The path of the host that the service has, such as `/cards`; empty where it has all of it. */
  readonly basePath: string;
  /** What the route is called in metrics and in the log of requests; "other" when there is none. */
  readonly route: string;
  readonly requestId: string;
  readonly clientAddress: string;
  /** The budget to report: the account's once the key is known, the client address's before. */
  readonly rate: RateState;
}
