import { leaseToken } from "../../core/lease.ts";
import { MAX_DELIVERIES_PER_ENDPOINT, WEBHOOK_LEASE_MS } from "../../core/outbound-limits.ts";
import { storageFault } from "../../core/storage-unavailable.ts";
import {
  claimDeliveries,
  countSending,
  dueEndpoints,
  type WebhookDelivery,
} from "../../store/webhooks/deliveries.ts";
import { claimEndpoint, findEvents, type WebhookEndpoint } from "../../store/webhooks/webhooks.ts";
import { type DeliveryLanes, deliveryLanes, type Slot } from "./delivery-lanes.ts";
import type { WebhookContext } from "./manage-webhooks.ts";
import { type FinishedAttempt, recordAttempts } from "./record-attempts.ts";
import { type Outcome, sendWebhook } from "./send-webhook.ts";

/** Sends due deliveries. One per process, because it tracks what is in flight. */
export interface Deliverer {
  /**
   * Records finished attempts, claims due deliveries that have a slot, and starts sending them. Returns how
   * many were started.
   */
  dispatch(): Promise<number>;
  /** Resolves when nothing is in flight and everything is recorded. */
  idle(): Promise<void>;
  /** Aborts what is in flight: it becomes due again immediately, and the attempt does not count. */
  abort(): void;
}

interface Claimed {
  delivery: WebhookDelivery;
  endpoint: WebhookEndpoint;
  body: string;
  slot: Slot;
}

/** `onDone` is called after every attempt: there is something to record, and perhaps a free slot. */
export function createDeliverer(context: WebhookContext, onDone: () => void = () => {}): Deliverer {
  const lanes = deliveryLanes(context.clock);
  const inFlight = new Set<Promise<void>>();
  const giveUp = new AbortController();
  let finished: FinishedAttempt[] = [];

  const begin = (claimed: Claimed, token: string) => {
    const attempt = deliver(context, claimed, { token, signal: giveUp.signal })
      .then((ended) => void finished.push(ended))
      .finally(() => {
        inFlight.delete(attempt);
        onDone();
      });
    inFlight.add(attempt);
  };

  const dispatch = async (): Promise<number> => {
    const recording = finished;
    finished = [];
    const token = leaseToken(context);
    let claimed: Claimed[];
    try {
      claimed = await recordAndClaim(context, recording, giveUp.signal.aborted ? null : { lanes, token });
    } catch (error) {
      // A full disk gets emptied eventually: finished attempts wait to be recorded, so that nothing is sent
      // twice.
      if (storageFault(error)) finished = [...recording, ...finished];
      throw error;
    }
    for (const claim of claimed) begin(claim, token);
    return claimed.length;
  };

  return {
    dispatch,
    idle: async () => {
      while (inFlight.size > 0) await Promise.all(inFlight);
      if (finished.length > 0) await recordAndClaim(context, finished.splice(0), null);
    },
    abort: () => giveUp.abort(),
  };
}

/**
 * A single transaction records every attempt that has ended and claims every one that can start: a commit
 * waits for the disk, and with hundreds of attempts a second a commit each would be the bottleneck.
 */
async function recordAndClaim(
  context: WebhookContext,
  finished: FinishedAttempt[],
  claim: { lanes: DeliveryLanes; token: string } | null,
): Promise<Claimed[]> {
  const { store, clock } = context;
  if (finished.length === 0) {
    // An idle service takes no write lock.
    const due = claim ? await dueEndpoints(store.read, clock.now()) : [];
    if (!due.some((endpoint) => claim && claim.lanes.freeSlots(asLane(endpoint)) > 0)) return [];
  }
  const claimed: Omit<Claimed, "body">[] = [];
  try {
    return await store.write(
      "record and claim deliveries",
      async (tx) => {
        // When rerun after a rollback, it takes its slots again.
        for (const { slot } of claimed.splice(0)) slot.giveBack();
        if (finished.length > 0) await recordAttempts(tx, context, finished);
        if (!claim) return [];
        const now = clock.now();
        for (const endpoint of claim.lanes.inTurn(await dueEndpoints(tx, now))) {
          const free = claim.lanes.freeSlots(asLane(endpoint));
          if (free === 0) continue;
          // Other processes send too. The one that claims for an endpoint has it alone, and sees the claims
          // of those before.
          if (!(await claimEndpoint(tx, endpoint.id))) continue;
          const left = MAX_DELIVERIES_PER_ENDPOINT - (await countSending(tx, endpoint.id));
          const limit = Math.min(free, left);
          if (limit <= 0) continue;
          const lease = { token: claim.token, now, leaseExpiresAt: now + WEBHOOK_LEASE_MS };
          for (const delivery of await claimDeliveries(tx, { ...lease, endpointId: endpoint.id, limit }))
            claimed.push({ delivery, endpoint, slot: claim.lanes.take(asLane(endpoint)) });
        }
        const ids = new Set(claimed.map(({ delivery }) => delivery.eventId));
        const bodies = new Map((await findEvents(tx, [...ids])).map((event) => [event.id, event.body]));
        return claimed.map((claim) => ({ ...claim, body: bodies.get(claim.delivery.eventId) ?? "" }));
      },
      { concurrent: true },
    );
  } catch (error) {
    // Rolled back: nothing was claimed, and the fault is ours, not the receivers'.
    for (const { slot } of claimed) slot.giveBack();
    throw error;
  }
}

const asLane = (endpoint: WebhookEndpoint) => ({ id: endpoint.id, failing: endpoint.failingSince !== null });

/** Makes one attempt. */
async function deliver(
  context: WebhookContext,
  { delivery, endpoint, body, slot }: Claimed,
  { token, signal }: { token: string; signal: AbortSignal },
): Promise<FinishedAttempt> {
  const startedAt = context.clock.now();
  const event = { id: delivery.eventId, body };
  const outcome = await sendWebhook(context, endpoint, event, { startedAt, signal }).catch(
    (error): Outcome => {
      context.log.error("webhook_attempt_broken", { deliveryId: delivery.id, error: String(error) });
      return {
        kind: "failed",
        status: null,
        error: "The attempt broke off on our side.",
        answer: null,
        retryAfterMs: null,
      };
    },
  );
  if (outcome.kind === "local_failure" || outcome.kind === "requeued") slot.giveBack();
  else slot.finish(outcome.kind === "delivered");
  const fields = { deliveryId: delivery.id, endpointId: endpoint.id };
  if (outcome.kind === "secret_unreadable")
    context.log.error("webhook_secret_unreadable", { ...fields, error: outcome.error });
  if (outcome.kind === "local_failure")
    context.log.warn("webhook_attempt_not_sent", { ...fields, error: outcome.error });
  if (outcome.kind === "failed")
    context.log.info("webhook_attempt_failed", { ...fields, status: outcome.status, error: outcome.error });
  const finishedAt = context.clock.now();
  context.meter.time(
    "cardpress_webhook_attempt_seconds",
    { end: outcome.kind },
    (finishedAt - startedAt) / 1000,
  );
  return { delivery, token, outcome, startedAt, finishedAt };
}
