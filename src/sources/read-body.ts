import type { IncomingMessage } from "node:http";
import { BodyBuffer } from "../core/body-buffer.ts";
import { GuardedHttpError } from "./guarded-http-error.ts";

export interface BodyLimits {
  maxResponseBytes: number;
  onOversize: "fail" | "truncate";
}

/**
 * Reads a response body into one buffer, and aborts one that trickles in pieces of a few bytes. Calls `done`
 * or `fail` once; throws GuardedHttpError `too_large` when the head already declares too much.
 */
export function readBody(
  incoming: IncomingMessage,
  { maxResponseBytes, onOversize }: BodyLimits,
  { done, fail }: { done: (body: Uint8Array) => void; fail: (error: GuardedHttpError) => void },
): void {
  const declaredBytes = Number(incoming.headers["content-length"] ?? Number.NaN);
  if (onOversize === "fail" && declaredBytes > maxResponseBytes)
    throw tooLarge(maxResponseBytes, declaredBytes);
  const body = new BodyBuffer(maxResponseBytes, declaredBytes);
  const stop = (end: () => void) => {
    incoming.removeAllListeners("data");
    end();
  };
  incoming.on("data", (piece: Uint8Array) => {
    const outcome = body.add(piece);
    if (outcome === "full" && onOversize === "fail") stop(() => fail(tooLarge(maxResponseBytes)));
    else if (outcome === "full") stop(() => done(body.whole));
    else if (outcome === "trickling") stop(() => fail(trickling(body.size)));
  });
  incoming.on("end", () => done(body.whole));
}

function tooLarge(maxBytes: number, declaredBytes?: number): GuardedHttpError {
  const options = declaredBytes === undefined ? {} : { declaredBytes };
  return new GuardedHttpError("too_large", `The answer is larger than ${maxBytes} bytes.`, options);
}

function trickling(size: string): GuardedHttpError {
  return new GuardedHttpError(
    "protocol",
    "The server sends its answer in pieces of a few bytes each. Serve the file whole, with its Content-Length.",
    { cause: new Error(size) },
  );
}

export function brokenAnswer(cause: unknown): GuardedHttpError {
  if (cause instanceof GuardedHttpError) return cause;
  return new GuardedHttpError(
    "protocol",
    "The server broke off its answer or does not speak HTTP properly. Try again, and check that the address opens in a browser.",
    { cause },
  );
}
