import { Readable } from "node:stream";
import type { RequestHandler } from "../blobs/bucket.ts";
import { EXPORT_TRY_MS, MAX_BUCKET_ANSWER_BYTES } from "../core/outbound-limits.ts";
import { type GuardedHttpOptions, type GuardedRequest, guardedRequest } from "./guarded-http.ts";

/** What the S3 library hands to its request handler. */
interface SignedRequest {
  method: string;
  protocol: string;
  hostname: string;
  port?: number;
  path: string;
  query?: Record<string, string | string[] | null>;
  headers: Record<string, string>;
  body?: unknown;
}

/**
 * Sends the S3 library's requests by the rules for addresses that strangers name: nothing private is reached,
 * no redirect is followed, and the name is resolved once. `party`: whose look-ups queue behind each other.
 * What is under way ends with `signal`.
 */
export function guardedS3(
  options: GuardedHttpOptions,
  { party, signal }: { party: string; signal?: AbortSignal | undefined },
): RequestHandler {
  const handler = {
    handle: async (request: SignedRequest, { abortSignal }: { abortSignal?: AbortSignal } = {}) => {
      const { status, headers, body } = await guardedRequest(
        {
          method: request.method as GuardedRequest["method"],
          url: addressOf(request),
          headers: request.headers,
          ...(request.body instanceof Uint8Array || typeof request.body === "string"
            ? { body: request.body }
            : {}),
          timeoutMs: EXPORT_TRY_MS,
          maxResponseBytes: MAX_BUCKET_ANSWER_BYTES,
          maxRedirects: 0,
          onOversize: "fail",
          party,
          signal: AbortSignal.any([abortSignal, signal].filter((each) => each !== undefined)),
        },
        options,
      );
      return { response: { statusCode: status, headers, body: Readable.from([Buffer.from(body)]) } };
    },
    updateHttpClientConfig: () => {},
    httpHandlerConfigs: () => ({}),
  };
  return handler as unknown as RequestHandler;
}

function addressOf({ protocol, hostname, port, path, query = {} }: SignedRequest): string {
  const words = Object.entries(query).flatMap(([name, value]) =>
    [value]
      .flat()
      .map((one) => `${encodeURIComponent(name)}${one === null ? "" : `=${encodeURIComponent(one)}`}`),
  );
  const search = words.length > 0 ? `?${words.join("&")}` : "";
  return `${protocol}//${hostname}${port === undefined ? "" : `:${port}`}${path}${search}`;
}
