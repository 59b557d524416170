import { afterAll, beforeAll, expect, test } from "bun:test";
import { createDeliverer } from "../../src/app/webhooks/deliver-webhook.ts";
import {
  DeletedWebhookEndpointResponse,
  WebhookEndpointListResponse,
  WebhookEndpointResponse,
  WebhookEventListResponse,
  WebhookEventResponse,
  WebhookSecretResponse,
} from "../../src/http/webhook-api-schemas.ts";
import { listActivity } from "../../src/store/people/activity.ts";
import { deliverDue, type Receiver, receiver, verify } from "../app/webhooks/receivers.ts";
import { imageRequest, post, type TestAccount, testAccount } from "../harness.ts";
import { expectError, expectSuccess, finishNext, type Json, send, type TestApi, testApi } from "./api.ts";

let api: TestApi;
let hook: Receiver;
let fussy: Receiver;
let partner: TestAccount;
let other: TestAccount;
let status = 200;
beforeAll(async () => {
  hook = receiver();
  fussy = receiver(() => new Response("no", { status }));
  api = await testApi({ env: { CARDPRESS_WEBHOOK_ALLOWED_ORIGINS: `${hook.origin},${fussy.origin}` } });
  partner = await testAccount(api);
  other = await testAccount(api);
});
afterAll(async () => {
  await api.close();
  hook.close();
  fussy.close();
});

const call = (method: string, path: string, body?: object, key = partner.testKey) =>
  send(api, path, {
    method,
    headers: { "X-API-Key": key, ...(body ? { "Content-Type": "application/json" } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
const endpoint = async (id: string): Promise<Json> =>
  expectSuccess(await call("GET", `/v1/webhook_endpoints/${id}`), 200, WebhookEndpointResponse);
const event = async (id: string): Promise<Json> =>
  expectSuccess(await call("GET", `/v1/events/${id}`), 200, WebhookEventResponse);
const events = async (query = ""): Promise<Json> =>
  expectSuccess(await call("GET", `/v1/events${query}`), 200, WebhookEventListResponse);
async function made(url: string, events?: string[]): Promise<Json> {
  const answer = await call("POST", "/v1/webhook_endpoints", { url, ...(events && { events }) });
  return expectSuccess(answer, 201, WebhookSecretResponse);
}
async function finished(end: "completed" | "refused" = "completed"): Promise<string> {
  await post(api.baseUrl, partner.testKey, imageRequest());
  return finishNext(api, end, "test");
}
const deliver = () => deliverDue(createDeliverer(api));

test("an endpoint made by API is sent the events it subscribed to, signed with the secret that was shown once", async () => {
  const { endpoint_id, secret, ...shown } = await made(hook.url, ["image.failed"]);
  expect(shown).toMatchObject({
    url: hook.url,
    events: ["image.failed"],
    environment: "test",
    state: "enabled",
  });
  await finished("completed");
  const failed = await finished("refused");
  await deliver();
  expect(hook.received.map((one) => one.event.data.image_id)).toEqual([failed]);
  verify(secret, hook.received[0] as (typeof hook.received)[number], api.clock.now());
  expect(JSON.stringify(await endpoint(endpoint_id))).not.toContain("whsec_");
  const { webhook_endpoints } = await expectSuccess(
    await call("GET", "/v1/webhook_endpoints"),
    200,
    WebhookEndpointListResponse,
  );
  expect(webhook_endpoints).toEqual([await endpoint(endpoint_id)]);
  expect(webhook_endpoints[0].last_success_at).not.toBeNull();
  // Who did it is in the log of activity.
  const [entry] = await listActivity(api.store.read, { accountId: partner.account.id, limit: 1 });
  expect(entry?.entry).toMatchObject({ action: "webhook.created", userId: null });
  expect(entry?.entry.subject).toMatch(/, with the key key_\w+$/);

  const rotated = await expectSuccess(
    await call("POST", `/v1/webhook_endpoints/${endpoint_id}/rotate_secret`),
    200,
    WebhookSecretResponse,
  );
  expect(rotated.secret).not.toBe(secret);
  expect(Date.parse(rotated.old_secret_expires_at) - api.clock.now()).toBe(86_400_000);
  const sent = await expectSuccess(
    await call("POST", `/v1/webhook_endpoints/${endpoint_id}/test`),
    202,
    WebhookEventResponse,
  );
  expect(sent).toMatchObject({ type: "webhook.test", deliveries: [{ state: "pending", attempts: [] }] });
  await deliver();
  const last = hook.received.at(-1) as (typeof hook.received)[number];
  expect(last.headers["webhook-id"]).toBe(sent.event_id);
  for (const one of [secret, rotated.secret]) verify(one, last, api.clock.now());
  expect((await event(sent.event_id)).deliveries).toMatchObject([
    { endpoint_id, state: "delivered", attempts: [{ status: 200, error: null }] },
  ]);

  await expectSuccess(
    await call("DELETE", `/v1/webhook_endpoints/${endpoint_id}`),
    200,
    DeletedWebhookEndpointResponse,
  );
  await expectError(await call("GET", `/v1/webhook_endpoints/${endpoint_id}`), "NOT_FOUND");
  await expectError(await call("DELETE", `/v1/webhook_endpoints/${endpoint_id}`), "NOT_FOUND");
});

test("events are listed newest first, delivered or not, page by page, of the key's environment alone", async () => {
  api.clock.advance(1_000);
  const before = new Date(api.clock.now()).toISOString();
  api.clock.advance(1_000);
  const ids = [await finished(), await finished("refused"), await finished()].reverse();
  const span = `created_after=${before}`;
  const walked: Json[] = [];
  for (let after = ""; ; ) {
    const page = await events(`?${span}&limit=1${after}`);
    walked.push(...page.events);
    if (!page.has_more) break;
    after = `&after=${page.next_cursor}`;
  }
  expect(walked.map(({ data }) => data.image_id).sort()).toEqual([...ids].sort());
  expect((await events(`?created_before=${before}`)).events.length).toBeGreaterThan(0);
  for (const one of walked) expect(one.data).toEqual((await event(one.event_id)).data);
  const [{ event_id }] = walked;
  for (const key of [partner.liveKey, other.testKey]) {
    await expectError(await call("GET", `/v1/events/${event_id}`, undefined, key), "NOT_FOUND");
    await expectError(await call("POST", `/v1/events/${event_id}/redeliver`, undefined, key), "NOT_FOUND");
  }
  expect(
    (
      await expectSuccess(
        await call("GET", "/v1/events", undefined, other.testKey),
        200,
        WebhookEventListResponse,
      )
    ).events,
  ).toEqual([]);
  for (const query of ["?limit=0", "?after=x", "?created_after=now", "?type=x"])
    expect((await expectError(await call("GET", `/v1/events${query}`), "INVALID_REQUEST")).message).toContain(
      `query ${query.slice(1).split("=")[0]}`,
    );
});

test("an event is sent again: to who missed it, to one endpoint, and also where it arrived", async () => {
  const image = await finished();
  const [{ event_id }] = (await events("?limit=1")).events;
  const none = await expectError(await call("POST", `/v1/events/${event_id}/redeliver`), "INVALID_REQUEST");
  expect(none.message).toContain("No enabled webhook endpoint is subscribed to image.completed");
  const one = await made(hook.url);
  status = 500;
  const two = await made(fussy.url);
  const before = hook.received.length;
  const again = async (body?: object): Promise<Json> =>
    expectSuccess(await call("POST", `/v1/events/${event_id}/redeliver`, body), 202, WebhookEventResponse);
  expect((await again()).deliveries).toHaveLength(2);
  await deliver();
  expect(hook.received.slice(before).map((each) => each.event.data.image_id)).toEqual([image]);
  const stateOf = async (id: string) =>
    (await event(event_id)).deliveries.find(({ endpoint_id }: Json) => endpoint_id === id);
  expect(await stateOf(two.endpoint_id)).toMatchObject({ state: "pending", attempts: [{ status: 500 }] });
  status = 200;
  await again({ endpoint_id: two.endpoint_id });
  await deliver();
  expect(await stateOf(two.endpoint_id)).toMatchObject({
    state: "delivered",
    attempts: [{}, { status: 200 }],
  });
  expect(hook.received).toHaveLength(before + 1);
  await again({ endpoint_id: one.endpoint_id });
  await deliver();
  expect(hook.received.slice(before).map(({ headers }) => headers["webhook-id"])).toEqual([
    event_id,
    event_id,
  ]);
  await expectError(
    await call("POST", `/v1/events/${event_id}/redeliver`, { endpoint_id: "ep_unknown" }),
    "NOT_FOUND",
  );
  for (const { endpoint_id } of [one, two]) await call("DELETE", `/v1/webhook_endpoints/${endpoint_id}`);
});

test("another account's and the other environment's keys find no endpoint", async () => {
  const { endpoint_id } = await made(hook.url);
  for (const key of [partner.liveKey, other.testKey]) {
    const path = `/v1/webhook_endpoints/${endpoint_id}`;
    await expectError(await call("GET", path, undefined, key), "NOT_FOUND");
    await expectError(await call("DELETE", path, undefined, key), "NOT_FOUND");
    await expectError(await call("POST", `${path}/rotate_secret`, undefined, key), "NOT_FOUND");
    await expectError(await call("POST", `${path}/test`, undefined, key), "NOT_FOUND");
  }
  expect(await endpoint(endpoint_id)).toMatchObject({ state: "enabled", old_secret_expires_at: null });
});

const BAD: [body: object, field: string][] = [
  [{}, "url"],
  [{ url: "" }, "url"],
  [{ url: "ftp://club.example" }, "url"],
  [{ url: "https://127.0.0.1/hook" }, "url"],
  [{ url: "https://club.example", events: [] }, "events"],
  [{ url: "https://club.example", events: ["webhook.test"] }, "events.0"],
  [{ url: "https://club.example", secret: "whsec_x" }, "secret"],
];
test.each(BAD)("%j is refused by name", async (body, field) => {
  const error = await expectError(await call("POST", "/v1/webhook_endpoints", body), "INVALID_REQUEST");
  expect(error.details.map((one: Json) => one.field)).toContain(field);
});

test("one endpoint too many is refused with the remedy", async () => {
  let answer = await call("POST", "/v1/webhook_endpoints", { url: hook.url });
  while (answer.status === 201) answer = await call("POST", "/v1/webhook_endpoints", { url: hook.url });
  expect((await expectError(answer, "INVALID_REQUEST")).message).toContain("at most 10");
});

test("an endpoint is changed by API: its address and events, and whether anything is sent to it", async () => {
  const { webhook_endpoints: earlier } = ((await (await call("GET", "/v1/webhook_endpoints")).json()) as Json)
    .data;
  for (const one of earlier) await call("DELETE", `/v1/webhook_endpoints/${one.endpoint_id}`);
  const { endpoint_id: id } = await made(hook.url, ["image.failed"]);
  const change = (body: object, key?: string) => call("PATCH", `/v1/webhook_endpoints/${id}`, body, key);
  const changed = async (body: object) => expectSuccess(await change(body), 200, WebhookEndpointResponse);
  expect(await changed({ url: fussy.url })).toMatchObject({ url: fussy.url, events: ["image.failed"] });
  expect(await changed({ events: null })).toMatchObject({ url: fussy.url, events: null });

  await finished();
  const pending = async () => {
    const [newest] = (await events("?limit=1")).events;
    return (await event(newest.event_id)).deliveries.find((one: Json) => one.endpoint_id === id)?.state;
  };
  expect(await pending()).toBe("pending");
  api.clock.advance(1_000);
  const off = await changed({ disabled: true });
  expect(off).toMatchObject({ state: "disabled", disabled_reason: "It was disabled by hand." });
  expect(await pending()).toBe("failed");
  await finished();
  expect(await pending()).toBeUndefined();
  api.clock.advance(1_000);
  // Since when stays as it was.
  expect(await changed({ disabled: true })).toMatchObject({ disabled_at: off.disabled_at });
  expect(await changed({ disabled: false })).toMatchObject({ state: "enabled", disabled_reason: null });
  await finished();
  expect(await pending()).toBe("pending");

  await expectError(await change({ url: "http://10.0.0.1/" }), "INVALID_REQUEST");
  for (const [body, field] of [
    [{ events: [] }, "events"],
    [{ disabled: "yes" }, "disabled"],
    [{ secret: "x" }, "secret"],
  ] as const)
    expect((await expectError(await change(body), "INVALID_REQUEST")).details[0].field).toBe(field);
  await expectError(await change({ disabled: true }, other.testKey), "NOT_FOUND");
  await expectError(await change({ disabled: true }, partner.liveKey), "NOT_FOUND");
  expect((await endpoint(id)).state).toBe("enabled");
});

test("events are listed by their type, page by page, and by one that there is", async () => {
  for (const end of ["completed", "refused", "completed"] as const) await finished(end);
  const { events: failed } = await events("?type=image.failed&limit=1");
  expect(failed).toMatchObject([{ type: "image.failed" }]);
  const types: string[] = [];
  for (let after: string | null = ""; after !== null; ) {
    const page: Json = await events(`?type=image.completed&limit=1${after && `&after=${after}`}`);
    types.push(...page.events.map(({ type }: Json) => type));
    after = page.next_cursor;
  }
  expect(types.length).toBeGreaterThan(1);
  expect([...new Set(types)]).toEqual(["image.completed"]);
  const { next_cursor } = (await events("?type=image.completed&limit=1")) as Json;
  for (const other of ["", "&type=image.failed"]) {
    const refused = await call("GET", `/v1/events?limit=1&after=${next_cursor}${other}`);
    expect((await expectError(refused, "INVALID_REQUEST")).details[0].field).toBe("query after");
  }
  const { details } = await expectError(await call("GET", "/v1/events?type=image.gone"), "INVALID_REQUEST");
  expect(details[0]).toMatchObject({ field: "query type" });
});
