import type { FailureReason } from "./failure-reasons.ts";
import { MAX_DETAIL_FIELD_CHARS, MAX_REFUSAL_CHARS, MAX_REFUSAL_DETAILS } from "./limits.ts";

/** Every error code a partner can receive. Codes are stable, because partners switch on them. */
export const ERROR_CODES = [
  "INVALID_REQUEST",
  "INVALID_API_KEY",
  "INSUFFICIENT_CREDITS",
  "PARTNER_SUSPENDED",
  "KEY_NOT_ALLOWED",
  "IMAGE_NOT_FOUND",
  "NOT_FOUND",
  "PICTURE_GONE",
  "METHOD_NOT_ALLOWED",
  "IDEMPOTENCY_KEY_REUSED_WITH_DIFFERENT_PAYLOAD",
  "SERIAL_TAKEN",
  "PARALLEL_FULL",
  "EDITION_CLOSED",
  "SET_IN_USE",
  "PAYLOAD_TOO_LARGE",
  "UNSUPPORTED_MEDIA_TYPE",
  "UNSUPPORTED_IMAGE_SOURCE",
  "RATE_LIMIT_EXCEEDED",
  "INTERNAL_ERROR",
  "SERVICE_OVERLOADED",
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/**
 * Codes seen by people who manage accounts, in the console and on the command line; the API never returns
 * these.
 */
export type PeopleCode =
  | "ACCOUNT_NOT_FOUND"
  | "KEY_NOT_FOUND"
  | "USER_NOT_FOUND"
  /** This person may not do it; others may. */
  | "NOT_ALLOWED"
  /** Only owners of the account may do it, or those whom one allows to. */
  | "OWNERS_ONLY"
  /** The maximum number exists already, or too many attempts were made. */
  | "LIMIT_REACHED"
  /** It existed but has since changed or ended: a used link, a revoked key, a changed password. */
  | "NOT_CURRENT"
  /** It is the last one of something that must never run out. */
  | "STILL_NEEDED"
  /** The password or passkey does not prove who this person is. */
  | "NOT_PROVEN"
  /** The OpenID provider did not answer, or not as it should. */
  | "PROVIDER_FAILED";

export type RefusalCode = ErrorCode | PeopleCode;

/** What is at fault where that is a state and not the shape of what was sent; stable, as error codes are. */
export const DETAIL_CODES = [
  "consent_withdrawn",
  "consent_ended",
  "no_photo_consent",
  "still_processing",
  "already_published",
  "signature_mismatch",
  "signing_key_unknown",
  "address_expired",
] as const;

export type DetailCode = (typeof DETAIL_CODES)[number];

/** One broken field of a request: where it is, which rule it breaks, and what to send instead. */
export interface ErrorDetail {
  /**
   * Its path in the body, such as `cards[17].player.number`, or `body` for the whole of it; `query limit` and
   * `header Idempotency-Key` for what stands there.
   */
  field: string;
  message: string;
  code?: DetailCode;
}

/** What a refusal for want of credits says in numbers. */
export interface CreditLack {
  needed: number;
  remaining: number;
  /** When the plan's next credits come, epoch milliseconds; null for a plan without any. */
  renewsAt: number | null;
}

export interface RefusalOptions {
  credits?: CreditLack | undefined;
  details?: ErrorDetail[] | undefined;
  /** When it makes sense to try again. */
  retryAfterSeconds?: number | undefined;
  /** Why a photo cannot be used, as a failed image would say. */
  reason?: FailureReason | undefined;
  /** The underlying cause; logged, never shown. */
  cause?: unknown;
}

/**
 * A request that is not carried out, for a reason that its message gives with the remedy. Thrown,
 * never returned. Each edge translates it: HTTP into a status and an envelope, the console into a message
 * beside the form, the command line into an exit code and a hint. What it says may quote a stranger, so it is
 * bounded here, before it is echoed, logged or stored.
 */
export class Refusal<Code extends RefusalCode = RefusalCode> extends Error {
  readonly details: ErrorDetail[] | undefined;
  readonly credits: CreditLack | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly reason: FailureReason | undefined;

  constructor(
    readonly code: Code,
    message: string,
    options: RefusalOptions = {},
  ) {
    super(cut(message, MAX_REFUSAL_CHARS), { cause: options.cause });
    this.name = "Refusal";
    this.details = options.details
      ?.slice(0, MAX_REFUSAL_DETAILS)
      .map(({ field, message: rule, code: fault }) => ({
        field: cut(field, MAX_DETAIL_FIELD_CHARS),
        message: cut(rule, MAX_REFUSAL_CHARS),
        ...(fault ? { code: fault } : {}),
      }));
    this.credits = options.credits;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.reason = options.reason;
  }
}

function cut(text: string, maxChars: number): string {
  return text.length > maxChars ? `${text.slice(0, maxChars).toWellFormed()}…` : text;
}

/** A mistake in how the program was invoked or configured; its message is shown to the operator verbatim. */
export class OperatorError extends Error {
  constructor(
    message: string,
    /** 1: failed, 2: wrong usage. */
    readonly exitCode: 1 | 2 = 1,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = "OperatorError";
  }
}
