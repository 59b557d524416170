/** Every error code a partner can meet. Codes are stable: partners switch on them. */
export const ERROR_CODES = [
  "INVALID_REQUEST",
  "INVALID_API_KEY",
  "INSUFFICIENT_CREDITS",
  "PARTNER_SUSPENDED",
  "IMAGE_NOT_FOUND",
  "NOT_FOUND",
  "PICTURE_GONE",
  "METHOD_NOT_ALLOWED",
  "IDEMPOTENCY_KEY_REUSED_WITH_DIFFERENT_PAYLOAD",
  "PAYLOAD_TOO_LARGE",
  "UNSUPPORTED_MEDIA_TYPE",
  "UNSUPPORTED_IMAGE_SOURCE",
  "RATE_LIMIT_EXCEEDED",
  "INTERNAL_ERROR",
  "SERVICE_OVERLOADED",
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/** What people who manage accounts can meet, in the console and on the command line; the API never answers these. */
export type PeopleCode =
  | "ACCOUNT_NOT_FOUND"
  | "KEY_NOT_FOUND"
  | "USER_NOT_FOUND"
  /** Whoever asks may not do this, others may. */
  | "NOT_ALLOWED"
  /** There are as many of them already as there may be, or too many tries were made. */
  | "LIMIT_REACHED"
  /** It was there, and has changed or ended meanwhile: a used link, a revoked key, another password. */
  | "NOT_CURRENT"
  /** The last one of something that there must always be one of. */
  | "STILL_NEEDED"
  /** The password or passkey does not show who somebody is. */
  | "NOT_PROVEN";

export type RefusalCode = ErrorCode | PeopleCode;

/** One broken field of a request: where it is, which rule it breaks, and what to send instead. */
export interface ErrorDetail {
  /** A path such as `player.number`, `header Idempotency-Key` or `query limit`. */
  field: string;
  message: string;
}

export interface RefusalOptions {
  details?: ErrorDetail[] | undefined;
  /** When the same may be asked again with better hope. */
  retryAfterSeconds?: number | undefined;
  /** What really happened; logged, never shown. */
  cause?: unknown;
}

/**
 * What was asked for is not done, for a reason that whoever asked is told, with the remedy. Thrown, never returned. Each
 * way in says it in its own terms: HTTP as a status and an envelope, the console beside the form, the command line as an
 * exit code and a hint.
 */
export class Refusal<Code extends RefusalCode = RefusalCode> extends Error {
  readonly details: ErrorDetail[] | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(
    readonly code: Code,
    message: string,
    options: RefusalOptions = {},
  ) {
    super(message, { cause: options.cause });
    this.name = "Refusal";
    this.details = options.details;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/** A mistake in how the program was called or configured; its message is shown to the operator as it is. */
export class OperatorError extends Error {
  constructor(
    message: string,
    /** 1: failed, 2: wrong usage. */
    readonly exitCode: 1 | 2 = 1,
  ) {
    super(message);
    this.name = "OperatorError";
  }
}
