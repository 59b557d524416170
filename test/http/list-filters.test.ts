import { afterAll, beforeAll, expect, test } from "bun:test";
import { forgetImage } from "../../src/app/images/forget-image.ts";
import { MAX_LIST_EXAMINED } from "../../src/core/limits.ts";
import { AcceptedBatchResponse } from "../../src/http/batch-schemas.ts";
import { AcceptedImageResponse, ImageListResponse } from "../../src/http/schemas.ts";
import { insertImages } from "../../src/store/images/batches.ts";
import type { Image } from "../../src/store/images/images.ts";
import { imageRequest, post, type TestAccount, testAccount } from "../harness.ts";
import { expectError, expectSuccess, finishNext, type Json, send, type TestApi, testApi } from "./api.ts";

interface Made {
  id: string;
  createdAt: string;
  player: string;
  season: string;
  squad: string | undefined;
  status: string;
}

let api: TestApi;
let partner: TestAccount;
let other: TestAccount;
let batchId: string;
const made: Made[] = [];
beforeAll(async () => {
  api = await testApi();
  partner = await testAccount(api);
  other = await testAccount(api);
  // 24 images, three at the very same millisecond, of 4 players, 2 seasons and, some, a squad.
  for (let i = 0; i < 24; i++) {
    if (i % 3 === 0) api.clock.advance(1_000);
    const player = `crm/${i % 4}`;
    const season = `${2025 + (i % 2)}`;
    const squad = i % 3 === 0 ? "första laget" : undefined;
    const metadata = { season, ...(squad === undefined ? {} : { squad }) };
    const body = imageRequest({ player: { external_id: player }, metadata });
    const answer = await post(api.baseUrl, partner.testKey, body);
    const { image_id: id, created_at: createdAt } = await expectSuccess(answer, 202, AcceptedImageResponse);
    made.push({ id, createdAt, player, season, squad, status: "processing" });
    await post(api.baseUrl, other.testKey, body);
  }
  const cards = ["crm/0", "crm/1", "new"].map((external_id) => imageRequest({ player: { external_id } }));
  const response = await send(api, "/v1/batches", {
    method: "POST",
    headers: { "X-API-Key": partner.testKey, "Content-Type": "application/json" },
    body: JSON.stringify({ cards }),
  });
  const batch = await expectSuccess(response, 202, AcceptedBatchResponse);
  batchId = batch.batch_id;
  for (const image of batch.images)
    made.push({
      id: image.image_id,
      createdAt: batch.created_at,
      player: image.external_id,
      season: "",
      squad: undefined,
      status: "processing",
    });
  for (let i = 0; i < 12; i++) {
    const end = i % 3 === 0 ? "refused" : "completed";
    const id = await finishNext(api, end, "test");
    const own = made.find((one) => one.id === id);
    if (own) own.status = end === "refused" ? "failed" : "completed";
  }
});
afterAll(() => api.close());

const list = (query: string, key = partner.testKey) =>
  send(api, `/v1/images?${query}`, { headers: { "X-API-Key": key } });

async function walk(query: string): Promise<string[]> {
  const ids: string[] = [];
  for (let after = ""; ; ) {
    const page: Json = await expectSuccess(await list(`${query}${after}`), 200, ImageListResponse);
    ids.push(...page.images.map((image: Json) => image.image_id));
    expect(page.has_more).toBe(page.next_cursor !== null);
    if (!page.has_more) return ids;
    after = `&after=${page.next_cursor}`;
  }
}

const time = (index: number) => (made[index] as Made).createdAt;
const CASES: [query: () => string, fits: (one: Made) => boolean][] = [
  [() => "external_id=crm%2F2", ({ player }) => player === "crm/2"],
  [
    () => "external_id=crm%2F2&status=processing",
    (one) => one.player === "crm/2" && one.status === "processing",
  ],
  [() => "external_id=nobody", () => false],
  [() => `batch_id=${batchId}`, ({ season }) => season === ""],
  [() => `batch_id=${batchId}&external_id=new`, ({ player }) => player === "new"],
  [() => "batch_id=bat_unknown", () => false],
  [() => "metadata.season=2026", ({ season }) => season === "2026"],
  [() => "metadata.season=2026&status=failed", (one) => one.season === "2026" && one.status === "failed"],
  [
    () => "metadata.season=2026&metadata.squad=f%C3%B6rsta%20laget",
    (one) => one.season === "2026" && one.squad !== undefined,
  ],
  [
    () => "metadata.squad=f%C3%B6rsta%20laget&external_id=crm%2F0&status=completed",
    (one) => one.squad !== undefined && one.player === "crm/0" && one.status === "completed",
  ],
  [() => "metadata.season=", () => false],
  [() => "metadata.none=2026", () => false],
  [() => `created_after=${time(6)}`, (one) => one.createdAt > time(6)],
  [() => `created_before=${time(6)}`, (one) => one.createdAt < time(6)],
  [
    () => `created_after=${time(2)}&created_before=${time(12)}&status=completed`,
    (one) => one.createdAt > time(2) && one.createdAt < time(12) && one.status === "completed",
  ],
  [
    () => `created_after=${time(2)}&status=processing`,
    (one) => one.createdAt > time(2) && one.status === "processing",
  ],
  [
    () => `created_after=${time(5)}&metadata.season=2025`,
    (one) => one.createdAt > time(5) && one.season === "2025",
  ],
  [
    () => `created_before=${time(9)}&external_id=crm%2F3`,
    (one) => one.createdAt < time(9) && one.player === "crm/3",
  ],
  [
    () => `created_after=${time(3).replace("Z", "%2B00:00")}&created_before=9999-12-31t23:59:59.5z`,
    (one) => one.createdAt > time(3),
  ],
];

/** Whether it is the newest finished card of its player. */
const isCurrent = (one: Made) =>
  one.status === "completed" &&
  !made.some(
    (other) =>
      other !== one &&
      other.player === one.player &&
      other.status === "completed" &&
      newestFirst(other, one) < 0,
  );
CASES.push(
  [() => "current=true", isCurrent],
  [() => "current=true&status=completed", isCurrent],
  [() => "current=true&external_id=crm%2F1", (one) => one.player === "crm/1" && isCurrent(one)],
  [() => `current=true&batch_id=${batchId}`, (one) => one.season === "" && isCurrent(one)],
  [() => "current=true&metadata.season=2026", (one) => one.season === "2026" && isCurrent(one)],
  [() => `current=true&created_before=${time(9)}`, (one) => one.createdAt < time(9) && isCurrent(one)],
  [() => "current=false&status=failed", (one) => one.status === "failed"],
);

const newestFirst = (one: Made, other: Made) =>
  one.createdAt === other.createdAt ? (one.id < other.id ? 1 : -1) : one.createdAt < other.createdAt ? 1 : -1;

for (const [query, fits] of CASES) {
  test(`a walk by ${query.toString().slice(6)} meets those that fit, newest first, whatever the page's size`, async () => {
    const expected = made.filter(fits).sort(newestFirst);
    for (const limit of [1, 2, 7, 100])
      expect(await walk(`${query()}&limit=${limit}`)).toEqual(expected.map(({ id }) => id));
  });
}

const BAD: [query: string, field: string, says: RegExp][] = [
  ["external_id=", "query external_id", /1 to 255/],
  [`external_id=${"x".repeat(256)}`, "query external_id", /1 to 255/],
  ["external_id=a%00", "query external_id", /1 to 255/],
  ["external_id=a&external_id=b", "query external_id", /once/],
  ["batch_id=", "query batch_id", /bat_/],
  ["batch_id=img_1", "query batch_id", /bat_/],
  ["current=yes", "query current", /true or false/],
  ["current=true&status=failed", "query status", /completed/],
  ["metadata.=x", "query metadata.", /metadata\.season=2026/],
  ["metadata=x", "query metadata", /metadata\.KEY/],
  ["metadata.a=1&metadata.a=2", "query metadata.a", /once/],
  [`metadata.${"k".repeat(101)}=1`, `query metadata.${"k".repeat(100)}`, /100 characters/],
  [`metadata.a=${"v".repeat(257)}`, "query metadata.a", /256/],
  ["metadata.a=%00", "query metadata.a", /NUL/],
  [Array.from({ length: 11 }, (_, n) => `metadata.k${n}=1`).join("&"), "query metadata.*", /10 keys/],
  ["created_after=", "query created_after", /RFC 3339/],
  ["created_after=2026-11-21", "query created_after", /RFC 3339/],
  ["created_after=1795255203", "query created_after", /RFC 3339/],
  ["created_after=2026-02-30T00:00:00Z", "query created_after", /RFC 3339/],
  ["created_after=2026-11-21T25:00:00Z", "query created_after", /RFC 3339/],
  ["created_before=2026-11-21T10:00:00+02:00", "query created_before", /%2B/],
  ["created_before=2026-11-21T10:00:00", "query created_before", /RFC 3339/],
  ["external=crm", "query external", /external_id/],
];
for (const [query, field, says] of BAD) {
  test(`${query.slice(0, 40)} is refused by name`, async () => {
    const error = await expectError(await list(query), "INVALID_REQUEST");
    expect(error.details).toContainEqual({ field, message: expect.stringMatching(says) });
  });
}

test("a cursor is bound to its filters, in whichever order they are sent", async () => {
  const query = "metadata.season=2026&metadata.squad=f%C3%B6rsta%20laget&limit=1";
  const { next_cursor } = await expectSuccess(await list(query), 200, ImageListResponse);
  const turned = "metadata.squad=f%C3%B6rsta%20laget&metadata.season=2026";
  expect((await list(`${turned}&after=${next_cursor}`)).status).toBe(200);
  for (const changed of [
    "",
    `${turned}&current=true`,
    "metadata.season=2026",
    `${turned}&status=failed`,
    "external_id=crm%2F2",
  ])
    await expectError(await list(`${changed}&after=${next_cursor}`), "INVALID_REQUEST");
});

test("a deleted image is in no list, and leaves none of its metadata", async () => {
  const body = imageRequest({ player: { external_id: "gone" }, metadata: { secret: "x" } });
  const answer = await post(api.baseUrl, partner.testKey, body);
  const { image_id: id } = await expectSuccess(answer, 202, AcceptedImageResponse);
  expect(await walk("metadata.secret=x")).toEqual([id]);
  const { db, t } = api.store.read;
  const kept = async () => (await db.select().from(t.imageMetadata)).filter(({ imageId }) => imageId === id);
  expect(await kept()).toHaveLength(1);
  await forgetImage(api, { accountId: partner.account.id, environment: "test", id });
  expect(await walk("metadata.secret=x")).toEqual([]);
  expect(await walk("external_id=gone")).toEqual([]);
  expect(await kept()).toEqual([]);
});

test("where a player's current card is deleted, the one before it is current", async () => {
  const own = await testAccount(api);
  const ids: string[] = [];
  for (let n = 0; n < 3; n++) {
    const answer = await post(api.baseUrl, own.testKey, imageRequest({ player: { external_id: "again" } }));
    ids.push((await expectSuccess(answer, 202, AcceptedImageResponse)).image_id);
    api.clock.advance(1_000);
  }
  const current = async () =>
    (await expectSuccess(await list("current=true", own.testKey), 200, ImageListResponse)).images.map(
      ({ image_id }: Json) => image_id,
    );
  expect(await current()).toEqual([]);
  // Those of the other accounts are made first.
  while ((await current())[0] !== ids[1]) await finishNext(api, "completed", "test");
  expect(await current()).toEqual([ids[1] as string]);
  await forgetImage(api, { accountId: own.account.id, environment: "test", id: ids[1] as string });
  expect(await current()).toEqual([ids[0] as string]);
});

test("where few of many fit, a page looks at a bounded number, goes on, and a walk meets them all the same", async () => {
  const { db, t } = api.store.read;
  const [one] = await db.select().from(t.images).limit(1);
  const account = await testAccount(api);
  const many = Array.from({ length: MAX_LIST_EXAMINED + 40 }, (_, n): Image => {
    const end = n % 1_000 === 7 ? ({ state: "failed", failureCode: "X", completedAt: 9 } as const) : {};
    return {
      ...(one as Image),
      ...{ leaseToken: null, leaseExpiresAt: null, outputName: null, completedAt: null, failureCode: null },
      state: "queued",
      ...end,
      id: `img_many${String(n).padStart(5, "0")}`,
      accountId: account.account.id,
      request: imageRequest({ metadata: { all: "alike" } }),
      createdAt: 1_000 + Math.trunc(n / 3),
    };
  });
  await api.store.write("many", (tx) => insertImages(tx, many));
  const page = async (after = ""): Promise<Json> => {
    const query = `metadata.all=alike&status=failed&limit=10${after}`;
    return expectSuccess(await list(query, account.testKey), 200, ImageListResponse);
  };
  const first = await page();
  expect(first).toMatchObject({ has_more: true });
  expect(first.images.map(({ image_id }: Json) => image_id)).toEqual(["img_many02007", "img_many01007"]);
  const second = await page(`&after=${first.next_cursor}`);
  expect(second).toMatchObject({ has_more: false, next_cursor: null });
  expect(second.images.map(({ image_id }: Json) => image_id)).toEqual(["img_many00007"]);

  // The current card of a player who has as many is on one page.
  const current: Image = { ...(many[0] as Image), id: "img_current", createdAt: 2_000, state: "completed" };
  const finished = { completedAt: 2_001, outputName: "current.png", outputBytes: 1 };
  await api.store.write("current", (tx) => insertImages(tx, [{ ...current, ...finished }]));
  const asked = `current=true&external_id=${encodeURIComponent(current.externalId)}`;
  expect(await expectSuccess(await list(asked, account.testKey), 200, ImageListResponse)).toMatchObject({
    images: [{ image_id: "img_current" }],
    has_more: false,
  });
});
