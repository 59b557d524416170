import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { join } from "node:path";
import { resumeAccount, revokeKey, suspendAccount } from "../../src/app/people/manage-account.ts";
import { formatApiKey } from "../../src/core/api-key.ts";
import { keyAuthenticator } from "../../src/http/auth.ts";
import type { Exchange } from "../../src/http/exchange.ts";
import { UsageResponse } from "../../src/http/schemas.ts";
import { listKeys } from "../../src/store/people/keys.ts";
import { imageRequest, post, testAccount } from "../harness.ts";
import { ENGINE } from "../postgres.ts";
import { expectError, expectStandardHeaders, expectSuccess, send, type TestApi, testApi } from "./api.ts";

let api: TestApi;
beforeAll(async () => {
  api = await testApi();
});
afterAll(() => api.close());
// Every test has its own rate limit window, so that their 401s do not add up.
beforeEach(() => api.clock.advance(60_000));

const USAGE = "/v1/usage?period=current_month";
const withKey = (key: string, path = USAGE) => send(api, path, { headers: { "X-API-Key": key } });

const flip = (text: string, at: number) =>
  text.slice(0, at) + (text[at] === "a" ? "b" : "a") + text.slice(at + 1);

const WRONG_KEYS: Record<string, (key: string) => string> = {
  empty: () => "",
  "one letter": () => "x",
  "without its prefix": (key) => key.slice(8),
  "with a prefix of another service": (key) => key.replace("sk_live_", "pk_live_"),
  "with the other environment's prefix": (key) => key.replace("sk_live_", "sk_test_"),
  "in capitals": (key) => key.toUpperCase(),
  "cut short": (key) => key.slice(0, -1),
  "with a letter too many": (key) => `${key}a`,
  "with a wrong checksum": (key) => flip(key, key.length - 1),
  "with a changed secret": (key) => flip(key, 20),
  "well formed but unknown": () => formatApiKey("live", new Uint8Array(32).fill(7)),
  "in quotes": (key) => `"${key}"`,
  "as a Bearer token": (key) => `Bearer ${key}`,
  "sent twice": (key) => `${key}, ${key}`,
  "very long": (key) => key + "x".repeat(5000),
  "with SQL in it": () => "sk_live_' OR 1=1 --",
};
for (const [name, change] of Object.entries(WRONG_KEYS)) {
  for (const [method, path] of [
    ["GET", USAGE],
    ["GET", "/v1/images"],
    ["GET", "/v1/images/img_x"],
    ["POST", "/v1/images"],
  ] as const) {
    test(`${method} ${path}: a key ${name} is 401`, async () => {
      const { liveKey } = await testAccount(api);
      const response = await send(api, path, { method, headers: { "X-API-Key": change(liveKey) } });
      const error = await expectError(response, "INVALID_API_KEY");
      expect(error.message).not.toContain(liveKey);
    });
  }
}

test("a missing, a mistyped and an unknown key are told apart, an unknown and a revoked one are not", async () => {
  const { account, liveKey } = await testAccount(api);
  const said = async (key: string) => (await expectError(await withKey(key), "INVALID_API_KEY")).message;
  const unknown = await said(formatApiKey("live", new Uint8Array(32).fill(9)));
  expect(await said("")).toContain("missing");
  expect(await said(liveKey.slice(0, -1))).toContain("no whole key");
  const live = (await listKeys(api.store.read, account.id)).find((key) => key.environment === "live");
  await revokeKey(api, live?.id ?? "");
  expect(await said(liveKey)).toBe(unknown);
});

for (const headers of [{}, { Authorization: "KEY" }, { "X-Api-Token": "KEY" }]) {
  test(`a key in ${Object.keys(headers)[0] ?? "no header"} is 401`, async () => {
    const { liveKey } = await testAccount(api);
    const given = Object.fromEntries(Object.keys(headers).map((name) => [name, liveKey]));
    await expectError(await send(api, USAGE, { headers: given }), "INVALID_API_KEY");
  });
}

test("a key in the query is 401: addresses end up in logs", async () => {
  const { liveKey } = await testAccount(api);
  await expectError(await send(api, `${USAGE}&api_key=${liveKey}`), "INVALID_API_KEY");
});

// The command line shares a data folder with the service.
test.skipIf(ENGINE === "postgres")(
  "a key that the command line revokes in another process is 401 on its next request",
  async () => {
    const { account, liveKey, testKey } = await testAccount(api);
    await expectSuccess(await withKey(liveKey), 200, UsageResponse);
    const live = (await listKeys(api.store.read, account.id)).find((key) => key.environment === "live");
    const child = Bun.spawn(
      [
        process.execPath,
        join(import.meta.dir, "../../src/main.ts"),
        "key",
        "revoke",
        "--key",
        live?.id ?? "",
        "--json",
      ],
      {
        env: { ...process.env, CARDPRESS_DATA_DIR: api.dataDir },
        stdout: "pipe",
      },
    );
    expect(await child.exited).toBe(0);
    await expectError(await withKey(liveKey), "INVALID_API_KEY");
    await expectSuccess(await withKey(testKey), 200, UsageResponse);
  },
);

test("a suspended account is 403 on its next request, and answered again once it is resumed", async () => {
  const { account, liveKey, testKey } = await testAccount(api);
  await suspendAccount(api, account.id, "unpaid");
  for (const key of [liveKey, testKey]) {
    for (const path of [USAGE, "/v1/images", "/v1/images/img_x"]) {
      const error = await expectError(await withKey(key, path), "PARTNER_SUSPENDED");
      expect(error.message).not.toContain("unpaid");
    }
    await expectError(await post(api.baseUrl, key, imageRequest()), "PARTNER_SUSPENDED");
  }
  await resumeAccount(api, account.id);
  await expectSuccess(await withKey(liveKey), 200, UsageResponse);
});

test("refused keys from one IPv6 network add up, those from another do not, nor does IPv4's way of writing matter", async () => {
  const leftFor = async (address: string) =>
    expectStandardHeaders(await send(api, USAGE, { headers: { "X-Forwarded-For": address } })).remaining;
  const addresses = [
    "2001:db8:1:1::1",
    "2001:db8:1:1:ffff::2",
    "2001:db8:1:2::1",
    "203.0.113.9",
    "::ffff:203.0.113.9",
  ];
  const left: number[] = [];
  for (const address of addresses) left.push(await leftFor(address));
  expect(left).toEqual([59, 58, 59, 59, 58]);
});

test("the rate headers add up within a window, and a new window is whole", async () => {
  const { liveKey } = await testAccount(api, { tier: "starter" });
  api.clock.set("2026-11-20T10:00:12.345Z");
  const reset = Date.parse("2026-11-20T10:01:00Z") / 1000;
  for (let used = 1; used <= 120; used++) {
    const headers = expectStandardHeaders(await withKey(liveKey, "/v1/images/img_x"));
    expect(headers).toEqual({ limit: 120, remaining: 120 - used, reset });
    if (used === 60) api.clock.set("2026-11-20T10:00:47.900Z");
  }
  const refused = await withKey(liveKey);
  await expectError(refused, "RATE_LIMIT_EXCEEDED");
  expect(expectStandardHeaders(refused)).toEqual({ limit: 120, remaining: 0, reset });
  expect(refused.headers.get("retry-after")).toBe("13");
  api.clock.set("2026-11-20T10:00:59.999Z");
  expect((await withKey(liveKey)).headers.get("retry-after")).toBe("1");

  api.clock.set("2026-11-20T10:01:00.000Z");
  expect(expectStandardHeaders(await withKey(liveKey))).toEqual({
    limit: 120,
    remaining: 119,
    reset: reset + 60,
  });
});

for (const [tier, limit] of [
  ["starter", 120],
  ["growth", 600],
  ["scale", 6000],
] as const) {
  test(`the tier ${tier} has ${limit} requests a minute`, async () => {
    const { liveKey } = await testAccount(api, { tier });
    expect(expectStandardHeaders(await withKey(liveKey))).toMatchObject({ limit, remaining: limit - 1 });
  });
}

test("live and test keys, and two keys of one environment, are counted as promised", async () => {
  const { liveKey, testKey } = await testAccount(api, { tier: "starter" });
  for (let i = 0; i < 5; i++) await withKey(liveKey);
  expect(expectStandardHeaders(await withKey(testKey)).remaining).toBe(119);
  expect(expectStandardHeaders(await withKey(liveKey)).remaining).toBe(114);
});

test("a request over the limit does nothing: no image, no key used up", async () => {
  const { testKey } = await testAccount(api, { tier: "starter" });
  for (let i = 0; i < 120; i++) await withKey(testKey);
  const headers = { "Idempotency-Key": "over-the-limit" };
  await expectError(await post(api.baseUrl, testKey, imageRequest(), headers), "RATE_LIMIT_EXCEEDED");
  api.clock.advance(60_000);
  const response = await post(api.baseUrl, testKey, imageRequest({ player: { name: "Another" } }), headers);
  expect(response.status).toBe(202);
  expect(response.headers.get("idempotent-replayed")).toBeNull();
});

test("refused keys are limited by client address, and a valid key is never held up by it", async () => {
  const { liveKey } = await testAccount(api);
  for (let used = 1; used <= 60; used++) {
    const response = await withKey("sk_live_guess");
    await expectError(response, "INVALID_API_KEY");
    expect(expectStandardHeaders(response)).toMatchObject({ limit: 60, remaining: 60 - used });
  }
  const refused = await withKey("sk_live_guess");
  expect((await expectError(refused, "RATE_LIMIT_EXCEEDED")).message).toContain("X-API-Key");
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  await expectSuccess(await withKey(liveKey), 200, UsageResponse);
  api.clock.advance(60_000);
  await expectError(await withKey("sk_live_guess"), "INVALID_API_KEY");
});

test("no key is in any log line or stored in the database", async () => {
  const { liveKey, testKey } = await testAccount(api);
  await withKey(liveKey);
  await post(api.baseUrl, testKey, imageRequest());
  await withKey(flip(liveKey, 20));
  const secret = liveKey.slice(8, -6);
  expect(api.lines.length).toBeGreaterThan(0);
  expect(api.lines.filter((line) => line.includes(secret) || line.includes(testKey))).toEqual([]);
  const { db, t } = api.store.read;
  expect(JSON.stringify(await db.select().from(t.apiKeys))).not.toContain(secret);
});

test("calls at the same time write a key's use down once, and its next use a minute later", async () => {
  const { account, liveKey } = await testAccount(api);
  const names: string[] = [];
  const held = Promise.withResolvers<void>();
  const write: typeof api.store.write = async (name, fn, options) => {
    names.push(name);
    await held.promise;
    return api.store.write(name, fn, options);
  };
  const identify = keyAuthenticator({ ...api, store: { ...api.store, write } }, api.limiter);
  const request = new Request(api.baseUrl, { headers: { "X-API-Key": liveKey } });
  const call = () => identify({ request, clientAddress: "127.0.0.1" } as Exchange);
  await Promise.all(Array.from({ length: 20 }, call));
  expect(names).toEqual(["note use of key"]);
  held.resolve();
  const used = async () =>
    (await listKeys(api.store.read, account.id)).find(({ environment }) => environment === "live")
      ?.lastUsedAt;
  while ((await used()) !== api.clock.now()) await Bun.sleep(5);
  await call();
  expect(names).toHaveLength(1);
  api.clock.advance(60_000);
  await call();
  expect(names).toHaveLength(2);
});
