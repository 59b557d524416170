import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { reserveCredit, topUpCredits } from "../../../src/app/credits/credits.ts";
import { changeBudget } from "../../../src/app/credits/usage-alerts.ts";
import { finishImage, type RenderEnd } from "../../../src/app/images/finish-image.ts";
import { freshImage } from "../../../src/app/images/fresh-image.ts";
import { imageView } from "../../../src/app/images/image-view.ts";
import { claimImage } from "../../../src/app/images/render-image.ts";
import { changePlan } from "../../../src/app/people/manage-account.ts";
import { listDeliveries, sendTest } from "../../../src/app/webhooks/manage-deliveries.ts";
import { createEndpoint } from "../../../src/app/webhooks/manage-webhooks.ts";
import type { CreateImageRequest } from "../../../src/core/image-request.ts";
import { compileValidator } from "../../../src/core/validate.ts";
import {
  CreditsLowEvent,
  ImageCompletedEvent,
  ImageFailedEvent,
  UsageAlertEvent,
  WebhookTestEvent,
} from "../../../src/http/openapi/webhook-schemas.ts";
import { findImage } from "../../../src/store/images/image-reads.ts";
import { type Image, insertImage } from "../../../src/store/images/images.ts";
import { findAccount } from "../../../src/store/people/accounts.ts";
import { failPending } from "../../../src/store/webhooks/deliveries.ts";
import "../../date-time.ts";
import { imageRequest, type TestWorkspace, testAccount, testWorkspace } from "../../harness.ts";

let workspace: TestWorkspace;
beforeEach(async () => {
  workspace = await testWorkspace();
});
afterEach(() => workspace.close());

const OUTPUT = {
  name: "img-secretpart.png",
  width: 1024,
  height: 1280,
  contentType: "image/png",
  bytes: 9,
  composition: "cutout" as const,
};

async function eventsOf(accountId: string) {
  const { db, t } = workspace.store.read;
  const rows = (await db.select().from(t.webhookEvents).orderBy(t.webhookEvents.createdAt)).filter(
    (event) => event.accountId === accountId,
  );
  return rows.map((row) => ({ ...row, body: JSON.parse(row.body) }));
}

async function queue(accountId: string, environment: "live" | "test"): Promise<Image> {
  const now = workspace.clock.now();
  const image = freshImage(workspace.random, {
    scope: { accountId, environment },
    keyId: null,
    request: imageRequest() as unknown as CreateImageRequest,
    template: { templateName: null, templateVersion: null, templateDigest: null },
    sources: { sourceSha256: null, badgeSha256: null },
    lane: "single",
    turn: 0,
    now,
  });
  await workspace.store.write("test", async (tx) => {
    await insertImage(tx, image);
    await workspace.jobs.enqueue(tx, [image]);
    const account = await findAccount(tx, accountId);
    if (environment === "live" && account)
      await reserveCredit(tx, account, image.id, { now, random: workspace.random });
  });
  return image;
}

async function end(environment: "live" | "test", how: RenderEnd) {
  const claimed = await claimImage(workspace, environment);
  if (!claimed) throw new Error("nothing waits");
  workspace.clock.advance(1_500);
  return finishImage(
    workspace,
    { imageId: claimed.id, token: claimed.leaseToken, renders: claimed.renders },
    how,
  );
}

describe("a finished image", () => {
  test.each(["live", "test"] as const)(
    "of the %s environment has what the status view says",
    async (environment) => {
      const { account } = await testAccount(workspace);
      const { id } = await queue(account.id, environment);
      await end(environment, { kind: "completed", output: OUTPUT });
      const [event, ...others] = await eventsOf(account.id);
      expect(others).toEqual([]);
      const image = (await findImage(workspace.store.read, {
        accountId: account.id,
        environment,
        id,
      })) as Image;
      const view = imageView({ ...image, batchId: null }, { config: workspace.config, progress: null });
      expect(event?.body).toEqual({
        type: "image.completed",
        timestamp: "2026-11-15T12:00:01.500Z",
        environment,
        data: view,
      });
      expect(view).toMatchObject({
        status: "completed",
        result: { image_url: `${workspace.config.cdnBaseUrl}/img-secretpart.png`, composition: "cutout" },
        usage: { credits_used: 1 },
      });
      expect(event?.id).toMatch(/^evt_/);
    },
  );

  test("that failed has an event; a render that is tried again has none", async () => {
    const { account } = await testAccount(workspace);
    await queue(account.id, "live");
    await end("live", { kind: "fault" });
    expect(await eventsOf(account.id)).toEqual([]);
    workspace.clock.advance(10_000);
    await end("live", { kind: "refused", message: "No player was found in the photo.", reason: "no_player" });
    const [event] = await eventsOf(account.id);
    expect(event?.body).toMatchObject({
      type: "image.failed",
      environment: "live",
      data: {
        status: "failed",
        failure: { code: "IMAGE_PROCESSING_FAILED", message: "No player was found in the photo." },
      },
    });
  });

  test("has its deliveries in the same transaction: both are there, or neither image nor event", async () => {
    const { account } = await testAccount(workspace);
    const config = { ...workspace.config, webhookAllowedOrigins: new Set(["http://127.0.0.1:9"]) };
    const url = "http://127.0.0.1:9/";
    await createEndpoint({ ...workspace, config }, { accountId: account.id, environment: "test", url });
    await createEndpoint({ ...workspace, config }, { accountId: account.id, environment: "live", url });
    const image = await queue(account.id, "test");
    // A fault after the last write of the transaction: nothing of it may stay.
    const failing = {
      ...workspace,
      store: {
        ...workspace.store,
        write: <T>(name: string, fn: Parameters<typeof workspace.store.write<T>>[1]) =>
          workspace.store.write(name, async (tx) => {
            await fn(tx);
            await failPending(tx, "none", 0);
            throw new Error("power cut");
          }),
      },
    };
    const claimed = await claimImage(workspace, "test");
    const lease = { imageId: image.id, token: claimed?.leaseToken ?? "", renders: 1 };
    await expect(finishImage(failing, lease, { kind: "completed", output: OUTPUT })).rejects.toThrow(
      "power cut",
    );
    expect(await eventsOf(account.id)).toEqual([]);
    const scope = { accountId: account.id, environment: "test", id: image.id } as const;
    expect((await findImage(workspace.store.read, scope))?.state).toBe("rendering");

    await finishImage(workspace, lease, { kind: "completed", output: OUTPUT });
    expect(await eventsOf(account.id)).toHaveLength(1);
    const { items } = await listDeliveries(workspace, { accountId: account.id });
    expect(items).toMatchObject([{ environment: "test", state: "pending", eventType: "image.completed" }]);
    // A worker whose lease is lost records none either.
    expect(await finishImage(workspace, lease, { kind: "completed", output: OUTPUT })).toBeUndefined();
    expect(await eventsOf(account.id)).toHaveLength(1);
  });
});

test("every event is as the published document describes it", async () => {
  const { account } = await testAccount(workspace, { credits: 5 });
  const config = { ...workspace.config, webhookAllowedOrigins: new Set(["http://127.0.0.1:9"]) };
  const { endpoint } = await createEndpoint(
    { ...workspace, config },
    { accountId: account.id, environment: "live", url: "http://127.0.0.1:9/" },
  );
  await sendTest(workspace, { endpointId: endpoint.id });
  await changeBudget(workspace, account.id, { credits: 1, alerts: [100] }, null);
  for (let i = 0; i < 4; i++) await queue(account.id, "live");
  await end("live", { kind: "completed", output: OUTPUT });
  await end("live", { kind: "refused", message: "No player was found in the photo.", reason: "no_player" });
  const schemas = {
    "image.completed": ImageCompletedEvent,
    "image.failed": ImageFailedEvent,
    "credits.low": CreditsLowEvent,
    "usage.alert": UsageAlertEvent,
    "webhook.test": WebhookTestEvent,
  };
  const events = await eventsOf(account.id);
  expect(new Set(events.map(({ type }) => type))).toEqual(new Set(Object.keys(schemas)));
  for (const { type, body } of events) {
    const checked = compileValidator(schemas[type as keyof typeof schemas], "body").check(body);
    expect(checked).toMatchObject({ ok: true });
  }
});

describe("credits.low", () => {
  const warnings = async (accountId: string) =>
    (await eventsOf(accountId)).filter(({ type }) => type === "credits.low").map(({ body }) => body);
  const spend = async (accountId: string, count: number) => {
    for (let i = 0; i < count; i++) {
      workspace.clock.advance(1_000);
      await queue(accountId, "live");
    }
  };

  test("is sent when a fifth of the plan is left, once", async () => {
    const { account } = await testAccount(workspace, { credits: 10 });
    await spend(account.id, 7);
    expect(await warnings(account.id)).toEqual([]);
    await spend(account.id, 1);
    expect(await warnings(account.id)).toEqual([
      {
        type: "credits.low",
        timestamp: "2026-11-15T12:00:08.000Z",
        environment: "live",
        data: { credits_remaining: 2, credit_limit: 10 },
      },
    ]);
    await spend(account.id, 2);
    expect(await warnings(account.id)).toHaveLength(1);
  });

  test("measures what was granted for this month, whatever the plan was changed to within it", async () => {
    const { account } = await testAccount(workspace, { credits: 10 });
    await changePlan(workspace, account.id, { tier: "growth", credits: 100 });
    await spend(account.id, 7);
    expect(await warnings(account.id)).toEqual([]);
    await spend(account.id, 1);
    expect(await warnings(account.id)).toMatchObject([{ data: { credits_remaining: 2, credit_limit: 10 } }]);
    workspace.clock.set("2026-12-01T00:00:00.000Z");
    await spend(account.id, 80);
    expect((await warnings(account.id)).at(-1)).toMatchObject({
      data: { credits_remaining: 20, credit_limit: 100 },
    });
  });

  test("is not sent again when a credit comes back and goes, but after a top-up and in the next month", async () => {
    const { account } = await testAccount(workspace, { credits: 10 });
    await spend(account.id, 8);
    await end("live", { kind: "refused", message: "No player.", reason: "no_player" });
    await spend(account.id, 1);
    expect(await warnings(account.id)).toHaveLength(1);
    const moment = { now: workspace.clock.now(), random: workspace.random };
    await workspace.store.write("test", (tx) => topUpCredits(tx, account.id, 3, null, moment));
    await spend(account.id, 3);
    expect(await warnings(account.id)).toHaveLength(2);
    workspace.clock.set("2026-12-01T00:00:00.000Z");
    // Two of the top-up are left beside the ten of the new month.
    await spend(account.id, 10);
    expect((await warnings(account.id)).at(-1)).toMatchObject({
      timestamp: expect.stringMatching(/^2026-12-01/),
      data: { credits_remaining: 2 },
    });
    expect(await warnings(account.id)).toHaveLength(3);
  });

  test("costs test images nothing and so is never sent for them", async () => {
    const { account } = await testAccount(workspace, { credits: 1 });
    await queue(account.id, "test");
    expect(await warnings(account.id)).toEqual([]);
  });
});
