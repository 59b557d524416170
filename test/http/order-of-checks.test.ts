import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { resumeAccount, suspendAccount } from "../../src/app/people/manage-account.ts";
import type { ErrorCode } from "../../src/core/errors.ts";
import { imageRequest, type TestAccount, testAccount } from "../harness.ts";
import { expectError, finishNext, send, type TestApi, testApi } from "./api.ts";

// A request with many faults is refused for the first in the documented order; fixed one by one, it meets
// them all.

let api: TestApi;
let partner: TestAccount;
beforeAll(async () => {
  api = await testApi();
});
afterAll(() => api.close());
beforeEach(async () => {
  api.clock.advance(60_000);
  partner = await testAccount(api, { tier: "starter", credits: 1 });
});

interface Faults {
  key?: string;
  type?: string;
  idempotencyKey?: string;
  number?: unknown;
  photo?: string;
}

function create({ key = partner.liveKey, type = "application/json", ...rest }: Faults): Promise<Response> {
  const { idempotencyKey = "free", number = 9, photo = api.photo } = rest;
  const body = imageRequest({ player: { source_image_url: photo } });
  return send(api, "/v1/images", {
    method: "POST",
    headers: { "X-API-Key": key, "Content-Type": type, "Idempotency-Key": idempotencyKey },
    body: JSON.stringify({ ...body, player: { ...body.player, number } }),
  });
}

test("the documented order of checks holds, from the key to the photo", async () => {
  const missing = () => `${api.photos.origin}/missing.png`;
  expect((await create({ idempotencyKey: "used" })).status).toBe(202);
  await finishNext(api, "completed");
  await suspendAccount(api, partner.account.id, null);
  const spend = async () => {
    for (let i = 0; i < 130; i++) {
      await send(api, "/v1/images/img_x", { headers: { "X-API-Key": partner.liveKey } });
    }
  };
  const faults: Faults = {
    key: "sk_live_wrong",
    type: "text/plain",
    idempotencyKey: "used",
    number: "9",
    photo: missing(),
  };
  const steps: [ErrorCode, () => Promise<unknown>][] = [
    ["INVALID_API_KEY", async () => void delete faults.key],
    [
      "PARTNER_SUSPENDED",
      async () => {
        await resumeAccount(api, partner.account.id);
        await spend();
      },
    ],
    ["RATE_LIMIT_EXCEEDED", async () => api.clock.advance(60_000)],
    ["UNSUPPORTED_MEDIA_TYPE", async () => void delete faults.type],
    ["INVALID_REQUEST", async () => void delete faults.number],
    ["IDEMPOTENCY_KEY_REUSED_WITH_DIFFERENT_PAYLOAD", async () => void delete faults.idempotencyKey],
    [
      "INSUFFICIENT_CREDITS",
      async () => {
        partner = await testAccount(api, { credits: 1 });
      },
    ],
    ["UNSUPPORTED_IMAGE_SOURCE", async () => void delete faults.photo],
  ];
  for (const [code, fix] of steps) {
    await expectError(await create(faults), code);
    await fix();
  }
  expect((await create(faults)).status).toBe(202);
  await finishNext(api, "completed");
});

test("without credits no photo is fetched", async () => {
  const poor = await testAccount(api, { credits: 0 });
  const fetched = api.photos.requests.length;
  const error = await expectError(await create({ key: poor.liveKey }), "INSUFFICIENT_CREDITS");
  // Its plan brings none.
  expect(error.credits).toEqual({ needed: 1, remaining: 0, renews_at: null });
  expect(api.photos.requests.length).toBe(fetched);
});

test("a suspended account's requests take nothing from its budget", async () => {
  await suspendAccount(api, partner.account.id, null);
  for (let i = 0; i < 130; i++) expect((await create({})).status).toBe(403);
  await resumeAccount(api, partner.account.id);
  expect((await create({})).status).toBe(202);
  await finishNext(api, "completed");
});
