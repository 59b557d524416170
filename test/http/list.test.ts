import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { ImageListResponse } from "../../src/http/schemas.ts";
import { listImagesQuery } from "../../src/store/images/image-reads.ts";
import { imageRequest, post, type TestAccount, testAccount } from "../harness.ts";
import { expectError, expectSuccess, finishNext, type Json, send, type TestApi, testApi } from "./api.ts";

let api: TestApi;
let partner: TestAccount;
let other: TestAccount;
beforeAll(async () => {
  api = await testApi();
  partner = await testAccount(api);
  other = await testAccount(api);
  // 25 images, some at the very same millisecond; 5 completed, 3 failed.
  for (let i = 0; i < 25; i++) {
    if (i % 3 === 0) api.clock.advance(1_000);
    await post(api.baseUrl, partner.testKey, imageRequest());
  }
  for (let i = 0; i < 8; i++) await finishNext(api, i < 5 ? "completed" : "refused", "test");
  await post(api.baseUrl, other.testKey, imageRequest());
});
afterAll(() => api.close());

const list = (query = "", key = partner.testKey) =>
  send(api, `/v1/images${query}`, { headers: { "X-API-Key": key } });
const page = async (query = "", key = partner.testKey): Promise<Json> =>
  expectSuccess(await list(query, key), 200, ImageListResponse);

async function walk(query: string, between?: () => Promise<unknown>): Promise<string[]> {
  const ids: string[] = [];
  let after = "";
  for (;;) {
    const { images, has_more, next_cursor } = await page(`?${query}${after}`);
    ids.push(...images.map((image: Json) => image.image_id));
    expect(next_cursor === null).toBe(!has_more);
    if (!has_more) return ids;
    after = `&after=${next_cursor}`;
    await between?.();
  }
}

test("20 images come by default, newest first", async () => {
  const { images, has_more } = await page();
  expect({ count: images.length, has_more }).toEqual({ count: 20, has_more: true });
  const times = images.map((image: Json) => image.created_at);
  expect(times).toEqual([...times].sort().reverse());
});

for (const limit of [1, 2, 7, 24, 25, 26, 100]) {
  test(`a walk with limit=${limit} meets every image once`, async () => {
    const ids = await walk(`limit=${limit}`);
    expect(ids).toHaveLength(25);
    expect(new Set(ids).size).toBe(25);
  });
}

test("the last page is full and says so when the images are just used up", async () => {
  expect(await page("?limit=25")).toMatchObject({ has_more: false, next_cursor: null });
});

for (const [status, count] of [
  ["completed", 5],
  ["failed", 3],
  ["processing", 17],
] as const) {
  test(`status=${status} walks through those ${count} only`, async () => {
    expect(await walk(`limit=2&status=${status}`)).toHaveLength(count);
    const { images } = await page(`?status=${status}`);
    expect(new Set(images.map((image: Json) => image.status))).toEqual(new Set([status]));
    expect(
      images.every((image: Json) => (image.completed_at === null) === (status === "processing")),
    ).toBeTrue();
  });
}

test("images that arrive during a walk neither repeat nor hide any", async () => {
  const before = await walk("limit=100");
  const during = await walk("limit=4", async () => {
    await post(api.baseUrl, partner.testKey, imageRequest());
    api.clock.advance(1);
    await post(api.baseUrl, partner.testKey, imageRequest());
  });
  expect(during).toEqual(before);
});

test("one partner's list never shows another's, nor test images to a live key", async () => {
  expect((await page("", other.testKey)).images).toHaveLength(1);
  expect(await page("", partner.liveKey)).toEqual({ images: [], has_more: false, next_cursor: null });
});

const BAD: [string, string][] = [
  ["?limit=0", "query limit"],
  ["?limit=101", "query limit"],
  ["?limit=-1", "query limit"],
  ["?limit=1.5", "query limit"],
  ["?limit=", "query limit"],
  ["?limit=ten", "query limit"],
  ["?limit=1e1", "query limit"],
  ["?limit=0x10", "query limit"],
  ["?limit=%2010", "query limit"],
  ["?limit=99999999999999999999", "query limit"],
  ["?limit=1&limit=2", "query limit"],
  ["?status=", "query status"],
  ["?status=queued", "query status"],
  ["?status=rendering", "query status"],
  ["?status=Completed", "query status"],
  ["?status=completed,failed", "query status"],
  ["?status=completed&status=failed", "query status"],
  ["?after=", "query after"],
  ["?after=x", "query after"],
  ["?after=img_000000000000000000000001", "query after"],
  ["?after=%00", "query after"],
  [`?after=${"A".repeat(3000)}`, "query after"],
  ["?offset=10", "query offset"],
  ["?page=2", "query page"],
  ["?Limit=2", "query Limit"],
  ["?__proto__=1", "query __proto__"],
];
for (const [query, field] of BAD) {
  test(`${query.slice(0, 40)} is refused by name`, async () => {
    const error = await expectError(await list(query), "INVALID_REQUEST");
    expect(error.details.map((detail: Json) => detail.field)).toContain(field);
    expect(error.message).toContain(field);
  });
}

test("every broken parameter is named at once", async () => {
  const error = await expectError(await list("?limit=0&status=x&after=y&z=1"), "INVALID_REQUEST");
  expect(error.details.map((detail: Json) => detail.field).sort()).toEqual([
    "query after",
    "query limit",
    "query status",
    "query z",
  ]);
});

test("a cursor is bound to its filter, its account and its environment, and not to its limit", async () => {
  const { next_cursor: all } = await page("?limit=2");
  const { next_cursor: filtered } = await page("?limit=2&status=processing");
  await expectError(await list(`?limit=2&status=completed&after=${all}`), "INVALID_REQUEST");
  await expectError(await list(`?limit=2&after=${filtered}`), "INVALID_REQUEST");
  await expectError(await list(`?after=${all}`, other.testKey), "INVALID_REQUEST");
  await expectError(await list(`?after=${all}`, partner.liveKey), "INVALID_REQUEST");
  expect((await page(`?limit=5&after=${all}`)).images).toHaveLength(5);
});

test("a cursor with one letter changed is refused", async () => {
  const { next_cursor: cursor } = await page("?limit=2");
  for (let at = 0; at < cursor.length; at++) {
    const changed = cursor.slice(0, at) + (cursor[at] === "A" ? "B" : "A") + cursor.slice(at + 1);
    await expectError(await list(`?after=${changed}`), "INVALID_REQUEST");
  }
});

test("every list walks one index, without sorting more than a page and without an offset", () => {
  const client = new Database(api.folder.database, { readonly: true });
  const scope = { accountId: partner.account.id, environment: "test", limit: 21 } as const;
  const position = { createdAt: 1, id: "img_1" };
  for (const status of [undefined, "completed", "failed", "processing"] as const) {
    for (const after of [undefined, position]) {
      const { sql, params } = listImagesQuery(api.store.read, { ...scope, status, after }).toSQL();
      const plan = client
        .query<{ detail: string }, never[]>(`EXPLAIN QUERY PLAN ${sql}`)
        .all(...(params as never[]))
        .map(({ detail }) => detail);
      expect(sql).not.toMatch(/offset/i);
      const index = status === undefined ? "images_list" : "images_list_state";
      const searches = plan.filter((line) => line.startsWith("SEARCH"));
      expect(searches).toHaveLength(status === "processing" ? 3 : 1);
      for (const line of searches) expect(line).toContain(`USING INDEX ${index} (`);
      // Of those in the making each state brings a page at most, and these few are merged.
      const few = /^(SCAN (waiting|queued|rendering)|USE TEMP B-TREE FOR ORDER BY)$/;
      const walked = status === "processing" ? plan.filter((line) => !few.test(line)) : plan;
      expect(walked.join("\n")).not.toMatch(/TEMP B-TREE|SCAN/);
    }
  }
  client.close();
});
