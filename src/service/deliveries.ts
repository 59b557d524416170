import { type Loop, startLoop } from "../app/loop.ts";
import { createDeliverer } from "../app/webhooks/deliver-webhook.ts";
import type { WebhookContext } from "../app/webhooks/manage-webhooks.ts";
import { WEBHOOK_POLL_MS } from "../core/outbound-limits.ts";

/** At shutdown receivers get this long to answer; unanswered deliveries are sent again later. */
const DELIVERY_GRACE_MS = 5_000;
/** Attempts that end within this time are recorded, and followed by new claims, in one transaction. */
const DELIVERY_GATHER_MS = 10;

/** Sends webhooks for as long as the service runs. */
export function startDeliveries(context: WebhookContext): Loop {
  let isGathering = false;
  const deliverer = createDeliverer(context, () => {
    if (isGathering) return;
    isGathering = true;
    setTimeout(() => {
      isGathering = false;
      loop.wake();
    }, DELIVERY_GATHER_MS);
  });
  const loop = startLoop({
    name: "deliver",
    concurrency: 1,
    pollMs: WEBHOOK_POLL_MS,
    runOne: async () => void (await deliverer.dispatch()),
    log: context.log,
  });
  return {
    wake: loop.wake,
    stop: async () => {
      const deadline = setTimeout(deliverer.abort, DELIVERY_GRACE_MS);
      await loop.stop();
      await deliverer.idle();
      clearTimeout(deadline);
    },
  };
}
