import { ANSWERED_BY, OWN_ANSWER, PASSED_ON_AFTER } from "./balancer.ts";
import type { Figures } from "./figures.ts";
import type { Node } from "./node.ts";

/** No answer may take longer. */
const MAX_ANSWER_MS = 15_000;
const PATIENCE_MS = 40_000;

export interface Answer {
  status: number;
  headers: Headers;
  bytes: Uint8Array;
  /** The bytes read as UTF-8. */
  text: string;
}

/** Sends a request; undefined where no node answered it. */
export type Client = (
  path: string,
  options: { key?: string; method?: string; body?: string; idempotencyKey?: string; to?: Node },
) => Promise<Answer | undefined>;

/**
 * A client of the balancer, or of one node, that holds every answer to what is promised about all of them.
 */
export function cardClient(balancer: string, nodes: readonly Node[], figures: Figures): Client {
  return async (path, { key, method = "GET", body, idempotencyKey, to }) => {
    const startedAt = performance.now();
    const took = () => Math.round(performance.now() - startedAt);
    figures.requests += 1;
    try {
      const response = await fetch((to?.address ?? balancer) + path, {
        method,
        headers: {
          ...(key && { "X-API-Key": key }),
          ...(idempotencyKey && { "Idempotency-Key": idempotencyKey }),
          ...(body !== undefined && { "Content-Type": "application/json" }),
        },
        ...(body !== undefined && { body }),
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      const bytes = await response.bytes();
      const { status, headers } = response;
      const announced = Number(headers.get("content-length") ?? bytes.length);
      if (method !== "HEAD" && announced !== bytes.length)
        throw new Error(`${bytes.length} of ${announced} bytes came, which every client and cache notices`);
      const text = new TextDecoder().decode(bytes);
      const isOwn = headers.has(OWN_ANSWER);
      const by = to ?? nodes.find(({ name }) => name === headers.get(ANSWERED_BY));
      const wasDisturbed = by ? by.wasDisturbed(startedAt) : true;
      if (!wasDisturbed) {
        // What another node was asked for before it ended is not the time of this one.
        const itsOwn = took() - Number(headers.get(PASSED_ON_AFTER) ?? 0);
        figures.slowestMs = Math.max(figures.slowestMs, itsOwn);
        figures.check(
          "answers",
          itsOwn <= MAX_ANSWER_MS,
          () => `${method} ${path} took ${itsOwn} ms at ${by?.name} and was answered ${status}`,
        );
      }
      if (isOwn) {
        figures.unanswered += 1;
        return undefined;
      }
      figures.byStatus[status] = (figures.byStatus[status] ?? 0) + 1;
      if (status >= 500 && !(status === 503 && headers.has("retry-after")))
        figures.problem(
          "answers",
          `${method} ${path} was answered ${status} by ${by?.name}: ${text.slice(0, 300)}`,
        );
      return { status, headers, bytes, text };
    } catch {
      figures.unanswered += 1;
      const wasDisturbed = to
        ? to.wasDisturbed(startedAt)
        : nodes.some((node) => node.wasDisturbed(startedAt));
      if (!wasDisturbed && took() > MAX_ANSWER_MS)
        figures.problem(
          "answers",
          `${method} ${path} had no answer after ${took()} ms from ${to?.name ?? "any node"}`,
        );
      return undefined;
    }
  };
}
