import { setTimeout as sleep } from "node:timers/promises";
import { TEST_EVENT } from "../../core/webhook-event.ts";
import { formatWebhookSecret, webhookHeaders } from "../../core/webhook-signature.ts";
import { GuardedHttpError } from "../../sources/guarded-http.ts";
import { eventsSince, type WebhookEvent, type WebhookScope } from "../../store/webhooks/webhooks.ts";
import type { AppContext } from "../context.ts";
import { postWebhook } from "./send-webhook.ts";

const POLL_MS = 500;
/**
 * Events of the same millisecond arrive in any order, and a clock can be set back a little: this overlap is
 * read again.
 */
const LOOK_BACK_MS = 5_000;
const BATCH = 100;

/** The outcome for one event: `status` is null when the URL gave no response, or none is set. */
export interface Forwarded {
  event: WebhookEvent;
  status: number | null;
  error: string | null;
  durationMs: number;
}

export interface ForwardOptions extends WebhookScope {
  /** Null only prints the events. Any http URL will do: it is the developer's own. */
  forwardTo: string | null;
  /** Null for all. */
  types: string[] | null;
  /** Events from this time on, epoch milliseconds. */
  since: number;
  onForwarded: (forwarded: Forwarded) => void;
  signal: AbortSignal;
}

/** The secret that signs forwarded events: the same at every run, so that it is configured once. */
export function forwardingSecret({ secrets }: Pick<AppContext, "secrets">, scope: WebhookScope): string {
  return formatWebhookSecret(secrets.derive(`webhook listen ${scope.accountId} ${scope.environment}`));
}

/**
 * Forwards an account's events from `since` on, one by one, until `signal` aborts. It only reads what the
 * server writes to the data folder, so endpoints and their deliveries are unaffected; nothing is retried.
 */
export async function forwardEvents(context: AppContext, options: ForwardOptions): Promise<void> {
  const { signal } = options;
  const seen = new Map<string, number>();
  while (!signal.aborted) {
    const since = Math.max(options.since, Math.max(0, ...seen.values()) - LOOK_BACK_MS);
    for (const [id, createdAt] of seen) if (createdAt < since) seen.delete(id);
    for (const event of await freshEvents(context, options, since, seen)) {
      seen.set(event.id, event.createdAt);
      const forwarded = await forward(context, options, event);
      if (signal.aborted) return;
      options.onForwarded(forwarded);
    }
    await sleep(POLL_MS, undefined, { signal }).catch(() => {});
  }
}

async function freshEvents(
  { store }: AppContext,
  { accountId, environment, types }: ForwardOptions,
  since: number,
  seen: Map<string, number>,
): Promise<WebhookEvent[]> {
  const fresh: WebhookEvent[] = [];
  for (let after: WebhookEvent | undefined; ; ) {
    const query = { accountId, environment, since, after, types, exceptTypes: [TEST_EVENT], limit: BATCH };
    const events = await eventsSince(store.read, query);
    fresh.push(...events.filter(({ id }) => !seen.has(id)));
    if (events.length < BATCH) return fresh;
    after = events.at(-1);
  }
}

async function forward(
  context: AppContext,
  { forwardTo, signal, ...scope }: ForwardOptions,
  event: WebhookEvent,
): Promise<Forwarded> {
  if (forwardTo === null) return { event, status: null, error: null, durationMs: 0 };
  const startedAt = context.clock.now();
  const message = { id: event.id, timestampMs: startedAt, body: event.body };
  const took = () => context.clock.now() - startedAt;
  try {
    const headers = webhookHeaders(message, [forwardingSecret(context, scope)]);
    const allowedOrigins = new Set([new URL(forwardTo).origin]);
    const { status } = await postWebhook(
      { url: forwardTo, body: event.body, headers, signal },
      { allowedOrigins },
    );
    return { event, status, error: null, durationMs: took() };
  } catch (error) {
    if (!(error instanceof GuardedHttpError)) throw error;
    return { event, status: null, error: error.message, durationMs: took() };
  }
}
