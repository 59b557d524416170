import { afterEach, beforeEach, expect, test } from "bun:test";
import { listDeliveries } from "../../../src/app/webhooks/manage-deliveries.ts";
import { type FinishedAttempt, recordAttempts } from "../../../src/app/webhooks/record-attempts.ts";
import type { Outcome } from "../../../src/app/webhooks/send-webhook.ts";
import { claimDeliveries, findDelivery, releaseClaims } from "../../../src/store/webhooks/deliveries.ts";
import { type WebhookWorkspace, webhookWorkspace } from "./receivers.ts";

const ORIGIN = "http://127.0.0.1:9";
const LEASE_MS = 60_000;

type Claim = Pick<FinishedAttempt, "delivery" | "token">;

let workspace: WebhookWorkspace;
beforeEach(async () => {
  workspace = await webhookWorkspace();
  workspace.allow(ORIGIN);
});
afterEach(() => workspace.close());

/** A delivery whose claim was lost, claimed again in a second lease together with another delivery. */
async function claimedTwice() {
  const { id: endpointId } = await workspace.endpoint(`${ORIGIN}/hook`);
  const claim = async (token: string): Promise<Claim[]> => {
    const now = workspace.clock.now();
    const lease = { endpointId, limit: 5, token, now, leaseExpiresAt: now + LEASE_MS };
    const claimed = await workspace.store.write("test", (tx) => claimDeliveries(tx, lease));
    return claimed.map((delivery) => ({ delivery, token }));
  };
  await workspace.happen();
  const [lost] = (await claim("first")) as [Claim];
  workspace.clock.advance(LEASE_MS);
  await workspace.store.write("test", (tx) => releaseClaims(tx, { now: workspace.clock.now() }));
  await workspace.happen();
  const second = await claim("second");
  const isOfLost = ({ delivery }: Claim) => delivery.id === lost.delivery.id;
  return {
    lost,
    current: second.find(isOfLost) as Claim,
    other: second.find((claim) => !isOfLost(claim)) as Claim,
  };
}

const arrived: Outcome = { kind: "delivered", status: 200 };
const failed: Outcome = { kind: "failed", status: 500, error: "x", answer: null, retryAfterMs: null };

function record(...ended: [Claim, Outcome][]): Promise<void> {
  const attempts = ended.map(([claim, outcome]) => ({ ...claim, outcome, startedAt: 1, finishedAt: 2 }));
  return workspace.store.write("test", (tx) => recordAttempts(tx, workspace, attempts));
}

test.each([
  ["failed, beside the one that arrived in its place", failed, arrived],
  ["arrived, beside the one that failed in its place", arrived, failed],
  ["arrived, beside the one that arrived in its place", arrived, arrived],
])("an attempt whose lease was lost changes nothing: %s", async (_, late, timely) => {
  const { lost, current } = await claimedTwice();
  await record([lost, late], [current, timely]);
  const { items } = await listDeliveries(workspace, { accountId: workspace.accountId });
  const delivery = items.find(({ id }) => id === lost.delivery.id);
  expect(delivery).toMatchObject({
    state: timely === arrived ? "delivered" : "pending",
    attempts: 1,
    history: [{ number: 1, status: timely === arrived ? 200 : 500 }],
  });
});

test("an attempt whose lease was lost does not end the claim that took its place", async () => {
  const { lost, other } = await claimedTwice();
  await record([lost, arrived], [other, arrived]);
  expect(await findDelivery(workspace.store.read, lost.delivery.id)).toMatchObject({
    state: "sending",
    attempts: 0,
  });
  expect(await findDelivery(workspace.store.read, other.delivery.id)).toMatchObject({ state: "delivered" });
});
