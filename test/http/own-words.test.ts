import { afterAll, beforeAll, expect, test } from "bun:test";
import { AcceptedBatchResponse, BatchResponse } from "../../src/http/batch-schemas.ts";
import { AcceptedImageResponse, ImageListResponse, ImageResponse } from "../../src/http/schemas.ts";
import { imageRequest, post, type TestAccount, testAccount } from "../harness.ts";
import { expectSuccess, finishNext, type Json, send, type TestApi, testApi } from "./api.ts";

// What a partner sent comes back with every answer and event, so that a partner stores none of our ids.

let api: TestApi;
let partner: TestAccount;
beforeAll(async () => {
  api = await testApi();
  partner = await testAccount(api);
});
afterAll(() => api.close());

const headers = () => ({ "X-API-Key": partner.testKey });
const view = async (id: string): Promise<Json> =>
  expectSuccess(await send(api, `/v1/images/${id}`, { headers: headers() }), 200, ImageResponse);
const listed = async (): Promise<Json[]> =>
  (await expectSuccess(await send(api, "/v1/images", { headers: headers() }), 200, ImageListResponse)).images;
async function eventData(imageId: string): Promise<Json> {
  const { db, t } = api.store.read;
  const event = (await db.select().from(t.webhookEvents)).find(({ subject }) => subject === imageId);
  return JSON.parse(event?.body ?? "null")?.data;
}

const own = ({ external_id, name, metadata, batch_id, style }: Json) => ({
  external_id,
  name,
  metadata,
  batch_id,
  style,
});

const SENT = {
  player: { external_id: "crm/42", name: "\u0141ukasz \u201cUno\u201d" },
  style: { width: 600, background_theme: "ice", format: "webp" as const },
  metadata: { season: "2026", "crm id": "42" },
};
const SAID = {
  external_id: "crm/42",
  name: "\u0141ukasz \u201cUno\u201d",
  metadata: SENT.metadata,
  batch_id: null,
  style: { preset: "club_card", ...SENT.style },
};

for (const end of ["completed", "refused"] as const) {
  test(`an image that is ${end} says the partner's own words in its views, in the list and in its event`, async () => {
    const answer = await post(api.baseUrl, partner.testKey, imageRequest(SENT));
    const { image_id } = await expectSuccess(answer, 202, AcceptedImageResponse);
    expect(own(await view(image_id))).toEqual(SAID);
    await finishNext(api, end, "test");
    expect(own(await view(image_id))).toEqual(SAID);
    expect(own((await listed())[0])).toEqual(SAID);
    expect(await eventData(image_id)).toEqual(await view(image_id));
  });
}

test("what was not sent is null, and the style is as it was sent", async () => {
  const answer = await post(api.baseUrl, partner.testKey, imageRequest());
  const { image_id } = await expectSuccess(answer, 202, AcceptedImageResponse);
  expect(own(await view(image_id))).toEqual({
    external_id: "player-1",
    name: "Maya Okafor",
    metadata: null,
    batch_id: null,
    style: { preset: "club_card" },
  });
  await finishNext(api, "completed", "test");
});

test("a card names its batch; one that two batches ask for, the first", async () => {
  const cards = ["a", "b"].map((external_id) => imageRequest({ player: { external_id } }));
  const batch = async (): Promise<Json> => {
    const response = await send(api, "/v1/batches", {
      method: "POST",
      headers: { ...headers(), "Content-Type": "application/json" },
      body: JSON.stringify({ cards }),
    });
    return expectSuccess(response, 202, AcceptedBatchResponse);
  };
  const first = await batch();
  api.clock.advance(1_000);
  const second = await batch();
  expect(second.images.map(({ image_id }: Json) => image_id)).toEqual(
    first.images.map(({ image_id }: Json) => image_id),
  );
  const [one, other] = [await finishNext(api, "completed", "test"), await finishNext(api, "refused", "test")];
  for (const id of [one, other]) {
    expect((await view(id)).batch_id).toBe(first.batch_id);
    expect((await eventData(id)).batch_id).toBe(first.batch_id);
    expect((await listed()).find(({ image_id }) => image_id === id).batch_id).toBe(first.batch_id);
  }
  const response = await send(api, `/v1/batches/${first.batch_id}`, { headers: headers() });
  expect((await expectSuccess(response, 200, BatchResponse)).completed).toBe(1);
});
