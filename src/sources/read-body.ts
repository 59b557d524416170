import type { IncomingMessage } from "node:http";
import { MAX_TINY_PIECES, MIN_PIECE_BYTES } from "../core/limits.ts";
import { GuardedHttpError } from "./guarded-http-error.ts";

export interface BodyLimits {
  maxResponseBytes: number;
  onOversize: "fail" | "truncate";
}

/** Initial buffer for a body of unknown length; doubled as it grows. */
const FIRST_BYTES = 64 * 1024;

/**
 * Reads a response body into one buffer, so that it costs its own size however many chunks it arrives in, and aborts
 * one that trickles in chunks of a few bytes, each of which would cost a turn of the event loop. Calls `done` or
 * `fail` once; throws GuardedHttpError `too_large` when the head already declares too much.
 */
export function readBody(
  incoming: IncomingMessage,
  { maxResponseBytes, onOversize }: BodyLimits,
  { done, fail }: { done: (body: Uint8Array) => void; fail: (error: GuardedHttpError) => void },
): void {
  const declaredBytes = Number(incoming.headers["content-length"] ?? Number.NaN);
  if (onOversize === "fail" && declaredBytes > maxResponseBytes)
    throw tooLarge(maxResponseBytes, declaredBytes);
  let buffer: Uint8Array = new Uint8Array(
    declaredBytes >= 0 && declaredBytes <= maxResponseBytes ? declaredBytes : FIRST_BYTES,
  );
  let bytes = 0;
  let pieces = 0;
  const stop = (end: () => void) => {
    incoming.removeAllListeners("data");
    end();
  };
  incoming.on("data", (piece: Uint8Array) => {
    const kept = piece.subarray(0, maxResponseBytes - bytes);
    if (bytes + kept.length > buffer.length) buffer = grown(buffer, bytes + kept.length, maxResponseBytes);
    buffer.set(kept, bytes);
    bytes += kept.length;
    pieces += 1;
    if (kept.length < piece.length) {
      if (onOversize === "fail") stop(() => fail(tooLarge(maxResponseBytes)));
      else stop(() => done(buffer.subarray(0, bytes)));
    } else if (pieces > MAX_TINY_PIECES && bytes < pieces * MIN_PIECE_BYTES) {
      stop(() => fail(trickling(bytes, pieces)));
    }
  });
  incoming.on("end", () => done(buffer.subarray(0, bytes)));
}

function grown(buffer: Uint8Array, neededBytes: number, maxBytes: number): Uint8Array {
  const larger = new Uint8Array(Math.max(neededBytes, Math.min(2 * buffer.length, maxBytes)));
  larger.set(buffer);
  return larger;
}

function tooLarge(maxBytes: number, declaredBytes?: number): GuardedHttpError {
  const options = declaredBytes === undefined ? {} : { declaredBytes };
  return new GuardedHttpError("too_large", `The answer is larger than ${maxBytes} bytes.`, options);
}

function trickling(bytes: number, pieces: number): GuardedHttpError {
  return new GuardedHttpError(
    "protocol",
    "The server sends its answer in pieces of a few bytes each. Serve the file whole, with its Content-Length.",
    { cause: new Error(`${bytes} bytes came in ${pieces} pieces`) },
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
