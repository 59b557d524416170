import { afterAll, beforeAll, expect, test } from "bun:test";
import { finishImage } from "../../src/app/images/finish-image.ts";
import { claimImage } from "../../src/app/images/render-image.ts";
import { renderNextTestImage } from "../../src/app/images/render-test-image.ts";
import { FAILURE_REASONS } from "../../src/core/failure-reasons.ts";
import { SOURCE_BYTES_PER_DAY } from "../../src/core/limits.ts";
import { RENDER_FAULT_MESSAGE } from "../../src/core/partner-refusals.ts";
import { PHOTO_REFUSALS, REASON_OF_REFUSAL } from "../../src/core/photo-refusals.ts";
import { AcceptedImageResponse, ImageResponse, UsageResponse } from "../../src/http/schemas.ts";
import { imageRequest, post, type TestAccount, testAccount } from "../harness.ts";
import {
  expectError,
  expectStandardHeaders,
  expectSuccess,
  finishNext,
  type Json,
  send,
  type TestApi,
  testApi,
} from "./api.ts";

let api: TestApi;
let partner: TestAccount;
beforeAll(async () => {
  api = await testApi();
  partner = await testAccount(api);
});
afterAll(() => api.close());

const get = (path: string, key: string) => send(api, path, { headers: { "X-API-Key": key } });
const image = async (id: string, key: string): Promise<Json> =>
  expectSuccess(await get(`/v1/images/${id}`, key), 200, ImageResponse);
const usage = async (key: string, period = "current_month"): Promise<Json> =>
  expectSuccess(await get(`/v1/usage?period=${period}`, key), 200, UsageResponse);

async function created(key: string, change: Json = {}): Promise<Json> {
  const { player, ...rest } = change;
  const body = imageRequest({ ...rest, player: { source_image_url: api.photo, ...player } });
  return expectSuccess(await post(api.baseUrl, key, body), 202, AcceptedImageResponse);
}

const OWN_WORDS = ["external_id", "name", "metadata", "batch_id", "style"];

test("the 202 has exactly its five fields, and a Location", async () => {
  const response = await post(api.baseUrl, partner.testKey, imageRequest());
  const data = await expectSuccess(response, 202, AcceptedImageResponse);
  expect(Object.keys(data)).toEqual(["image_id", "status", "poll_url", "eta_seconds", "created_at"]);
  expect(data).toMatchObject({ status: "processing", poll_url: `/v1/images/${data.image_id}` });
  expect(response.headers.get("location")).toBe(data.poll_url);
  await finishNext(api, "completed", "test");
});

test("eta_seconds grows with the queue, and follows what renders take", async () => {
  const fresh = await testApi();
  try {
    const { liveKey } = await testAccount(fresh);
    const eta = async () => {
      const body = imageRequest({ player: { source_image_url: fresh.photo } });
      const answer = await post(fresh.baseUrl, liveKey, body);
      return (await expectSuccess(answer, 202, AcceptedImageResponse)).eta_seconds;
    };
    // One worker at 1.5 s an image, until something has been rendered.
    expect([await eta(), await eta(), await eta()]).toEqual([2, 3, 5]);
    for (let i = 0; i < 100; i++) fresh.queue.observe(10_000);
    expect(await eta()).toBe(40);
    for (let i = 0; i < 200; i++) fresh.queue.observe(100);
    expect(await eta()).toBe(1);
  } finally {
    await fresh.close();
  }
});

test("a waiting image has exactly its fields, and null progress", async () => {
  const { image_id } = await created(partner.liveKey);
  const view = await image(image_id, partner.liveKey);
  expect(Object.keys(view)).toEqual([
    "image_id",
    "status",
    "progress",
    "created_at",
    "updated_at",
    ...OWN_WORDS,
  ]);
  expect(view).toMatchObject({ status: "processing", progress: null });
  await finishNext(api, "completed");
});

test("progress shows the stage reached", async () => {
  const { image_id } = await created(partner.liveKey);
  const claimed = await claimImage(api, "live");
  if (!claimed) throw new Error("nothing waits");
  const shown: number[] = [];
  for (const stage of ["decode", "find", "cut_out", "compose", "capture", "store"] as const) {
    api.progress.reach(image_id, stage);
    shown.push((await image(image_id, partner.liveKey)).progress);
  }
  expect(shown).toEqual([...shown].sort());
  expect(new Set(shown).size).toBe(6);
  api.progress.clear(image_id);
  const lease = { imageId: image_id, token: claimed.leaseToken, renders: claimed.renders };
  await finishImage(api, lease, { kind: "refused", message: "No player was found.", reason: "no_player" });
});

test("a completed image has exactly its fields, and costs one credit", async () => {
  const { image_id, created_at } = await created(partner.liveKey);
  const before = await usage(partner.liveKey);
  api.clock.advance(1_500);
  await finishNext(api, "completed");
  const view = await image(image_id, partner.liveKey);
  expect(Object.keys(view)).toEqual([
    "image_id",
    "status",
    "result",
    "usage",
    "created_at",
    "completed_at",
    ...OWN_WORDS,
  ]);
  expect(Object.keys(view.result)).toEqual([
    "image_url",
    "back_url",
    "share_url",
    "width",
    "height",
    "content_type",
    "composition",
    "expires_at",
  ]);
  expect(view).toMatchObject({ status: "completed", created_at, usage: { credits_used: 1 } });
  expect(Date.parse(view.completed_at) - Date.parse(created_at)).toBe(1_500);
  expect(Date.parse(view.result.expires_at) - Date.parse(view.completed_at)).toBe(30 * 86_400_000);
  expect(view.result.image_url).toStartWith("https://cards.example.org/cdn/");
  const after = await usage(partner.liveKey);
  expect(after.credits_used - before.credits_used).toBe(1);
  expect(after.credits_remaining).toBe(before.credits_remaining);
});

test("a failed image has exactly its fields, is answered with 200, and gives its credit back", async () => {
  const before = await usage(partner.liveKey);
  const { image_id } = await created(partner.liveKey);
  expect((await usage(partner.liveKey)).credits_remaining).toBe(before.credits_remaining - 1);
  await finishNext(api, "refused");
  const view = await image(image_id, partner.liveKey);
  expect(Object.keys(view)).toEqual([
    "image_id",
    "status",
    "failure",
    "created_at",
    "completed_at",
    ...OWN_WORDS,
  ]);
  expect(view.failure.code).toBe("IMAGE_PROCESSING_FAILED");
  expect((await usage(partner.liveKey)).credits_remaining).toBe(before.credits_remaining);
});

test("an image is 404 to another account, another environment, and when it does not exist", async () => {
  const other = await testAccount(api);
  const { image_id } = await created(partner.testKey);
  for (const [id, key] of [
    [image_id, other.testKey],
    [image_id, other.liveKey],
    [image_id, partner.liveKey],
    ["img_unknown", partner.testKey],
    [image_id.toUpperCase(), partner.testKey],
    ["x", partner.testKey],
    ["%00", partner.testKey],
    ["'%20OR%201=1", partner.testKey],
  ]) {
    await expectError(await get(`/v1/images/${id}`, key as string), "IMAGE_NOT_FOUND");
  }
  await finishNext(api, "completed", "test");
});

for (const query of [
  "",
  "?period=",
  "?period=today",
  "?period=Current_month",
  "?period=2026-11",
  "?period=current_month&period=current_month",
  "?period=current_month&x=1",
]) {
  test(`usage${query} is refused by name`, async () => {
    const error = await expectError(await get(`/v1/usage${query}`, partner.liveKey), "INVALID_REQUEST");
    expect(error.details).toHaveLength(1);
    expect(error.details[0].field).toBe(query.endsWith("x=1") ? "query x" : "query period");
    const isMissing = query === "";
    expect(error.details[0].message.startsWith("is required")).toBe(isMissing);
  });
}

test("usage has exactly its seven fields and counts its period only, by UTC days", async () => {
  const { liveKey, testKey } = await testAccount(api, { credits: 50 });
  const days: [string, number][] = [
    ["2026-12-31T23:59:59.999Z", 1],
    ["2027-01-01T00:00:00.000Z", 2],
    ["2027-01-30T23:59:59.999Z", 3],
    ["2027-01-31T00:00:00.000Z", 4],
    ["2027-02-01T00:00:00.000Z", 5],
    ["2027-03-01T00:00:00.000Z", 6],
  ];
  for (const [time, count] of days) {
    api.clock.set(time);
    for (let i = 0; i < count; i++) await created(liveKey);
    for (let i = 0; i < count; i++) await finishNext(api, "completed");
  }
  const period = async (name: string) => {
    const data = await usage(liveKey, name);
    expect(Object.keys(data)).toEqual([
      "period",
      "images_requested",
      "images_completed",
      "images_failed",
      "credits_used",
      "credits_remaining",
      "credit_limit",
      "environment",
    ]);
    return [data.period, data.images_requested, data.images_completed, data.credits_used];
  };
  expect(await period("current_month")).toEqual(["2027-03", 6, 6, 6]);
  expect(await period("previous_month")).toEqual(["2027-02", 5, 5, 5]);
  // 30 days with today: 31 January to 1 March.
  expect(await period("last_30_days")).toEqual(["2027-03", 15, 15, 15]);
  api.clock.set("2027-01-15T12:00:00.000Z");
  expect((await period("previous_month")).slice(0, 2)).toEqual(["2026-12", 1]);
  api.clock.set("2027-03-02T00:00:00.000Z");
  expect(await usage(liveKey)).toMatchObject({
    credits_remaining: 44,
    credit_limit: 50,
    environment: "live",
  });
  expect(await usage(testKey)).toMatchObject({
    images_requested: 0,
    credits_used: 0,
    credits_remaining: 50,
    environment: "test",
  });
});

async function renderTest(): Promise<void> {
  await renderNextTestImage(api, new AbortController().signal, () => {});
}

for (const [format, contentType] of [
  ["png", "image/png"],
  ["webp", "image/webp"],
  ["jpeg", "image/jpeg"],
] as const) {
  test(`a test image completes with a ${format} placeholder of the asked size, and costs nothing`, async () => {
    const before = await usage(partner.testKey);
    const { image_id } = await created(partner.testKey, { style: { width: 640, height: 512, format } });
    await renderTest();
    const view = await image(image_id, partner.testKey);
    expect(view.result).toMatchObject({ width: 640, height: 512, content_type: contentType });
    const picture = await send(api, `/cdn/${view.result.image_url.split("/").at(-1)}`);
    expect(picture.headers.get("content-type")).toBe(contentType);
    const { width, height, format: real } = await new Bun.Image(await picture.bytes()).metadata();
    expect({ width, height, real }).toEqual({ width: 640, height: 512, real: format });
    const after = await usage(partner.testKey);
    expect(after).toMatchObject({ credits_used: 0, credits_remaining: before.credits_remaining });
    // The same structure as a live one's, and the documents say what it means.
    expect(view.usage).toEqual({ credits_used: 1 });
    const documents = await (await send(api, "/docs/openapi.json")).text();
    for (const said of ["what the image would have cost", "With a test key 0"])
      expect(documents).toContain(said);
    const guide = await (await send(api, "/docs/credits.md")).text();
    expect(guide).toContain("Each completed test image has `usage.credits_used` 1 all the same");
    expect(after.images_completed).toBe(before.images_completed + 1);
  });
}

const FAILURES = [
  ...Object.entries(PHOTO_REFUSALS).map(
    ([name, message]) =>
      [`test_fail_${name}`, message, REASON_OF_REFUSAL[name as keyof typeof PHOTO_REFUSALS]] as const,
  ),
  ["test_fail_provider", RENDER_FAULT_MESSAGE, "provider"] as const,
  ["test_fail_not_a_photograph", PHOTO_REFUSALS.no_player, "no_player"] as const,
];
for (const [id, message, reason] of FAILURES) {
  test(`${id} is accepted and fails with the message, reason and hint that a live image would have`, async () => {
    const { image_id } = await created(partner.testKey, { player: { external_id: id } });
    await renderTest();
    expect(await image(image_id, partner.testKey)).toMatchObject({
      status: "failed",
      failure: { code: "IMAGE_PROCESSING_FAILED", message, reason, hint: FAILURE_REASONS[reason].hint },
    });
  });
}

test("the page of the failure's code and the reference list every reason, and the page each hint", async () => {
  const page = await (await send(api, "/docs/errors/IMAGE_PROCESSING_FAILED")).text();
  const document = await (await send(api, "/docs/openapi.json")).json();
  const { description } = document.components.schemas.ImageFailure.properties.reason;
  expect(page).toContain('id="reasons"');
  for (const [reason, { hint }] of Object.entries(FAILURE_REASONS)) {
    expect(description).toContain(`\`${reason}\``);
    expect(page).toContain(`>${reason}</code>`);
    expect(page).toContain(`<td>${hint.replaceAll("'", "&#39;")}</td>`);
  }
});

test("the testing guide and the photo guide name every way a photo is refused", async () => {
  const guide = async (path: string) => (await send(api, path)).text();
  const [testing, photos] = [await guide("/docs/testing"), await guide("/docs/photos")];
  for (const [reason, message] of Object.entries(PHOTO_REFUSALS)) {
    expect(testing).toContain(`test_fail_${reason}`);
    expect(photos).toContain(message);
  }
});

test("test_slow shows progress while it takes its time", async () => {
  const { image_id, eta_seconds } = await created(partner.testKey, { player: { external_id: "test_slow" } });
  expect(eta_seconds).toBe(10);
  const stop = new AbortController();
  const work = renderNextTestImage(api, stop.signal, () => {});
  let view: Json;
  do view = await image(image_id, partner.testKey);
  while (view.progress === null);
  expect(view).toMatchObject({ status: "processing", progress: 0 });
  stop.abort();
  await work;
  await finishNext(api, "completed", "test");
});

for (const [id, code] of [
  ["test_unsupported_source", "UNSUPPORTED_IMAGE_SOURCE"],
  ["test_insufficient_credits", "INSUFFICIENT_CREDITS"],
  ["test_rate_limited", "RATE_LIMIT_EXCEEDED"],
] as const) {
  test(`${id} is refused with ${code} by a test key, and means nothing to a live one`, async () => {
    const body = imageRequest({ player: { external_id: id, source_image_url: api.photo } });
    const before = await usage(partner.testKey);
    const response = await post(api.baseUrl, partner.testKey, body);
    await expectError(response, code);
    expect(response.headers.has("retry-after")).toBe(code === "RATE_LIMIT_EXCEEDED");
    if (code === "RATE_LIMIT_EXCEEDED") {
      const { remaining, reset } = expectStandardHeaders(response);
      const secondsLeft = reset - api.clock.now() / 1000;
      expect([remaining, Number(response.headers.get("retry-after"))]).toEqual([0, Math.ceil(secondsLeft)]);
    }
    expect(await usage(partner.testKey)).toEqual(before);
    await expectSuccess(await post(api.baseUrl, partner.liveKey, body), 202, AcceptedImageResponse);
    await finishNext(api, "completed");
  });
}

test.each([
  ["INSUFFICIENT_CREDITS", "test_insufficient_credits", "yoga.jpg"],
  ["UNSUPPORTED_IMAGE_SOURCE", "test_unsupported_source", "nothing-here.jpg"],
] as const)("the sandbox refuses with %s in the very words of the real refusal", async (code, id, file) => {
  const { liveKey, testKey } = await testAccount(api, { credits: code === "INSUFFICIENT_CREDITS" ? 0 : 1 });
  const refusal = async (key: string, player: object) => {
    const { message, details } = await expectError(
      await post(api.baseUrl, key, imageRequest({ player })),
      code,
    );
    return { message, details };
  };
  expect(await refusal(testKey, { external_id: id })).toEqual(
    await refusal(liveKey, { source_image_url: api.photos.url(file) }),
  );
});

test("a day's bytes that are spent are reported as such, with the budget of requests as it is", async () => {
  const { account, liveKey } = await testAccount(api);
  api.sourceBytes.spend(account.id, SOURCE_BYTES_PER_DAY[account.tier]);
  const body = imageRequest({ player: { source_image_url: api.photo } });
  const response = await post(api.baseUrl, liveKey, body);
  const { message } = await expectError(response, "RATE_LIMIT_EXCEEDED");
  expect(message).toContain("GB of photos and badges fetched");
  expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(60);
  expect(expectStandardHeaders(response).remaining).toBeGreaterThan(0);
});

test("test keys fetch nothing", async () => {
  const fetched = api.photos.requests.length;
  await created(partner.testKey, { branding: { club_badge_url: `${api.photos.origin}/logo.png` } });
  expect(api.photos.requests.length).toBe(fetched);
  await finishNext(api, "completed", "test");
});

test("docs pages and pictures carry the four headers as well", async () => {
  for (const path of ["/docs", "/docs/openapi.json", "/docs/errors/NOPE", "/live", "/ready"]) {
    expectStandardHeaders(await send(api, path));
  }
});
