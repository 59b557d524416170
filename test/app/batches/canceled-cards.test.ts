import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { migrations } from "../../../db/migrations/sqlite/index.ts";
import { audit } from "../../../src/app/operations/audit/audit.ts";
import { createEndpoint } from "../../../src/app/webhooks/manage-webhooks.ts";
import { dayOf } from "../../../src/core/time.ts";
import { AcceptedBatchResponse, BatchResponse } from "../../../src/http/batch-schemas.ts";
import { ImageFailedEvent } from "../../../src/http/openapi/webhook-schemas.ts";
import { ImageResponse, UsageResponse } from "../../../src/http/schemas.ts";
import { usageByDay, usageByKey } from "../../../src/store/credits/usage.ts";
import { migrate } from "../../../src/store/engine/migrate.ts";
import { recentLiveFailures } from "../../../src/store/images/image-search.ts";
import { dayOf as outcomeOf } from "../../../src/store/overviews/attention.ts";
import { overviewCounts } from "../../../src/store/overviews/overview.ts";
import { get, imageRequest, post, testAccount } from "../../harness.ts";
import { expectShape, expectSuccess, type Json, send, type TestApi, testApi } from "../../http/api.ts";

let api: TestApi;
beforeAll(async () => {
  api = await testApi({ env: { CARDPRESS_WEBHOOK_ALLOWED_ORIGINS: "http://127.0.0.1:9" } });
});
afterAll(() => api.close());

const remove = (path: string, key: string) =>
  send(api, path, { method: "DELETE", headers: { "X-API-Key": key } });

async function batchOfThree(key: string): Promise<Json> {
  const cards = ["c1", "c2", "c3"].map((external_id) =>
    imageRequest({ player: { external_id, source_image_url: api.photos.url("yoga.jpg") } }),
  );
  const answer = await send(api, "/v1/batches", {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-API-Key": key },
    body: JSON.stringify({ cards }),
  });
  return expectSuccess(answer, 202, AcceptedBatchResponse);
}

const day = () => dayOf(api.clock.now());
const breaches = async () => (await audit(api.store, api.clock.now())).findings.filter(({ ok }) => !ok);

test("a canceled card says so wherever it is shown, keeps status and code for older clients, and is no failure to anybody", async () => {
  const { account, liveKey } = await testAccount(api, { credits: 5 });
  const scope = { accountId: account.id, environment: "live" } as const;
  await createEndpoint(api, { ...scope, url: "http://127.0.0.1:9/hooks", events: ["image.failed"] });
  const { batch_id, images } = await batchOfThree(liveKey);
  const canceled = await expectSuccess(await remove(`/v1/batches/${batch_id}`, liveKey), 200, BatchResponse);
  const failure = { code: "IMAGE_PROCESSING_FAILED", reason: "canceled" };
  expect(canceled).toMatchObject({ status: "canceled", failed: 3, canceled: 3 });
  expect(canceled.images[0]).toMatchObject({ status: "failed", failure });
  const view = await get(api.baseUrl, liveKey, `/v1/images/${images[0].image_id}`);
  expect(await expectSuccess(view, 200, ImageResponse)).toMatchObject({ status: "failed", failure });

  const { read } = api.store;
  const events = (await read.db.select().from(read.t.webhookEvents)).filter(
    ({ type }) => type === "image.failed",
  );
  expect(events).toHaveLength(3);
  const event = JSON.parse(events[0]?.body ?? "");
  expectShape(ImageFailedEvent, event);
  expect(event.data.failure).toMatchObject(failure);

  // The API's counters go by the status; those of charts and operators tell them apart.
  const usage = await get(api.baseUrl, liveKey, "/v1/usage?period=current_month");
  expect(await expectSuccess(usage, 200, UsageResponse)).toMatchObject({ images_failed: 3, credits_used: 0 });
  const span = { from: day(), to: day() };
  expect(await usageByDay(read, scope, span)).toMatchObject([{ requested: 3, failed: 3, canceled: 3 }]);
  expect(await usageByKey(read, scope, span)).toMatchObject([{ failed: 3, canceled: 3 }]);
  expect(await recentLiveFailures(read, 10)).toEqual([]);
  expect(await overviewCounts(read, { since: 0 })).toMatchObject({ failedSince: 0 });
  expect(await outcomeOf(read, day())).toMatchObject({ failed: 0 });
  expect(await breaches()).toEqual([]);
});

test("an image that is deleted before it was made was canceled, not failed", async () => {
  const { account, liveKey } = await testAccount(api, { credits: 5 });
  const player = { source_image_url: api.photos.url("yoga.jpg") };
  const { data } = (await (await post(api.baseUrl, liveKey, imageRequest({ player }))).json()) as Json;
  expect((await remove(`/v1/images/${data.image_id}`, liveKey)).status).toBe(200);
  const { read } = api.store;
  const scope = { accountId: account.id, environment: "live" } as const;
  const days = await usageByDay(read, scope, { from: day(), to: day() });
  expect(days).toMatchObject([{ failed: 1, canceled: 1 }]);
  expect(await recentLiveFailures(read, 10)).toEqual([]);
  expect(await breaches()).toEqual([]);
});

test("cards that were canceled before an upgrade are known for such after it, and counted", () => {
  const client = new Database(":memory:");
  client.run("CREATE TABLE schema_migrations (name TEXT PRIMARY KEY, applied_at INTEGER NOT NULL) STRICT");
  const older = migrations.findIndex(({ name }) => name.endsWith("_canceled_cards"));
  for (const { name, sql } of migrations.slice(0, older)) {
    for (const statement of sql.split("--> statement-breakpoint")) client.run(statement);
    client.query("INSERT INTO schema_migrations VALUES (?, 0)").run(name);
  }
  client.run("PRAGMA foreign_keys = OFF");
  const image = client.query(
    `INSERT INTO images (id, account_id, environment, type, state, external_id, player_name, request, turn, lane,
       available_at, renders, failure_code, failure_message, created_at, updated_at, completed_at)
     VALUES (?, 'acc', 'live', 'player_card', 'failed', 'x', 'x', '{}', 0, 1, 0, 0, 'IMAGE_PROCESSING_FAILED', ?, 0, 0, ?)`,
  );
  const message = "The batch was canceled before this card was made. Nothing was charged.";
  const at = Date.UTC(2026, 10, 20, 23, 59);
  image.run("img_1", message, at);
  image.run("img_2", message, at);
  image.run("img_3", "No player was found in the photo.", at);
  client.run("INSERT INTO usage_days VALUES ('acc', 'live', '2026-11-20', 3, 0, 3, 0)");
  client.run("INSERT INTO usage_keys VALUES ('acc', 'live', '2026-11-20', 'console', 3, 0, 3, 0)");
  client.run(
    `INSERT INTO batches (id, account_id, environment, name, fingerprint, total, completed, failed, created_at, updated_at, canceled_at, completed_at)
     VALUES ('bat', 'acc', 'live', '', 'f', 3, 0, 3, 0, 0, 1, 2)`,
  );
  for (const [position, id] of ["img_1", "img_2", "img_3"].entries())
    client.query("INSERT INTO batch_cards VALUES ('bat', ?, ?)").run(position, id);
  migrate(client);
  const column = (sql: string) => client.query(sql).values().flat();
  expect(column("SELECT failure_reason FROM images ORDER BY id")).toEqual(["canceled", "canceled", null]);
  for (const table of ["usage_days", "usage_keys", "batches"])
    expect([table, ...column(`SELECT canceled FROM ${table}`)]).toEqual([table, 2]);
  client.close();
});
