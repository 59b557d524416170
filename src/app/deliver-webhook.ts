import { nextAttemptAt, retryAfterMs } from "../core/delivery-schedule.ts";
import {
  MAX_WEBHOOK_ANSWER_BYTES,
  WEBHOOK_ANSWER_KEPT_CHARS,
  WEBHOOK_GIVE_UP_MS,
  WEBHOOK_LEASE_MS,
  WEBHOOK_TIMEOUT_MS,
} from "../core/limits.ts";
import { SecretUnreadableError } from "../core/secret-box.ts";
import { isoTime } from "../core/time.ts";
import { webhookHeaders } from "../core/webhook-signature.ts";
import {
  type GuardedHead,
  GuardedHttpError,
  type GuardedResponse,
  guardedRequest,
} from "../sources/guarded-http.ts";
import {
  claimDeliveries,
  type DeliveryEnd,
  dueEndpoints,
  endClaim,
  failPending,
  insertAttempt,
  type WebhookDelivery,
} from "../store/deliveries.ts";
import type { Tx } from "../store/store.ts";
import { changeEndpoint, findEndpoint, findEvents, type WebhookEndpoint } from "../store/webhooks.ts";
import { VERSION } from "../version.ts";
import { type DeliveryLanes, deliveryLanes, type Place } from "./delivery-lanes.ts";
import type { WebhookContext } from "./manage-webhooks.ts";

/** Sends what is due. Made once for a process, because it knows what is on its way. */
export interface Deliverer {
  /** Claims what is due and has a place, and begins to send it. Returns how many attempts began. */
  dispatch(): Promise<number>;
  /** Resolves when nothing is on its way. */
  idle(): Promise<void>;
  /** Gives up what is on its way: it is due again at once and did not count. */
  abort(): void;
}

/** The pause before looking again whether secrets can be read: somebody has to put the right key back. */
const UNREADABLE_RETRY_MS = 300_000;

interface Claimed {
  delivery: WebhookDelivery;
  endpoint: WebhookEndpoint;
  token: string;
  body: string;
}

/** How one attempt ended. `unsignable` and `given_back` never reached the receiver, as far as we know. */
type Outcome =
  | { kind: "delivered"; status: number }
  | {
      kind: "failed";
      status: number | null;
      error: string;
      answer: string | null;
      retryAfterMs: number | null;
    }
  | { kind: "unsignable"; error: string }
  | { kind: "given_back" };

/** `onDone` is called after every attempt: there may be a place for another. */
export function createDeliverer(context: WebhookContext, onDone: () => void = () => {}): Deliverer {
  const lanes = deliveryLanes(context.clock);
  const onTheWay = new Set<Promise<void>>();
  const giveUp = new AbortController();

  const begin = (claimed: Claimed, place: Place) => {
    const attempt = deliver(context, claimed, giveUp.signal)
      .then((well) => place.leave(well))
      .catch((error) => {
        // The database is in trouble. The lease will expire, and the delivery is made again.
        place.leave(false);
        context.log.error("delivery_not_recorded", { deliveryId: claimed.delivery.id, error: String(error) });
      })
      .finally(() => {
        onTheWay.delete(attempt);
        onDone();
      });
    onTheWay.add(attempt);
  };

  return {
    dispatch: async () => {
      if (giveUp.signal.aborted) return 0;
      const claims = await claimDue(context, lanes);
      for (const { claimed, place } of claims) begin(claimed, place);
      return claims.length;
    },
    idle: async () => {
      while (onTheWay.size > 0) await Promise.all(onTheWay);
    },
    abort: () => giveUp.abort(),
  };
}

/** Claims in one transaction for every endpoint that has something due and a place free. */
async function claimDue(
  { store, clock, random }: WebhookContext,
  lanes: DeliveryLanes,
): Promise<{ claimed: Claimed; place: Place }[]> {
  const endpoints = lanes.inTurn(await dueEndpoints(store.read, clock.now()));
  if (!endpoints.some((endpoint) => lanes.room(asLane(endpoint)) > 0)) return [];
  const token = random.id("lease");
  const taken: { delivery: WebhookDelivery; endpoint: WebhookEndpoint; place: Place }[] = [];
  try {
    await store.write(async (tx) => {
      const now = clock.now();
      const leaseExpiresAt = now + WEBHOOK_LEASE_MS;
      for (const endpoint of endpoints) {
        const limit = lanes.room(asLane(endpoint));
        if (limit === 0) continue;
        const claim = { endpointId: endpoint.id, limit, token, now, leaseExpiresAt };
        for (const delivery of await claimDeliveries(tx, claim))
          taken.push({ delivery, endpoint, place: lanes.take(asLane(endpoint)) });
      }
    });
    const ids = [...new Set(taken.map(({ delivery }) => delivery.eventId))];
    const bodies = new Map((await findEvents(store.read, ids)).map((event) => [event.id, event.body]));
    return taken.map(({ delivery, endpoint, place }) => {
      const body = bodies.get(delivery.eventId);
      if (body === undefined) throw new Error(`delivery ${delivery.id} has no event`);
      return { claimed: { delivery, endpoint, token, body }, place };
    });
  } catch (error) {
    for (const { place } of taken) place.leave(false);
    throw error;
  }
}

const asLane = (endpoint: WebhookEndpoint) => ({ id: endpoint.id, failing: endpoint.failingSince !== null });

/** Makes one attempt and records it. True when the receiver took it. */
async function deliver(context: WebhookContext, claimed: Claimed, signal: AbortSignal): Promise<boolean> {
  const startedAt = context.clock.now();
  const outcome = await send(context, claimed, startedAt, signal);
  await record(context, claimed, outcome, startedAt);
  const { delivery, endpoint } = claimed;
  const fields = { deliveryId: delivery.id, endpointId: endpoint.id };
  if (outcome.kind === "unsignable")
    context.log.error("webhook_secret_unreadable", { ...fields, error: outcome.error });
  if (outcome.kind === "failed")
    context.log.info("webhook_attempt_failed", { ...fields, status: outcome.status, error: outcome.error });
  return outcome.kind === "delivered";
}

async function send(
  context: WebhookContext,
  { delivery, endpoint, body }: Claimed,
  startedAt: number,
  signal: AbortSignal,
): Promise<Outcome> {
  let head: GuardedHead | undefined;
  try {
    const message = { id: delivery.eventId, timestampMs: startedAt, body };
    const answer = await guardedRequest(
      {
        method: "POST",
        url: endpoint.url,
        headers: {
          ...webhookHeaders(message, signingSecrets(context, endpoint, startedAt)),
          "Content-Type": "application/json",
          "Content-Length": String(Buffer.byteLength(body)),
          "User-Agent": `cardpress/${VERSION}`,
        },
        body,
        timeoutMs: context.outbound?.timeoutMs ?? WEBHOOK_TIMEOUT_MS,
        maxResponseBytes: MAX_WEBHOOK_ANSWER_BYTES,
        maxRedirects: 0,
        onOversize: "truncate",
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
    if (error instanceof SecretUnreadableError) return { kind: "unsignable", error: error.message };
    if (!(error instanceof GuardedHttpError)) throw error;
    if (error.kind === "aborted") return { kind: "given_back" };
    const failure = { kind: "failed", answer: null, retryAfterMs: null, error: error.message } as const;
    return { ...failure, status: head?.status ?? null };
  }
}

/** The secrets in force, the newest first. */
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

async function record(
  context: WebhookContext,
  { delivery, endpoint, token }: Claimed,
  outcome: Outcome,
  startedAt: number,
): Promise<void> {
  const { store, clock, random } = context;
  const lease = { deliveryId: delivery.id, token };
  await store.write(async (tx) => {
    const now = clock.now();
    // It may have been disabled or removed while the attempt was on its way.
    const current = await findEndpoint(tx, endpoint.id);
    const fraction = new DataView(random.bytes(4).slice().buffer).getUint32(0) / 2 ** 32;
    const end = current?.state === "enabled" ? endOf(delivery, outcome, now, fraction) : finalEnd(outcome);
    const attempted = outcome.kind === "delivered" || outcome.kind === "failed";
    const ended = await endClaim(tx, lease, end, { now, attempted });
    if (!ended || !attempted) return;
    await insertAttempt(tx, {
      deliveryId: delivery.id,
      number: ended.attempts,
      startedAt,
      durationMs: now - startedAt,
      status: outcome.status,
      error: outcome.kind === "failed" ? outcome.error : null,
      answer: outcome.kind === "failed" ? outcome.answer : null,
    });
    if (current?.state === "enabled") await recordHealth(tx, context, current, { outcome, startedAt, now });
  });
}

function endOf(delivery: WebhookDelivery, outcome: Outcome, now: number, fraction: number): DeliveryEnd {
  switch (outcome.kind) {
    case "delivered":
      return { state: "delivered" };
    case "unsignable":
      return { state: "pending", nextAttemptAt: now + UNREADABLE_RETRY_MS };
    case "given_back":
      return { state: "pending", nextAttemptAt: now };
    case "failed": {
      const { retryAfterMs } = outcome;
      const next = nextAttemptAt({ made: delivery.step + 1, now, random: fraction, retryAfterMs });
      return next === null ? { state: "failed" } : { state: "pending", nextAttemptAt: next };
    }
  }
}

/** Nothing more is sent to an endpoint that is not enabled. */
function finalEnd(outcome: Outcome): DeliveryEnd {
  return { state: outcome.kind === "delivered" ? "delivered" : "failed" };
}

/** What an attempt says about its endpoint: all is well, pause, or nobody is there any more. */
async function recordHealth(
  tx: Tx,
  { log }: WebhookContext,
  endpoint: WebhookEndpoint,
  attempt: { outcome: Outcome & { kind: "delivered" | "failed" }; startedAt: number; now: number },
): Promise<void> {
  const { outcome, startedAt, now } = attempt;
  if (outcome.kind === "delivered") {
    const well = { failingSince: null, pausedUntil: null, lastSuccessAt: now, updatedAt: now };
    await changeEndpoint(tx, endpoint.id, well);
    return;
  }
  const failingSince = endpoint.failingSince ?? startedAt;
  const reason = reasonToDisable(outcome, failingSince, now);
  if (reason !== undefined) {
    const disabled = { state: "disabled", disabledReason: reason, disabledAt: now } as const;
    await changeEndpoint(tx, endpoint.id, { ...disabled, failingSince, updatedAt: now });
    await failPending(tx, endpoint.id, now);
    log.warn("webhook_endpoint_disabled", { endpointId: endpoint.id, reason });
    return;
  }
  // "Too many requests" and "unavailable" speak for the whole receiver, not for one event.
  const asksForPause = (outcome.status === 429 || outcome.status === 503) && outcome.retryAfterMs !== null;
  const pausedUntil = asksForPause ? now + (outcome.retryAfterMs ?? 0) : endpoint.pausedUntil;
  if (failingSince !== endpoint.failingSince || pausedUntil !== endpoint.pausedUntil)
    await changeEndpoint(tx, endpoint.id, { failingSince, pausedUntil, updatedAt: now });
}

function reasonToDisable(
  failure: Outcome & { kind: "failed" },
  failingSince: number,
  now: number,
): string | undefined {
  if (failure.status === 410) {
    return `It answered 410 Gone on ${isoTime(now)}: the receiver wants no more events. Enable it when the address works again.`;
  }
  if (now - failingSince < WEBHOOK_GIVE_UP_MS) return undefined;
  return `Every attempt since ${isoTime(failingSince)} failed, for 5 days or more; the last one so: ${failure.error} Repair the receiver, enable the endpoint, and recover what it missed.`;
}
