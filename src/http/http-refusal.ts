import { type ErrorCode, Refusal } from "../core/errors.ts";

/** The HTTP status for each code. */
export const ERROR_STATUS: Record<ErrorCode, number> = {
  INVALID_REQUEST: 400,
  INVALID_API_KEY: 401,
  INSUFFICIENT_CREDITS: 402,
  PARTNER_SUSPENDED: 403,
  KEY_NOT_ALLOWED: 403,
  IMAGE_NOT_FOUND: 404,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  IDEMPOTENCY_KEY_REUSED_WITH_DIFFERENT_PAYLOAD: 409,
  SERIAL_TAKEN: 409,
  PARALLEL_FULL: 409,
  EDITION_CLOSED: 409,
  SET_IN_USE: 409,
  PICTURE_GONE: 410,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  UNSUPPORTED_IMAGE_SOURCE: 422,
  RATE_LIMIT_EXCEEDED: 429,
  INTERNAL_ERROR: 500,
  SERVICE_OVERLOADED: 503,
};

/** A refusal with a code that the API uses. */
export type PartnerRefusal = Refusal<ErrorCode>;

export function isPartnerRefusal(error: unknown): error is PartnerRefusal {
  return error instanceof Refusal && error.code in ERROR_STATUS;
}

/** A refusal at protocol level, with extra response headers. */
export class HttpRefusal extends Refusal {
  constructor(
    refusal: Refusal,
    /** Such as Allow. */
    readonly headers: Record<string, string>,
  ) {
    super(refusal.code, refusal.message, refusal);
    this.name = "HttpRefusal";
  }
}
