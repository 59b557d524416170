import type { ErrorCode } from "../core/errors.ts";
import { internalError } from "../core/partner-refusals.ts";
import { asStorageFault } from "../store/sqlite.ts";
import type { Exchange } from "./exchange.ts";
import { ERROR_STATUS, HttpRefusal, isPartnerRefusal, type PartnerRefusal } from "./http-refusal.ts";

const JSON_TYPE = "application/json; charset=utf-8";

/** The four headers of every answer. */
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

/** What goes around every answer that is no error. */
export function envelope(data: unknown) {
  return { success: true, data, error: null };
}

/** The error envelope. What is no refusal the API knows becomes a 500 that tells nothing about its cause. */
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
    },
  };
  return json(exchange, ERROR_STATUS[known.code], JSON.stringify(body), {
    ...(known instanceof HttpRefusal ? known.headers : {}),
    ...(known.retryAfterSeconds === undefined ? {} : { "Retry-After": String(known.retryAfterSeconds) }),
  });
}

export function docsUrl(baseUrl: string, code: ErrorCode): string {
  return `${baseUrl}/docs/errors/${code}`;
}

export function asPartnerRefusal(fault: unknown): PartnerRefusal {
  const error = asStorageFault(fault);
  return isPartnerRefusal(error) ? error : internalError(error);
}

function json(
  exchange: Exchange,
  status: number,
  body: string,
  headers: Record<string, string> = {},
): Response {
  return new Response(body, {
    status,
    headers: {
      ...standardHeaders(exchange),
      "Content-Type": JSON_TYPE,
      "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
      ...headers,
    },
  });
}
