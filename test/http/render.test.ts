import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { eq, isNull } from "drizzle-orm";
import { signedCardUrl } from "../../clients/typescript/src/signing.ts";
import { forgetAged } from "../../src/app/images/forget-image.ts";
import { renderNextImage } from "../../src/app/images/render-image.ts";
import { renderNextTestImage } from "../../src/app/images/render-test-image.ts";
import { createKey, type KeyRules, revokeKey, suspendAccount } from "../../src/app/people/manage-account.ts";
import { changeRetention } from "../../src/app/people/manage-retention.ts";
import { makeSigningSecret, removeSigningSecret } from "../../src/app/people/manage-signing.ts";
import { RATE_LIMIT_PER_MINUTE } from "../../src/core/limits.ts";
import { renderSignature, signedText } from "../../src/core/render-address.ts";
import { buildDeps } from "../../src/service/deps.ts";
import { findKey } from "../../src/store/people/keys.ts";
import { picturesAfter, poolOf, RENDERED } from "../fakes.ts";
import { get, type TestAccount, testAccount } from "../harness.ts";
import { finishNext, type Json, send, type TestApi, testApi } from "./api.ts";

const DAY_MS = 86_400_000;

let api: TestApi;
beforeAll(async () => {
  api = await testApi({ env: { CARDPRESS_PRESETS: "club_card,match_day" } });
});
afterAll(() => api.close());

interface Signer {
  partner: TestAccount;
  keyId: string;
  secret: string;
}
let own: Signer;
beforeEach(async () => {
  own = await signer();
});

async function signer(rules: Partial<KeyRules> = {}, environment: "live" | "test" = "live"): Promise<Signer> {
  const partner = await testAccount(api, { credits: 10 });
  const { record } = await createKey(api, {
    accountId: partner.account.id,
    environment,
    name: "signs",
    by: null,
    ...rules,
  });
  return { partner, keyId: record.id, secret: (await makeSigningSecret(api, record)).secret };
}

const CARD = {
  preset: "club_card",
  external_id: "player-1",
  name: "Zoë O'Neil (c)",
  position: "ST",
  number: 9,
  skill_level: 87,
} as const;

const address = (change: object = {}, { keyId, secret } = own, days = 30) =>
  signedCardUrl(
    { ...CARD, photo: api.photo, ...change },
    { baseUrl: api.baseUrl, keyId, secret, expires: new Date(api.clock.now() + days * DAY_MS) },
  );

/** Opens an address whose card a render ends. */
async function opened(url: string, end: "completed" | "refused" = "completed"): Promise<Response> {
  const opening = fetch(url);
  while (!(await api.jobs.isWaiting("live", api.clock.now()))) await Bun.sleep(0);
  if (end === "refused") await finishNext(api, end);
  else {
    const [{ id } = { id: "" }] = await api.store.read.db
      .select({ id: api.store.read.t.images.id })
      .from(api.store.read.t.images)
      .where(isNull(api.store.read.t.images.completedAt));
    // As a render does it: the file is there before the image is completed.
    await api.blobs.put("picture", `${id}-0secret.png`, new TextEncoder().encode("PICTURE"));
    expect(await finishNext(api, end)).toBe(id);
  }
  return opening;
}

async function expectPlaceholder(response: Response, status: number, code: string) {
  expect([response.status, response.headers.get("x-error-code")]).toEqual([status, code]);
  expect(response.headers.get("content-type")).toBe("image/png");
  expect(response.headers.get("cache-control")).toBe("no-store");
  expect(
    Buffer.from(await response.bytes())
      .subarray(1, 4)
      .toString(),
  ).toBe("PNG");
}

const usage = async ({ partner } = own) =>
  ((await (await get(api.baseUrl, partner.liveKey, "/v1/usage?period=current_month")).json()) as Json).data;

test("an address makes its card at the first opening, gives it to everybody after, and is charged once", async () => {
  const first = await opened(await address());
  expect([first.status, await first.text()]).toEqual([200, "PICTURE"]);
  expect(first.headers.get("cache-control")).toBe("public, max-age=86400");
  const etag = first.headers.get("etag") ?? "";
  for (const days of [30, 200]) {
    const again = await fetch(await address({}, own, days));
    expect([again.status, await again.text()]).toEqual([200, "PICTURE"]);
  }
  const known = await fetch(await address(), { headers: { "If-None-Match": etag } });
  expect(known.status).toBe(304);
  // Caches keep nothing for longer than the address is good.
  const short = await fetch(await address({}, own, 0.5));
  expect(short.headers.get("cache-control")).toBe("public, max-age=43200");
  expect(await usage()).toMatchObject({ images_requested: 1, images_completed: 1, credits_used: 1 });
});

test("both sides of a card have an address each, and are charged once", async () => {
  const pool = poolOf(async (job, onStage) => {
    await picturesAfter(async () => {})(job, onStage);
    await Bun.write(job.outputPath, job.side === "back" ? "BACK" : "FRONT");
    return { kind: "done", file: RENDERED };
  });
  const front = fetch(await address({ side: "front" }));
  while (!(await api.jobs.isWaiting("live", api.clock.now()))) await Bun.sleep(0);
  await renderNextImage(buildDeps(api, { pool }), new AbortController().signal, () => {});
  expect(await (await front).text()).toBe("FRONT");
  expect(await (await fetch(await address({ side: "back" }))).text()).toBe("BACK");
  expect(await usage()).toMatchObject({ credits_used: 1 });
  for (const change of [{ side: "left" }, { side: "back", preset: "match_day" }]) {
    const answer = await fetch(await address(change), { headers: { Accept: "application/json" } });
    const { error } = (await answer.json()) as Json;
    expect([answer.status, error.details[0].field]).toEqual([400, "query side"]);
  }
});

test("a flood of one address makes one card, which all of it gets", async () => {
  const url = await address({ external_id: "flood" });
  const openings = Array.from({ length: 200 }, () => fetch(url));
  const last = await opened(url);
  for (const response of [last, ...(await Promise.all(openings))])
    expect([response.status, await response.text()]).toEqual([200, "PICTURE"]);
  expect(await usage()).toMatchObject({ images_requested: 1, credits_used: 1 });
});

test("the card has the words of its address, and the account's list and log of requests show it", async () => {
  await opened(await address({ "metadata.mail": "spring", primary_color: "C8102E" }));
  const listed = await get(api.baseUrl, own.partner.liveKey, "/v1/images?external_id=player-1");
  const [image] = ((await listed.json()) as Json).data.images;
  expect(image).toMatchObject({ name: CARD.name, metadata: { mail: "spring" }, status: "completed" });
  await api.requests.flush();
  const { db, t } = api.store.read;
  const rows = (await db.select().from(t.requestLog)).filter(({ keyId }) => keyId === own.keyId);
  expect(rows).toMatchObject([{ path: "/v1/render/club_card", status: 200, externalId: "player-1" }]);
});

test("an address however it is written again stays right, and with anything changed is refused", async () => {
  const url = new URL(await address({ external_id: "rewritten" }));
  await opened(String(url));
  const shuffled = new URLSearchParams([...url.searchParams].reverse());
  expect((await fetch(`${url.origin}${url.pathname}?${shuffled}`)).status).toBe(200);
  for (const [name] of url.searchParams) {
    const other = new URL(url);
    other.searchParams.set(name, `${other.searchParams.get(name)}1`);
    await expectPlaceholder(await fetch(other), 403, "KEY_NOT_ALLOWED");
  }
  await expectPlaceholder(
    await fetch(String(url).replace("club_card", "club_cards")),
    403,
    "KEY_NOT_ALLOWED",
  );
  await expectPlaceholder(await fetch(`${url}&w=256`), 403, "KEY_NOT_ALLOWED");
  await expectPlaceholder(await fetch(`${api.baseUrl}/v1/render/club_card`), 403, "KEY_NOT_ALLOWED");
});

test("a width that the card cannot have is refused before the card is made and paid for", async () => {
  for (const [width, change] of [
    ["300", {}],
    ["1024", { width: 512 }],
  ] as const) {
    const url = new URL(await address({ external_id: "wide", ...change }));
    url.searchParams.delete("sig");
    url.searchParams.set("w", width);
    url.searchParams.set("sig", renderSignature(own.secret, signedText(url.pathname, url.searchParams)));
    await expectPlaceholder(await fetch(url), 400, "INVALID_REQUEST");
  }
  expect(await usage()).toMatchObject({ images_requested: 0 });
});

test("what a picture is known by does not say under which name it lies", async () => {
  const tag = (await opened(await address({ external_id: "tagged" }))).headers.get("etag") ?? "";
  expect(tag).toMatch(/^"[0-9a-f]{32}"$/);
});

test("an address ends at its second, and none is good for longer than a year", async () => {
  const soon = await address({ external_id: "soon" }, own, 1);
  await opened(soon);
  api.clock.advance(DAY_MS - 1);
  expect((await fetch(soon)).status).toBe(200);
  api.clock.advance(1);
  await expectPlaceholder(await fetch(soon), 410, "PICTURE_GONE");
  await expectPlaceholder(await fetch(await address({}, own, 400)), 400, "INVALID_REQUEST");
});

test("revocation, expiry, scopes, another or no secret, and suspension of the key's account hold at once", async () => {
  const reader = await signer({ scopes: ["read", "delete", "webhooks"] });
  await expectPlaceholder(await fetch(await address({}, reader)), 403, "KEY_NOT_ALLOWED");
  const brief = await signer({ expiresAt: api.clock.now() + 1_000 });
  const url = await address({}, brief);
  expect((await opened(url)).status).toBe(200);
  api.clock.advance(1_000);
  await expectPlaceholder(await fetch(url), 403, "KEY_NOT_ALLOWED");

  const changes: ((signs: Signer) => Promise<unknown>)[] = [
    ({ keyId }) => revokeKey(api, keyId),
    ({ keyId }) => makeSigningSecret(api, { id: keyId }),
    ({ keyId }) => removeSigningSecret(api, { id: keyId }),
    ({ partner }) => suspendAccount(api, partner.account.id, null),
  ];
  for (const change of changes) {
    const signs = await signer();
    const good = await address({}, signs);
    expect((await opened(good)).status).toBe(200);
    await change(signs);
    expect((await fetch(good)).status).toBe(403);
  }
});

test("a key's list of addresses is of its calls, not of those who look at a picture", async () => {
  const far = await signer({ addresses: ["203.0.113.7"] });
  expect((await opened(await address({}, far))).status).toBe(200);
});

test("a card that moves is not made while a page waits, and the refusal says what makes it", async () => {
  const wrong = await address({ external_id: "moving", format: "webm" });
  const answer = await fetch(wrong, { headers: { Accept: "application/json" } });
  expect(answer.status).toBe(400);
  expect(((await answer.json()) as Json).error.details).toEqual([
    { field: "query format", message: expect.stringContaining("Make it by POST /v1/images") },
  ]);
});

test("what is wrong is answered with a picture and its status, or in words to whoever accepts JSON", async () => {
  const wrong = await address({ number: 0, position: "XX", colour: "red" });
  await expectPlaceholder(await fetch(wrong), 400, "INVALID_REQUEST");
  const answer = await fetch(wrong, { headers: { Accept: "application/json" } });
  const { error } = (await answer.json()) as Json;
  expect(answer.status).toBe(400);
  expect(error.details.map(({ field }: Json) => field).sort()).toEqual([
    "query colour",
    "query number",
    "query position",
  ]);
  const poor = await signer();
  for (let spent = 0; spent < 10; spent += 1) await opened(await address({ number: spent + 1 }, poor));
  await expectPlaceholder(await fetch(await address({ number: 99 }, poor)), 402, "INSUFFICIENT_CREDITS");
});

/** What an address is refused for, in words. */
const refusalOf = async (url: string): Promise<Json> =>
  ((await (await fetch(url, { headers: { Accept: "application/json" } })).json()) as Json).error;

test("a program can tell a wrong signature, an unknown key and an expired address from other refusals", async () => {
  const good = await address({ external_id: "told-apart" }, own, 1);
  const faults: [url: string, field: string, code: string][] = [
    [`${good}0`, "query sig", "signature_mismatch"],
    [good.replace(own.keyId, "key_nobody"), "query key", "signing_key_unknown"],
  ];
  for (const [url, field, code] of faults) {
    const error = await refusalOf(url);
    expect([error.code, error.details]).toEqual([
      "KEY_NOT_ALLOWED",
      [{ field, code, message: expect.any(String) }],
    ]);
  }
  api.clock.advance(DAY_MS);
  const error = await refusalOf(good);
  expect([error.code, error.details[0].field, error.details[0].code]).toEqual([
    "PICTURE_GONE",
    "query exp",
    "address_expired",
  ]);
});

test("the photo that cannot be used, and the player who may not be shown, are named as the address names them", async () => {
  const gone = await refusalOf(await address({ photo: api.photos.url("gone-too.jpg") }));
  expect(gone).toMatchObject({ code: "UNSUPPORTED_IMAGE_SOURCE", details: [{ field: "query photo" }] });
  expect(gone.message).toStartWith("The photo in query photo cannot be used.");
  await send(api, "/v1/players/withdrawn/consent", {
    method: "DELETE",
    headers: { "X-API-Key": own.partner.liveKey },
  });
  const { details } = await refusalOf(await address({ external_id: "withdrawn" }));
  expect(details).toMatchObject([{ field: "query external_id", code: "consent_withdrawn" }]);
});

test("the budget of cards on demand goes down with each that is made, and not with one that is looked at", async () => {
  const left = (response: Response) => Number(response.headers.get("x-ratelimit-remaining"));
  const first = await opened(await address({ external_id: "first" }));
  expect(left(first)).toBe(RATE_LIMIT_PER_MINUTE.scale - 1);
  expect(left(await opened(await address({ external_id: "second" })))).toBe(left(first) - 1);
  expect(left(await fetch(await address({ external_id: "first" })))).toBe(left(first) - 1);
});

test("a photo that is not there is asked for once a minute, and a card that failed is not made again", async () => {
  const missing = await address({ photo: api.photos.url("gone.jpg") });
  const asked = () => api.photos.requests.filter((name) => name === "gone.jpg").length;
  for (let i = 0; i < 3; i += 1)
    await expectPlaceholder(await fetch(missing), 422, "UNSUPPORTED_IMAGE_SOURCE");
  expect(asked()).toBe(1);
  api.clock.advance(60_001);
  await expectPlaceholder(await fetch(missing), 422, "UNSUPPORTED_IMAGE_SOURCE");
  expect(asked()).toBe(2);

  const failing = await address({ external_id: "crowd" });
  await expectPlaceholder(await opened(failing, "refused"), 422, "UNSUPPORTED_IMAGE_SOURCE");
  await expectPlaceholder(await fetch(failing), 422, "UNSUPPORTED_IMAGE_SOURCE");
  api.clock.advance(3 * DAY_MS + 1);
  expect((await opened(failing)).status).toBe(200);
  expect(await usage()).toMatchObject({ images_failed: 1, images_completed: 1, credits_used: 1 });
});

test("a deleted player does not come back by an address; an expired picture is made again, and charged", async () => {
  const url = await address({ external_id: "leaves" }, own, 300);
  await opened(url);
  api.clock.advance(31 * DAY_MS);
  expect((await opened(url)).status).toBe(200);
  expect(await usage()).toMatchObject({ images_requested: 1 });
  await send(api, "/v1/players/leaves", { method: "DELETE", headers: { "X-API-Key": own.partner.liveKey } });
  await expectPlaceholder(await fetch(url), 410, "PICTURE_GONE");
  api.clock.advance(31 * DAY_MS);
  await expectPlaceholder(await fetch(url), 410, "PICTURE_GONE");
});

test("what is deleted by its age alone is made again at the next opening, and charged; what somebody deletes then is gone", async () => {
  await changeRetention(api, own.partner.account.id, { retentionDays: 5, forgetAfterDays: 5 }, null);
  const url = await address({ external_id: "ages" }, own, 300);
  expect((await opened(url)).status).toBe(200);
  api.clock.advance(6 * DAY_MS);
  await forgetAged(api);
  expect((await opened(url)).status).toBe(200);
  expect((await fetch(url)).status).toBe(200);
  expect(await usage()).toMatchObject({ images_completed: 2, credits_used: 2 });
  await send(api, "/v1/players/ages", { method: "DELETE", headers: { "X-API-Key": own.partner.liveKey } });
  api.clock.advance(6 * DAY_MS);
  await forgetAged(api);
  await expectPlaceholder(await fetch(url), 410, "PICTURE_GONE");
});

test("an expired card that cannot be made anew is still known, so that its deletion holds", async () => {
  const url = await address({ external_id: "broke" }, own, 300);
  await opened(url);
  api.clock.advance(31 * DAY_MS);
  const { db, t } = api.store.read;
  await api.store.write("test", (tx) =>
    tx.db
      .update(t.accounts)
      .set({ creditsPlan: 0, creditsTopup: 0, creditLimit: 0 })
      .where(eq(t.accounts.id, own.partner.account.id)),
  );
  await expectPlaceholder(await fetch(url), 402, "INSUFFICIENT_CREDITS");
  await send(api, "/v1/players/broke", { method: "DELETE", headers: { "X-API-Key": own.partner.liveKey } });
  expect(await db.select().from(t.idempotencyRecords)).not.toEqual([]);
  await expectPlaceholder(await fetch(url), 410, "PICTURE_GONE");
});

test("cards that are made count against a budget of their own, which leaves the key its calls; wrong signatures against the caller's", async () => {
  const other = await signer();
  const { account } = other.partner;
  const limit = RATE_LIMIT_PER_MINUTE.scale;
  for (let calls = 0; calls < limit; calls += 1) await api.limiter.take(`render:${account.id}:live`, limit);
  await expectPlaceholder(await fetch(await address({}, other)), 429, "RATE_LIMIT_EXCEEDED");
  expect((await get(api.baseUrl, other.partner.liveKey, "/v1/usage?period=current_month")).status).toBe(200);
  const wrong = (await address()).replace(/sig=./, "sig=x");
  let status = 403;
  for (let tries = 0; tries < 200 && status === 403; tries += 1) status = (await fetch(wrong)).status;
  expect(status).toBe(429);
  api.clock.advance(60_000);
});

test("a test key's addresses give test pictures, for nothing", async () => {
  const test = await signer({}, "test");
  const opening = fetch(await address({ format: "jpeg" }, test));
  while (!(await api.jobs.isWaiting("test", api.clock.now()))) await Bun.sleep(0);
  await renderNextTestImage(api, new AbortController().signal, () => {});
  const response = await opening;
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "image/jpeg"]);
  expect((await usage(test)).credits_used).toBe(0);
});

test("the secret is stored sealed, and signs what a key's id belongs to alone", async () => {
  const key = await findKey(api.store.read, own.keyId);
  expect(key?.signingSecret).not.toContain(own.secret);
  const other = await signer();
  await expectPlaceholder(
    await fetch(await address({}, { ...own, keyId: other.keyId })),
    403,
    "KEY_NOT_ALLOWED",
  );
});

test("the signature is that of the text in the guide", () => {
  const text = signedText("/v1/render/club_card", [
    ["name", "Zoë O'Neil (c)"],
    ["exp", "1798761600"],
    ["sig", "left out"],
    ["fields.a", "*"],
    ["fields.a.b", "~"],
  ]);
  expect(text).toBe(
    "/v1/render/club_card?exp=1798761600&fields.a=%2A&fields.a.b=~&name=Zo%C3%AB%20O%27Neil%20%28c%29",
  );
  expect(renderSignature("cps_x", text)).toBe(createHmac("sha256", "cps_x").update(text).digest("hex"));
});
