import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { sweep } from "../../src/app/operations/sweep.ts";
import { AcceptedImageResponse } from "../../src/http/schemas.ts";
import { findRecord, freeExpiredKey } from "../../src/store/images/idempotency.ts";
import { queueDepth } from "../../src/store/images/queue-depth.ts";
import { imageRequest, post, type TestAccount, testAccount } from "../harness.ts";
import { expectError, expectSuccess, finishNext, type Json, send, type TestApi, testApi } from "./api.ts";

let api: TestApi;
let partner: TestAccount;
beforeAll(async () => {
  api = await testApi();
});
afterAll(() => api.close());
beforeEach(async () => {
  partner = await testAccount(api, { credits: 3 });
});

const create = (key: string, idempotencyKey: string, body: unknown) =>
  post(api.baseUrl, key, body, { "Idempotency-Key": idempotencyKey });
const live = (name = "Maya Okafor") => imageRequest({ player: { name, source_image_url: api.photo } });
const usage = async (key: string): Promise<Json> =>
  (
    (await (
      await send(api, "/v1/usage?period=current_month", { headers: { "X-API-Key": key } })
    ).json()) as Json
  ).data;

test("40 parallel creates with one key make one image, reserve one credit and get the same bytes", async () => {
  const fetchesBefore = api.photos.requests.length;
  const answers = await Promise.all([...Array(40)].map(() => create(partner.liveKey, "same", live())));
  const bodies = await Promise.all(answers.map((response) => response.text()));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
  expect(new Set(bodies).size).toBe(1);
  expect(answers.filter(({ headers }) => headers.get("idempotent-replayed") === "true")).toHaveLength(39);
  expect(await usage(partner.liveKey)).toMatchObject({ images_requested: 1, credits_remaining: 2 });
  expect(api.photos.requests.length - fetchesBefore).toBe(1);
  await finishNext(api, "completed");
});

test("a replay is byte for byte the first answer, also long after completion", async () => {
  const first = await create(partner.liveKey, "k", live());
  const bytes = await first.text();
  expect(first.headers.get("idempotent-replayed")).toBeNull();
  const location = first.headers.get("location");
  expect(location).toBe(JSON.parse(bytes).data.poll_url);
  await finishNext(api, "completed");
  for (const wait of [0, 3_600_000, 70 * 3_600_000]) {
    api.clock.advance(wait);
    const replay = await create(partner.liveKey, "k", live());
    expect({ status: replay.status, bytes: await replay.text() }).toEqual({ status: 202, bytes });
    expect(replay.headers.get("idempotent-replayed")).toBe("true");
    expect(replay.headers.get("location")).toBe(location);
    expect(replay.headers.get("x-request-id")).not.toBe(first.headers.get("x-request-id"));
  }
});

test("an answer that an earlier version stored in its envelope is replayed byte for byte", async () => {
  const bytes = await (await create(partner.liveKey, "earlier", live())).text();
  const { image_id } = JSON.parse(bytes).data;
  const { store } = api;
  await store.write("test", ({ db, t: { idempotencyRecords: r } }) =>
    db.update(r).set({ responseBody: bytes }).where(eq(r.imageId, image_id)),
  );
  const replay = await create(partner.liveKey, "earlier", live());
  expect([replay.status, await replay.text()]).toEqual([202, bytes]);
  expect(replay.headers.get("location")).toBe(`/v1/images/${image_id}`);
  await finishNext(api, "completed");
});

test("after 72 hours the sweep forgets the key, and it makes a new image", async () => {
  const first = await expectSuccess(
    await create(partner.testKey, "old", imageRequest()),
    202,
    AcceptedImageResponse,
  );
  api.clock.advance(72 * 3_600_000 - 1);
  await sweep(api);
  const kept = await expectSuccess(
    await create(partner.testKey, "old", imageRequest()),
    202,
    AcceptedImageResponse,
  );
  expect(kept.image_id).toBe(first.image_id);
  api.clock.advance(1);
  await sweep(api);
  const { db, t } = api.store.read;
  expect((await db.select().from(t.idempotencyRecords)).filter(({ key }) => key === "old")).toEqual([]);
  const fresh = await expectSuccess(
    await create(partner.testKey, "old", imageRequest()),
    202,
    AcceptedImageResponse,
  );
  expect(fresh.image_id).not.toBe(first.image_id);
});

test("the same key with another body is 409, and changes nothing", async () => {
  await create(partner.testKey, "k", imageRequest());
  const before = await queueDepth(api.store.read, "test");
  const others = [
    imageRequest({ player: { name: "Someone Else" } }),
    imageRequest({ style: { width: 1024 } }),
    imageRequest({ metadata: {} }),
    imageRequest({ player: { number: 10 } }),
  ];
  for (const other of others) {
    const error = await expectError(
      await create(partner.testKey, "k", other),
      "IDEMPOTENCY_KEY_REUSED_WITH_DIFFERENT_PAYLOAD",
    );
    expect(error.details[0].field).toBe("header Idempotency-Key");
  }
  expect(await queueDepth(api.store.read, "test")).toEqual(before);
  await expectSuccess(await create(partner.testKey, "k", imageRequest()), 202, AcceptedImageResponse);
});

test("writing does not count: field order, white space, escapes and number forms are the same body", async () => {
  const whole: Json = imageRequest({ metadata: { a: "1", b: "\u00e9" } });
  const first = await (await create(partner.testKey, "canon", whole)).text();
  const turned = Object.fromEntries(Object.entries(whole).reverse());
  turned.player = Object.fromEntries(Object.entries(whole.player).reverse());
  const written = JSON.stringify(turned, null, 4)
    .replace("\u00e9", "\\u00e9")
    .replace('"number": 9', '"number": 9.0e0');
  expect(written).toContain("\\u00e9");
  const again = await create(partner.testKey, "canon", written);
  expect(again.headers.get("idempotent-replayed")).toBe("true");
  expect(await again.text()).toBe(first);
});

test("keys of two accounts, and of live and test, never meet", async () => {
  const other = await testAccount(api);
  const ids = new Set<string>();
  for (const [key, body] of [
    [partner.testKey, imageRequest()],
    [other.testKey, imageRequest({ player: { name: "B" } })],
    [partner.liveKey, live("C")],
    [other.liveKey, live("D")],
  ] as const) {
    const data = await expectSuccess(await create(key, "shared", body), 202, AcceptedImageResponse);
    ids.add(data.image_id);
  }
  expect(ids.size).toBe(4);
  await finishNext(api, "completed");
  await finishNext(api, "completed");
});

test("keys differ by case", async () => {
  await create(partner.testKey, "Key", imageRequest());
  const response = await create(partner.testKey, "key", imageRequest({ player: { name: "B" } }));
  expect(response.status).toBe(202);
});

const REFUSALS: [string, () => Promise<[Response, Parameters<typeof expectError>[1]]>][] = [
  ["400", async () => [await create(partner.liveKey, "free", { ...live(), type: "x" }), "INVALID_REQUEST"]],
  [
    "415",
    async () => [
      await post(api.baseUrl, partner.liveKey, live(), {
        "Idempotency-Key": "free",
        "Content-Type": "text/plain",
      }),
      "UNSUPPORTED_MEDIA_TYPE",
    ],
  ],
  ["413", async () => [await create(partner.liveKey, "free", " ".repeat(70_000)), "PAYLOAD_TOO_LARGE"]],
  [
    "422",
    async () => [
      await create(
        partner.liveKey,
        "free",
        imageRequest({ player: { source_image_url: `${api.photos.origin}/missing.png` } }),
      ),
      "UNSUPPORTED_IMAGE_SOURCE",
    ],
  ],
  [
    "402",
    async () => {
      const poor = await testAccount(api, { credits: 0 });
      return [await create(poor.liveKey, "free", live()), "INSUFFICIENT_CREDITS"];
    },
  ],
  ["401", async () => [await create("sk_live_wrong", "free", live()), "INVALID_API_KEY"]],
];
for (const [status, refuse] of REFUSALS) {
  test(`a ${status} does not use the key up, and reserves nothing`, async () => {
    const [response, code] = await refuse();
    await expectError(response, code);
    expect(await usage(partner.liveKey)).toMatchObject({ images_requested: 0, credits_remaining: 3 });
    const accepted = await create(partner.liveKey, "free", live());
    await expectSuccess(accepted, 202, AcceptedImageResponse);
    expect(accepted.headers.get("idempotent-replayed")).toBeNull();
    await finishNext(api, "completed");
  });
}

test("a replay needs neither credits nor the photo", async () => {
  const poor = await testAccount(api, { credits: 1 });
  const first = await (await create(poor.liveKey, "last", live())).text();
  const fetched = api.photos.requests.length;
  await expectError(await create(poor.liveKey, "next", live()), "INSUFFICIENT_CREDITS");
  expect(await (await create(poor.liveKey, "last", live())).text()).toBe(first);
  expect(api.photos.requests.length).toBe(fetched);
  await finishNext(api, "completed");
});

test("a key in force is never freed, even by a create that overlooked it; an expired one is", async () => {
  const answer = await create(partner.testKey, "kept", imageRequest());
  const { image_id } = ((await answer.json()) as Json).data;
  const scope = { accountId: partner.account.id, environment: "test", key: "kept" } as const;
  const freeAt = (now: number) => api.store.write("accept", (tx) => freeExpiredKey(tx, scope, now));
  const { expiresAt = 0 } = (await findRecord(api.store.read, scope)) ?? {};
  await freeAt(expiresAt - 1);
  expect((await findRecord(api.store.read, scope))?.imageId).toBe(image_id);
  await freeAt(expiresAt);
  expect(await findRecord(api.store.read, scope)).toBeUndefined();
});
