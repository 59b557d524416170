import { nextAttemptAt } from "../../core/delivery-schedule.ts";
import { EXHAUSTED_RETRY_MS, WEBHOOK_GIVE_UP_MS } from "../../core/outbound-limits.ts";
import type { Random } from "../../core/ports.ts";
import { DAY_MS, isoTime } from "../../core/time.ts";
import type { Tx } from "../../store/store.ts";
import {
  type DeliveryAttempt,
  endClaim,
  endDelivered,
  failPending,
  insertAttempts,
  type NextDeliveryState,
  type WebhookDelivery,
} from "../../store/webhooks/deliveries.ts";
import {
  changeEndpoint,
  type EndpointChange,
  findEndpoints,
  lockEnabled,
  type WebhookEndpoint,
} from "../../store/webhooks/webhooks.ts";
import type { AppContext } from "../context.ts";
import type { Outcome } from "./send-webhook.ts";

/** An attempt that has ended and is not in the database yet. */
export interface FinishedAttempt {
  delivery: WebhookDelivery;
  /** The claim under which it was made. */
  token: string;
  outcome: Outcome;
  startedAt: number;
  finishedAt: number;
}

/** Pause before checking again whether secrets can be decrypted: somebody has to restore the right key. */
const UNREADABLE_RETRY_MS = 300_000;

/**
 * `lastSuccessAt` is for people; writing it at every delivery would make it the busiest cell of the database.
 */
const LAST_SUCCESS_GRAIN_MS = 10_000;

/**
 * Records finished attempts: what happens next to each delivery, and what they say about the endpoints. An
 * attempt whose lease was lost changes nothing, since another one replaces it.
 */
export async function recordAttempts(
  tx: Tx,
  context: Pick<AppContext, "log" | "random">,
  finished: FinishedAttempt[],
): Promise<void> {
  const endpointIds = [...new Set(finished.map(({ delivery }) => delivery.endpointId))];
  // Endpoints may have been disabled or removed while the attempts were in flight.
  const endpoints = new Map((await findEndpoints(tx, endpointIds)).map((row) => [row.id, row]));
  const numbers = await recordDelivered(tx, finished);
  for (const attempt of finished) {
    if (attempt.outcome.kind === "delivered") continue;
    const number = await recordUndelivered(tx, context.random, endpoints, attempt);
    if (number !== undefined) numbers.set(attempt, number);
  }
  await insertAttempts(
    tx,
    [...numbers].map(([attempt, number]) => attemptRow(attempt, number)),
  );
  const recorded = finished.filter((attempt) => numbers.has(attempt));
  const byEndpoint = Map.groupBy(recorded, ({ delivery }) => delivery.endpointId);
  // In one order everywhere: two processes that each held what the other wants would wait for each other.
  for (const [endpointId, attempts] of [...byEndpoint].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const endpoint = endpoints.get(endpointId);
    if (endpoint?.state !== "enabled" || !changeOf(endpoint, attempts)) continue;
    // Somebody may have changed it meanwhile. Most attempts change nothing, and need not wait to know.
    const current = await lockEnabled(tx, endpointId);
    if (current) await recordHealth(tx, context, current, attempts);
  }
}

/** What attempts say about their endpoint, one after the other; undefined when nothing changes. */
function changeOf(endpoint: WebhookEndpoint, attempts: FinishedAttempt[]): EndpointChange | undefined {
  let change: EndpointChange = {};
  for (const attempt of attempts) {
    const state = { ...endpoint, ...change };
    if (state.state === "enabled") change = { ...change, ...afterAttempt(state, attempt) };
  }
  return Object.keys(change).length > 0 ? change : undefined;
}

/**
 * The usual outcome, for all deliveries of a lease at once. Returns each attempt's number keyed by attempt,
 * since a late attempt of the same delivery, whose lease was lost, may be among them.
 */
async function recordDelivered(tx: Tx, finished: FinishedAttempt[]): Promise<Map<FinishedAttempt, number>> {
  const numbers = new Map<FinishedAttempt, number>();
  const delivered = finished.filter(({ outcome }) => outcome.kind === "delivered");
  for (const [token, attempts] of Map.groupBy(delivered, (attempt) => attempt.token)) {
    const deliveryIds = attempts.map(({ delivery }) => delivery.id);
    const ended = await endDelivered(tx, { deliveryIds, token }, attempts.at(-1)?.finishedAt ?? 0);
    const numberOf = new Map(ended.map(({ id, attempts: number }) => [id, number]));
    for (const attempt of attempts) {
      const number = numberOf.get(attempt.delivery.id);
      if (number !== undefined) numbers.set(attempt, number);
    }
  }
  return numbers;
}

/** Ends one claim of a failed delivery; returns the attempt's number if it counts. */
async function recordUndelivered(
  tx: Tx,
  random: Random,
  endpoints: Map<string, WebhookEndpoint>,
  { delivery, token, outcome, finishedAt: now }: FinishedAttempt,
): Promise<number | undefined> {
  const isEnabled = endpoints.get(delivery.endpointId)?.state === "enabled";
  // Nothing more is sent to an endpoint that is not enabled.
  const end: NextDeliveryState = isEnabled
    ? nextStateOf(delivery, outcome, now, random)
    : { state: "failed" };
  const attempted = outcome.kind === "failed";
  const ended = await endClaim(tx, { deliveryId: delivery.id, token }, end, { now, attempted });
  return attempted ? ended?.attempts : undefined;
}

function attemptRow(
  { delivery, outcome, startedAt, finishedAt }: FinishedAttempt,
  number: number,
): DeliveryAttempt {
  const failed = outcome.kind === "failed" ? outcome : null;
  return {
    deliveryId: delivery.id,
    number,
    startedAt,
    durationMs: finishedAt - startedAt,
    status: outcome.kind === "delivered" ? outcome.status : (failed?.status ?? null),
    error: failed?.error ?? null,
    answer: failed?.answer ?? null,
  };
}

async function recordHealth(
  tx: Tx,
  { log }: Pick<AppContext, "log">,
  endpoint: WebhookEndpoint,
  attempts: FinishedAttempt[],
): Promise<void> {
  const change = changeOf(endpoint, attempts);
  if (!change) return;
  const now = attempts.at(-1)?.finishedAt ?? 0;
  await changeEndpoint(tx, endpoint.id, { ...change, updatedAt: now });
  if (change.state !== "disabled") return;
  await failPending(tx, endpoint.id, now);
  log.warn("webhook_endpoint_disabled", { endpointId: endpoint.id, reason: change.disabledReason });
}

function nextStateOf(
  delivery: WebhookDelivery,
  outcome: Outcome,
  now: number,
  random: Random,
): NextDeliveryState {
  switch (outcome.kind) {
    case "delivered":
      throw new Error(`delivery ${delivery.id} arrived`);
    case "secret_unreadable":
      return { state: "pending", nextAttemptAt: now + UNREADABLE_RETRY_MS };
    case "local_failure":
      return { state: "pending", nextAttemptAt: now + EXHAUSTED_RETRY_MS };
    case "requeued":
      return { state: "pending", nextAttemptAt: now };
    case "failed": {
      const { retryAfterMs } = outcome;
      const next = nextAttemptAt({ made: delivery.step + 1, now, random: fraction(random), retryAfterMs });
      return next === null ? { state: "failed" } : { state: "pending", nextAttemptAt: next };
    }
  }
}

/** From 0 up to 1. */
function fraction(random: Random): number {
  return Buffer.from(random.bytes(4)).readUInt32BE() / 2 ** 32;
}

/** What an attempt says about its endpoint: healthy, pause, or gone. */
function afterAttempt(
  endpoint: WebhookEndpoint,
  { outcome, startedAt, finishedAt: now }: FinishedAttempt,
): EndpointChange {
  if (outcome.kind === "delivered") {
    const wasWell = endpoint.failingSince === null && endpoint.pausedUntil === null;
    if (wasWell && now - (endpoint.lastSuccessAt ?? 0) < LAST_SUCCESS_GRAIN_MS) return {};
    return { failingSince: null, pausedUntil: null, lastSuccessAt: now };
  }
  if (outcome.kind !== "failed") return {};
  const failingSince = endpoint.failingSince ?? startedAt;
  const reason = reasonToDisable(outcome, failingSince, now);
  if (reason !== undefined)
    return { state: "disabled", disabledReason: reason, disabledAt: now, failingSince };
  // "Too many requests" and "unavailable" concern the whole receiver, not one event.
  const asksForPause = (outcome.status === 429 || outcome.status === 503) && outcome.retryAfterMs !== null;
  return {
    ...(failingSince === endpoint.failingSince ? {} : { failingSince }),
    ...(asksForPause ? { pausedUntil: now + (outcome.retryAfterMs ?? 0) } : {}),
  };
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
  return `Every attempt since ${isoTime(failingSince)} failed, for ${WEBHOOK_GIVE_UP_MS / DAY_MS} days or more; the last one so: ${failure.error} Repair the receiver, enable the endpoint, and recover what it missed.`;
}
