import { AppError, type ErrorCode } from "../core/errors.ts";
import { storageFault } from "../store/storage-unavailable.ts";
import type { Exchange } from "./exchange.ts";

/** Full disks are emptied by people, and other processes end their writes sooner. */
const STORAGE_RETRY_AFTER_SECONDS = 30;

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
export function success(exchange: Exchange, data: unknown, status = 200): Response {
  return json(exchange, status, JSON.stringify({ success: true, data, error: null }));
}

/** An answer whose body was written earlier, byte for byte. */
export function replay(
  exchange: Exchange,
  status: number,
  body: string,
  headers: Record<string, string>,
): Response {
  return json(exchange, status, body, headers);
}

/** The error envelope. What is not an AppError becomes a 500 that tells nothing about its cause. */
export function failure(exchange: Exchange, error: unknown, docsBaseUrl: string): Response {
  const known = asAppError(error);
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
  const retryAfter =
    known.retryAfterSeconds === undefined ? {} : { "Retry-After": String(known.retryAfterSeconds) };
  return json(exchange, known.status, JSON.stringify(body), { ...known.headers, ...retryAfter });
}

export function docsUrl(baseUrl: string, code: ErrorCode): string {
  return `${baseUrl}/docs/errors/${code}`;
}

export function asAppError(error: unknown): AppError {
  const fault = storageFault(error);
  if (fault) {
    return new AppError(
      "SERVICE_OVERLOADED",
      "The service cannot read or store anything right now. Try again later.",
      { retryAfterSeconds: STORAGE_RETRY_AFTER_SECONDS, cause: fault },
    );
  }
  if (error instanceof AppError) return error;
  return new AppError(
    "INTERNAL_ERROR",
    "Something went wrong on our side. Send the request again with the same Idempotency-Key; if it keeps failing, tell us the request_id.",
    { cause: error },
  );
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
