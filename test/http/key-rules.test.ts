import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createKey, type KeyRules, regenerateKey } from "../../src/app/people/manage-account.ts";
import { isAmong, KEY_SCOPES, readKeyAddress } from "../../src/core/key-rules.ts";
import { ROUTES, type Route } from "../../src/http/route-table.ts";
import type { ApiKey } from "../../src/store/people/keys.ts";
import { type TestAccount, testAccount } from "../harness.ts";
import { expectError, type Json, send, type TestApi, testApi } from "./api.ts";

const DAY_MS = 86_400_000;

let api: TestApi;
let partner: TestAccount;
beforeAll(async () => {
  api = await testApi();
  partner = await testAccount(api);
});
afterAll(() => api.close());

const made = ({ environment = "test", ...rules }: Partial<KeyRules & Pick<ApiKey, "environment">>) =>
  createKey(api, { accountId: partner.account.id, environment, name: "limited", by: null, ...rules });
const call = (
  key: string,
  { method, path }: Pick<Route, "method" | "path">,
  headers: Record<string, string> = {},
) => send(api, path.replace(/\{\w+\}/g, "x"), { method, headers: { "X-API-Key": key, ...headers } });
const usage = (key: string, headers = {}) =>
  call(key, { method: "GET", path: "/v1/usage?period=current_month" }, headers);

test("every partner route has a scope, and a key with one scope gets to the routes of that one alone", async () => {
  const routes = Object.values<Route>(ROUTES).filter(({ access }) => access === "partner");
  expect(routes.filter(({ scope }) => scope === undefined)).toEqual([]);
  for (const scope of KEY_SCOPES) {
    // A live key: only such a key records consents.
    const { key } = await made({ scopes: [scope], environment: "live" });
    for (const route of routes) {
      const answer = await call(key, route);
      if (route.scope === scope) expect([route.path, answer.status]).not.toEqual([route.path, 403]);
      else expect((await expectError(answer, "KEY_NOT_ALLOWED")).message).toContain(`"${route.scope}"`);
      if (route.method === "GET" && route.scope !== scope)
        expect((await call(key, { ...route, method: "HEAD" as "GET" })).status).toBe(403);
    }
    // An address that is none stays one.
    await expectError(await call(key, { method: "GET", path: "/v1/nothing" }), "NOT_FOUND");
  }
});

test("a key ends with its time, at the very call, and its successor keeps its limits", async () => {
  const expiresAt = api.clock.now() + DAY_MS;
  const { key, record } = await made({ expiresAt, scopes: ["read", "create"] });
  const { key: next, record: successor } = await regenerateKey(api, { id: record.id, by: null });
  expect(successor).toMatchObject({ expiresAt, scopes: ["create", "read"], addresses: null });
  api.clock.advance(DAY_MS - 1);
  expect((await usage(key)).status).toBe(200);
  api.clock.advance(1);
  for (const one of [key, next])
    expect((await expectError(await usage(one), "INVALID_API_KEY")).message).toContain("expired");
});

test("a key is of use from its addresses alone", async () => {
  const { key: near } = await made({ addresses: ["127.0.0.0/8", "::1"] });
  expect((await usage(near)).status).toBe(200);
  const { key: far } = await made({ addresses: ["203.0.113.7", "2001:db8::/48"] });
  const error = await expectError(await usage(far), "KEY_NOT_ALLOWED");
  expect(error.message).toContain("127.0.0.1");
  // As seen by the proxy in front.
  expect((await usage(far, { "X-Forwarded-For": "203.0.113.7" })).status).toBe(200);
  expect((await usage(far, { "X-Forwarded-For": "203.0.113.8" })).status).toBe(403);
});

test("a key without limits may do everything, as those that were there before", async () => {
  const { record } = await made({});
  expect(record).toMatchObject({ scopes: null, expiresAt: null, addresses: null });
  expect((await usage(partner.testKey)).status).toBe(200);
});

test.each([
  [{ scopes: [] }, /at least one/],
  [{ expiresAt: 1 }, /later day/],
  [{ addresses: ["club.example"] }, /"club.example" is not an address/],
  [{ addresses: Array.from({ length: 21 }, (_, n) => `10.0.0.${n}`) }, /at most 20/],
] as [Partial<KeyRules>, RegExp][])("%j is refused with the remedy", async (rules, says) => {
  await expect(made(rules)).rejects.toThrow(says);
});

describe("an address", () => {
  test.each([
    ["203.0.113.7", "203.0.113.7"],
    [" 10.0.0.0/8 ", "10.0.0.0/8"],
    ["2001:DB8::/48", "2001:db8::/48"],
    ["::ffff:10.0.0.1", "10.0.0.1"],
    ["10.1", null],
    ["0x0a000001", null],
    ["10.0.0.0/33", null],
    ["10.0.0.0/-1", null],
    ["10.0.0.0/8/8", null],
    ["10.0.0.0/", null],
    ["", null],
  ])("%j is stored as %j", (text, stored) => expect(readKeyAddress(text)).toBe(stored));

  test.each([
    ["10.1.2.3", ["10.0.0.0/8"], true],
    ["::ffff:10.1.2.3", ["10.0.0.0/8"], true],
    ["11.1.2.3", ["10.0.0.0/8", "12.0.0.0/8"], false],
    ["2001:db8:0:1::1", ["2001:db8::/48"], true],
    ["2001:db8:1::1", ["2001:db8::/48"], false],
    ["10.0.0.1", ["::/0"], false],
    ["unknown", ["0.0.0.0/0"], false],
  ])("%s among %j: %p", (address, listed, expected) => expect(isAmong(address, listed)).toBe(expected));
});

test("the documentation lists every scope", async () => {
  const guide = await (await send(api, "/docs/authentication.md")).text();
  for (const scope of KEY_SCOPES) expect(guide).toContain(`| \`${scope}\` |`);
  const document: Json = await (await send(api, "/docs/openapi.json")).json();
  const { $ref } = document.paths["/v1/images"].get.responses["403"];
  const response = document.components.responses[$ref.split("/").at(-1)];
  expect(Object.keys(response.content["application/json"].examples)).toEqual([
    "PARTNER_SUSPENDED",
    "KEY_NOT_ALLOWED",
  ]);
});
