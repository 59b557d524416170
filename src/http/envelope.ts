import type { CreditLack, ErrorCode } from "../core/errors.ts";
import { internalError, storageUnavailable } from "../core/partner-refusals.ts";
import { storageFault } from "../core/storage-unavailable.ts";
import { isoTimeOrNull } from "../core/time.ts";
import type { Exchange } from "./exchange.ts";
import { ERROR_STATUS, HttpRefusal, isPartnerRefusal, type PartnerRefusal } from "./http-refusal.ts";

/** People empty full disks, and other processes end their writes sooner. */
const STORAGE_RETRY_AFTER_SECONDS = 30;

const JSON_TYPE = "application/json; charset=utf-8";

/** The four headers of every response. */
export function standardHeaders(exchange: Exchange): Record<string, string> {
  const { rate } = exchange;
  return {
    "X-Request-Id": exchange.requestId,
    "X-RateLimit-Limit": String(rate.limit),
    "X-RateLimit-Remaining": String(rate.remaining),
    "X-RateLimit-Reset": String(Math.ceil(rate.resetAtMs / 1000)),
  };
}

/** `{success: true, data, error: null}`. */
export function success(
  exchange: Exchange,
  data: unknown,
  options: { status?: number; headers?: Record<string, string> } = {},
): Response {
  return json(exchange, options.status ?? 200, JSON.stringify(envelope(data)), options.headers);
}

/** Wraps every successful response. */
export function envelope(data: unknown) {
  return { success: true, data, error: null };
}

/** The error envelope. An error the API does not know becomes a 500 that reveals nothing about its cause. */
export function failure(exchange: Exchange, error: unknown, docsBaseUrl: string): Response {
  const known = asPartnerRefusal(error);
  const body = {
    success: false,
    data: null,
    error: {
      code: known.code,
      message: known.message,
      request_id: exchange.requestId,
      docs_url: docsUrl(docsBaseUrl, known.code),
      ...(known.details ? { details: known.details } : {}),
      ...(known.credits ? { credits: creditsView(known.credits) } : {}),
    },
  };
  return json(exchange, ERROR_STATUS[known.code], JSON.stringify(body), {
    ...(known instanceof HttpRefusal ? known.headers : {}),
    ...(known.retryAfterSeconds === undefined ? {} : { "Retry-After": String(known.retryAfterSeconds) }),
  });
}

/** What a 402 says in numbers. */
export function creditsView({ needed, remaining, renewsAt }: CreditLack) {
  return { needed, remaining, renews_at: isoTimeOrNull(renewsAt) };
}

export function docsUrl(baseUrl: string, code: ErrorCode): string {
  return `${baseUrl}/docs/errors/${code}`;
}

/**
 * Converts any error to the refusal the API responds with: an unavailable store asks the caller to retry
 * later.
 */
export function asPartnerRefusal(error: unknown): PartnerRefusal {
  const fault = storageFault(error);
  if (fault) return storageUnavailable(STORAGE_RETRY_AFTER_SECONDS, fault);
  return isPartnerRefusal(error) ? error : internalError(error);
}

function json(exchange: Exchange, status: number, body: string, headers?: Record<string, string>): Response {
  const all = standardHeaders(exchange);
  all["Content-Type"] = JSON_TYPE;
  all["Cache-Control"] = "no-store";
  all["X-Content-Type-Options"] = "nosniff";
  return new Response(body, { status, headers: headers ? Object.assign(all, headers) : all });
}
