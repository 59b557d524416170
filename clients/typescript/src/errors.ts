import type { components } from "./schema.d.ts";

type Schemas = components["schemas"];

/** The code of a refusal, as the documentation lists them. */
export type ErrorCode = Schemas["ApiError"]["code"];

/** What the service refused, in its own words. */
export class CardpressError extends Error {
  readonly code: ErrorCode;
  /** The HTTP status. */
  readonly status: number;
  /** Name it when you ask the operator of the service. */
  readonly requestId: string;
  /** The page that explains the code. */
  readonly docsUrl: string;
  /** Every broken field, where there are any. */
  readonly details: readonly Schemas["ErrorDetail"][];
  /** What a 402 is about: `needed`, `remaining`, and `renews_at`, when the plan's next credits come. */
  readonly credits: Schemas["CreditLack"] | undefined;
  /** Seconds after which it makes sense to try again, where the service says so. */
  readonly retryAfter: number | undefined;

  constructor(status: number, error: Schemas["ApiError"], retryAfter?: number) {
    super(error.message);
    this.name = "CardpressError";
    this.code = error.code;
    this.status = status;
    this.requestId = error.request_id;
    this.docsUrl = error.docs_url;
    this.details = error.details ?? [];
    this.credits = error.credits;
    this.retryAfter = retryAfter;
  }
}

/**
 * An image that was accepted and could not be made; `message` says why, in words for people. Its credit is
 * back.
 */
export class ImageFailedError extends Error {
  readonly image: Schemas["FailedImage"];
  /** Why, for programs; such as `no_player`. */
  readonly reason: Schemas["FailedImage"]["failure"]["reason"];
  /** What helps, for people. */
  readonly hint: Schemas["FailedImage"]["failure"]["hint"];

  constructor(image: Schemas["FailedImage"]) {
    super(image.failure.message);
    this.name = "ImageFailedError";
    this.image = image;
    this.reason = image.failure.reason;
    this.hint = image.failure.hint;
  }
}

/** No usable answer: the connection broke, took too long, or something else than the service answered. */
export class NoAnswerError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "NoAnswerError";
  }
}

/**
 * A webhook that was not signed with the endpoint's secret, or is too old. Answer it with 401 and do nothing.
 */
export class WebhookSignatureError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "WebhookSignatureError";
  }
}
