import { expect } from "bun:test";
import {
  type GuardedHttpOptions,
  type GuardedRequest,
  guardedRequest,
} from "../../src/sources/guarded-http.ts";
import { GuardedHttpError, type GuardedHttpErrorKind } from "../../src/sources/guarded-http-error.ts";
import { TEST_AUTHORITY, type TestServer } from "./servers.ts";

export const LOOPBACK = async () => ["127.0.0.1"];
/** Never cut short by this limit unless a test is about it. */
export const AMPLE_MS = 120_000;

/** Asks a test server, whose origin is allowed and whose authority is trusted unless given otherwise. */
export function get(
  server: TestServer,
  request: Partial<GuardedRequest> = {},
  options: Partial<GuardedHttpOptions> = {},
) {
  return guardedRequest(
    {
      method: "GET",
      url: `${server.origin}/photo.jpg`,
      timeoutMs: AMPLE_MS,
      maxResponseBytes: 1_000,
      maxRedirects: 3,
      onOversize: "fail",
      ...request,
    },
    { allowedOrigins: new Set([server.origin]), resolve: LOOPBACK, ca: TEST_AUTHORITY, ...options },
  );
}

export async function expectKind(
  answer: Promise<unknown>,
  kind: GuardedHttpErrorKind,
): Promise<GuardedHttpError> {
  const outcome = await answer.catch((error) => error);
  if (!(outcome instanceof GuardedHttpError)) throw new Error(`Expected ${kind}, got ${outcome}`);
  expect(outcome.kind).toBe(kind);
  return outcome;
}

export const text = (body: Uint8Array) => Buffer.from(body).toString();
