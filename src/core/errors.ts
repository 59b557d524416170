/** Every error code a partner can meet, with its HTTP status. Codes are stable: partners switch on them. */
export const ERROR_STATUS = {
  INVALID_REQUEST: 400,
  INVALID_API_KEY: 401,
  INSUFFICIENT_CREDITS: 402,
  PARTNER_SUSPENDED: 403,
  IMAGE_NOT_FOUND: 404,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  IDEMPOTENCY_KEY_REUSED_WITH_DIFFERENT_PAYLOAD: 409,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  UNSUPPORTED_IMAGE_SOURCE: 422,
  RATE_LIMIT_EXCEEDED: 429,
  INTERNAL_ERROR: 500,
  SERVICE_OVERLOADED: 503,
} as const;

export type ErrorCode = keyof typeof ERROR_STATUS;

/** One broken field of a request: where it is, which rule it breaks, and what to send instead. */
export interface ErrorDetail {
  /** A path such as `player.number`, `header Idempotency-Key` or `query limit`. */
  field: string;
  message: string;
}

export interface AppErrorOptions {
  details?: ErrorDetail[];
  /** Sent as Retry-After. */
  retryAfterSeconds?: number;
  /** Extra response headers, such as Allow. */
  headers?: Record<string, string>;
  /** What really happened; logged, never sent. */
  cause?: unknown;
}

/** An expected failure with a public message that names the field and the remedy. Thrown, never returned. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly details: ErrorDetail[] | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly headers: Record<string, string>;

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.name = "AppError";
    this.code = code;
    this.details = options.details;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.headers = options.headers ?? {};
  }

  get status(): number {
    return ERROR_STATUS[this.code];
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
