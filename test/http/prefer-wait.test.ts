import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { endings } from "../../src/app/images/endings.ts";
import { MAX_WAITING_PER_ACCOUNT } from "../../src/core/picture-limits.ts";
import { preferredWait } from "../../src/http/created.ts";
import { AcceptedImageResponse, ImageResponse } from "../../src/http/schemas.ts";
import { imageRequest, post, type TestAccount, testAccount } from "../harness.ts";
import { expectSuccess, finishNext, type Json, send, type TestApi, testApi } from "./api.ts";

let api: TestApi;
let partner: TestAccount;
beforeAll(async () => {
  api = await testApi();
  partner = await testAccount(api);
});
afterAll(() => api.close());

const create = (headers: Record<string, string>, signal?: AbortSignal) =>
  post(api.baseUrl, partner.testKey, imageRequest(), headers, signal);

/** Once the image of the newest create is accepted. */
async function accepted(): Promise<void> {
  while (!(await api.jobs.isWaiting("test", api.clock.now()))) await Bun.sleep(0);
}

for (const end of ["completed", "refused"] as const) {
  test(`a create that prefers to wait is answered with 200 and the image once it is ${end}`, async () => {
    const waiting = create({ Prefer: "wait=20", "Idempotency-Key": `wait-${end}` });
    await accepted();
    const id = await finishNext(api, end, "test");
    const response = await waiting;
    const image = await expectSuccess(response, 200, ImageResponse);
    expect(image).toMatchObject({ image_id: id, status: end === "completed" ? "completed" : "failed" });
    expect(response.headers.get("preference-applied")).toBe("wait=20");
    expect(response.headers.get("location")).toBe(`/v1/images/${id}`);
    expect(response.headers.get("idempotent-replayed")).toBeNull();
  });

  test(`sent again, it is answered so at once, and without the preference with the first 202`, async () => {
    const again = await create({ Prefer: "wait=20", "Idempotency-Key": `wait-${end}` });
    const image = await expectSuccess(again, 200, ImageResponse);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    const plain = await create({ "Idempotency-Key": `wait-${end}` });
    expect((await expectSuccess(plain, 202, AcceptedImageResponse)).image_id).toBe(image.image_id);
    expect(plain.headers.get("preference-applied")).toBeNull();
  });
}

test("an image that is not ready in time is answered with 202, and a replay waits for it", async () => {
  const key = { "Idempotency-Key": "late" };
  const late = await create({ Prefer: "respond-async, wait=1", ...key });
  const { image_id } = await expectSuccess(late, 202, AcceptedImageResponse);
  expect(late.headers.get("preference-applied")).toBeNull();
  const replay = create({ Prefer: "wait=20", ...key });
  await finishNext(api, "completed", "test");
  expect(await expectSuccess(await replay, 200, ImageResponse)).toMatchObject({ image_id });
});

test("whoever leaves while waiting cancels nothing", async () => {
  const leaving = new AbortController();
  const waiting = create({ Prefer: "wait=20" }, leaving.signal);
  await accepted();
  leaving.abort();
  await waiting.catch(() => {});
  const id = await finishNext(api, "completed", "test");
  const response = await send(api, `/v1/images/${id}`, { headers: { "X-API-Key": partner.testKey } });
  expect(await expectSuccess(response, 200, ImageResponse)).toMatchObject({ status: "completed" });
});

test("a remake waits too; an image deleted while it is waited for is answered with its 202", async () => {
  const first = await expectSuccess(await create({}), 202, AcceptedImageResponse);
  await finishNext(api, "completed", "test");
  const waiting = send(api, `/v1/images/${first.image_id}/remake`, {
    method: "POST",
    headers: {
      "X-API-Key": partner.testKey,
      "Idempotency-Key": "again",
      "Content-Type": "application/json",
      Prefer: "wait=20",
    },
    body: "{}",
  });
  await accepted();
  const listed = await send(api, "/v1/images?status=processing", {
    headers: { "X-API-Key": partner.testKey },
  });
  const [{ image_id }] = ((await listed.json()) as Json).data.images;
  await send(api, `/v1/images/${image_id}`, { method: "DELETE", headers: { "X-API-Key": partner.testKey } });
  expect(await expectSuccess(await waiting, 202, AcceptedImageResponse)).toMatchObject({ image_id });
});

test("a view that prefers to wait is answered once the image has ended, and at once where it has", async () => {
  const { image_id } = await expectSuccess(await create({}), 202, AcceptedImageResponse);
  const view = (prefer: string) =>
    send(api, `/v1/images/${image_id}`, { headers: { "X-API-Key": partner.testKey, Prefer: prefer } });
  const early = await view("wait=1");
  expect(await expectSuccess(early, 200, ImageResponse)).toMatchObject({ status: "processing" });
  expect(early.headers.get("preference-applied")).toBeNull();
  const waiting = view("wait=20");
  await finishNext(api, "completed", "test");
  for (const response of [await waiting, await view("wait=20")]) {
    expect(response.headers.get("preference-applied")).toBe("wait=20");
    expect(await expectSuccess(response, 200, ImageResponse)).toMatchObject({
      image_id,
      status: "completed",
    });
  }
});

test.each([
  ["wait=5", 5],
  ['WAIT="7"', 7],
  ["respond-async, wait=3; x=1", 3],
  ["wait = 4", 4],
  ["wait=21", 20],
  ["wait=2, wait=9", 2],
  ["wait=0", 0],
  ["wait", 0],
  ["wait=", 0],
  ["wait=soon", 0],
  ["wait=-1", 0],
  ["wait=1.5", 0],
  ["await=9", 0],
  [null, 0],
])("Prefer: %s waits %d s", (prefer, seconds) => {
  expect(preferredWait(prefer)).toBe(seconds);
});

describe("those who wait", () => {
  const options = (change: object = {}) => ({
    accountId: "a",
    ms: 1_000_000,
    signal: new AbortController().signal,
    isOver: async () => false,
    ...change,
  });

  test("are notified of their image alone, and of one that ended before they began", async () => {
    const ends = endings();
    let left = "nobody";
    const one = ends.wait("img_1", options()).then(() => (left = "one"));
    ends.notify(["img_2"]);
    await ends.wait("img_3", options({ isOver: async () => true }));
    expect(left).toBe("nobody");
    ends.notify(["img_1"]);
    await one;
  });

  test("are at most so many of an account, whose next is not kept waiting, until one leaves", async () => {
    const ends = endings();
    const leaving = new AbortController();
    const first = ends.wait("img", options({ signal: leaving.signal }));
    const others = Array.from({ length: MAX_WAITING_PER_ACCOUNT - 1 }, () => ends.wait("img", options()));
    await ends.wait("img", options());
    leaving.abort();
    await first;
    const next = ends.wait("other", options());
    expect(await Promise.race([next.then(() => "over"), Promise.resolve("waits")])).toBe("waits");
    const elsewhere = ends.wait("img", options({ accountId: "b" }));
    ends.close();
    await Promise.all([...others, next, elsewhere]);
    await ends.wait("img", options());
  });

  test("find out by themselves what another server has ended", async () => {
    let asked = 0;
    await endings({ others: true }).wait("img", options({ isOver: async () => ++asked > 1 }));
    expect(asked).toBe(2);
  });
});
