export type GuardedHttpErrorKind =
  | "address_refused"
  | "not_https"
  | "bad_url"
  | "dns"
  | "connect"
  | "tls"
  | "timeout"
  | "too_large"
  | "too_many_redirects"
  | "protocol"
  | "aborted"
  /** This machine lacks file descriptors, ports, memory or a resolver. Says nothing about the URL. */
  | "ours";

export interface GuardedHttpErrorOptions {
  /** The underlying cause, for the log only. */
  cause?: unknown;
  /** For `too_large`: the size the server declared, if it did. */
  declaredBytes?: number;
}

/**
 * Why an outbound request failed. `message` may be shown to the person who gave the URL: it reveals nothing
 * about private addresses, not even whether they exist.
 */
export class GuardedHttpError extends Error {
  readonly declaredBytes: number | undefined;

  constructor(
    readonly kind: GuardedHttpErrorKind,
    message: string,
    options: GuardedHttpErrorOptions = {},
  ) {
    super(message, { cause: options.cause });
    this.name = "GuardedHttpError";
    this.declaredBytes = options.declaredBytes;
  }
}

/**
 * One message for unknown names and private addresses: two would tell a stranger which names exist inside the
 * operator's network.
 */
export const HOST_REFUSED_MESSAGE =
  "The host of this address was not found or is not on the public internet. Check its spelling, and use an address that opens in a private browser window from anywhere.";

/** For URLs that could not even be requested. */
export const OURS_MESSAGE =
  "The service cannot open connections at the moment. The address is not at fault; try again in a few seconds.";

/** Public, but this very machine: what listens there may trust it. */
export const OWN_ADDRESS_MESSAGE =
  "The host of this address is the machine that this service runs on, which it does not ask. Use another host, or have the operator of the service allow this origin.";
