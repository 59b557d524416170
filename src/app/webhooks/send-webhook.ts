import { retryAfterMs } from "../../core/delivery-schedule.ts";
import {
  MAX_WEBHOOK_ANSWER_BYTES,
  WEBHOOK_ANSWER_KEPT_CHARS,
  WEBHOOK_TIMEOUT_MS,
} from "../../core/outbound-limits.ts";
import { SecretUnreadableError } from "../../core/secret-box.ts";
import { webhookHeaders } from "../../core/webhook-signature.ts";
import {
  type GuardedHead,
  GuardedHttpError,
  type GuardedHttpOptions,
  type GuardedResponse,
  guardedRequest,
} from "../../sources/guarded-http.ts";
import type { WebhookEndpoint } from "../../store/webhooks/webhooks.ts";
import { BUILD } from "../../version.ts";
import type { WebhookContext } from "./manage-webhooks.ts";

/**
 * How one attempt ended. `secret_unreadable`, `local_failure` (no descriptors, ports or resolver on our side)
 * and `requeued` do not count: nobody knows whether the receiver would have refused.
 */
export type Outcome =
  | { kind: "delivered"; status: number }
  | {
      kind: "failed";
      status: number | null;
      error: string;
      answer: string | null;
      retryAfterMs: number | null;
    }
  | { kind: "secret_unreadable"; error: string }
  | { kind: "local_failure"; error: string }
  | { kind: "requeued" };

/** Posts one event to its endpoint once, freshly signed. Never throws because of what a receiver does. */
export async function sendWebhook(
  context: WebhookContext,
  endpoint: WebhookEndpoint,
  event: { id: string; body: string },
  { startedAt, signal }: { startedAt: number; signal: AbortSignal },
): Promise<Outcome> {
  let head: GuardedHead | undefined;
  try {
    const message = { ...event, timestampMs: startedAt };
    const answer = await postWebhook(
      {
        url: endpoint.url,
        body: event.body,
        headers: webhookHeaders(message, signingSecrets(context, endpoint, startedAt)),
        timeoutMs: context.outbound?.timeoutMs,
        // Per endpoint, not per account: a receiver must not fail because another's name servers are silent.
        party: endpoint.id,
        signal,
        onHead: (seen) => {
          head = seen;
        },
      },
      { ...context.outbound, allowedOrigins: context.config.webhookAllowedOrigins },
    );
    if (answer.status >= 200 && answer.status < 300) return { kind: "delivered", status: answer.status };
    return refused(answer, context.clock.now());
  } catch (error) {
    if (error instanceof SecretUnreadableError) return { kind: "secret_unreadable", error: error.message };
    if (!(error instanceof GuardedHttpError)) throw error;
    if (error.kind === "aborted") return { kind: "requeued" };
    if (error.kind === "ours") return { kind: "local_failure", error: String(error.cause) };
    const status = head?.status ?? null;
    return { kind: "failed", status, error: error.message, answer: null, retryAfterMs: null };
  }
}

/**
 * The only kind of request that carries an event, within the limits for webhooks. Throws GuardedHttpError.
 */
export function postWebhook(
  post: {
    url: string;
    body: string;
    headers: Record<string, string>;
    timeoutMs?: number | undefined;
    party?: string;
    signal: AbortSignal;
    onHead?: (head: GuardedHead) => void;
  },
  options: GuardedHttpOptions,
): Promise<GuardedResponse> {
  return guardedRequest(
    {
      ...post,
      method: "POST",
      headers: {
        ...post.headers,
        "Content-Type": "application/json",
        "Content-Length": String(Buffer.byteLength(post.body)),
        "User-Agent": `cardpress/${BUILD}`,
      },
      timeoutMs: post.timeoutMs ?? WEBHOOK_TIMEOUT_MS,
      maxResponseBytes: MAX_WEBHOOK_ANSWER_BYTES,
      maxRedirects: 0,
      onOversize: "truncate",
    },
    options,
  );
}

/** The active secrets, newest first. */
function signingSecrets({ secrets }: WebhookContext, endpoint: WebhookEndpoint, now: number): string[] {
  const { previousSecret, previousSecretExpiresAt } = endpoint;
  const overlaps = previousSecret !== null && (previousSecretExpiresAt ?? 0) > now;
  return [endpoint.secret, ...(overlaps ? [previousSecret] : [])].map((sealed) =>
    secrets.open(sealed, endpoint.id),
  );
}

function refused({ status, headers, body }: GuardedResponse, now: number): Outcome {
  const isRedirect = status >= 300 && status < 400;
  const error = isRedirect
    ? `It answered ${status}, a redirect, and redirects are not followed. Register the address it leads to.`
    : `It answered ${status}; only 200 to 299 means that the event was taken.`;
  const text = Buffer.from(body).toString("utf8").slice(0, WEBHOOK_ANSWER_KEPT_CHARS);
  const retryAfter = retryAfterMs(headers["retry-after"], now);
  return { kind: "failed", status, error, answer: text === "" ? null : text, retryAfterMs: retryAfter };
}
