import { afterAll, beforeAll, expect, test } from "bun:test";
import { clientAddress } from "../../src/http/client-address.ts";
import { type TestServer, testAccount, testServer } from "../harness.ts";
import { PASSWORD, testMember } from "./sessions.ts";

// The service as in production: it speaks plain HTTP to a proxy, which speaks TLS to browsers.

const ORIGIN = "https://cards.example.com";
let server: TestServer;
let address: string;
beforeAll(async () => {
  server = await testServer({ renders: false, env: { CARDPRESS_BASE_URL: ORIGIN } });
  address = `http://127.0.0.1:${server.config.port}`;
  const { account } = await testAccount(server.service);
  await testMember(server.service, account.id, "ana@proxy.example");
});
afterAll(() => server.close());

/** A request as a proxy passes it on; its own address is the Host, as many proxies have it by default. */
function through(path: string, fields?: Record<string, string>, headers: Record<string, string> = {}) {
  return fetch(address + path, {
    redirect: "manual",
    headers: { "x-forwarded-for": "203.0.113.7", "x-forwarded-proto": "https", ...headers },
    ...(fields && { method: "POST", body: new URLSearchParams(fields) }),
  });
}

test("behind a TLS proxy people sign in, forms come back, and the cookie is for this host over TLS alone", async () => {
  const signIn = { email: "ana@proxy.example", password: PASSWORD };
  const answer = await through("/console/sign-in", signIn, { origin: ORIGIN });
  expect(answer.status).toBe(303);
  const set = answer.headers.get("set-cookie") ?? "";
  expect(set).toMatch(/^__Host-cardpress=[\w-]{43}; Path=\/; Max-Age=\d+; Secure; HttpOnly; SameSite=Lax$/);
  const cookie = set.split(";")[0] ?? "";

  const keys = await (await through("/console/keys", undefined, { cookie })).text();
  const csrf = /name="_csrf" value="([\w-]+)"/.exec(keys)?.[1] ?? "";
  const headers = { cookie, origin: ORIGIN, referer: `${ORIGIN}/console/keys` };
  const nameless = await through("/console/keys", { _csrf: csrf, name: "", environment: "test" }, headers);
  expect(nameless.headers.get("location")).toBe("/console/keys");
  expect(await (await through("/console/keys", undefined, { cookie })).text()).toContain(
    "The key name must have 1 to 80 characters",
  );
  const foreign = { ...headers, origin: "https://evil.example" };
  expect((await through("/console/keys", { _csrf: csrf, name: "x" }, foreign)).status).toBe(403);
  // Without TLS the name would prove nothing: a cookie of the plain name opens nothing here.
  const plain = cookie.replace("__Host-", "");
  expect((await through("/console/keys", undefined, { cookie: plain })).status).toBe(303);
});

test("guesses from one client do not lock out others behind the same proxy", async () => {
  const wrong = (email: string, client: string) =>
    through("/console/sign-in", { email, password: "not it" }, { origin: ORIGIN, "x-forwarded-for": client });
  let last = 401;
  for (let i = 0; last === 401; i++) last = (await wrong(`guess-${i}@proxy.example`, "198.51.100.9")).status;
  expect(last).toBe(429);
  const signIn = { email: "ana@proxy.example", password: PASSWORD };
  expect((await through("/console/sign-in", signIn, { origin: ORIGIN })).status).toBe(303);
});

test("only a neighbour's word about the client's address counts, and only its last", () => {
  const seen = (peer: string, forwarded: string, baseUrl = ORIGIN) =>
    clientAddress(new Request("http://x/", { headers: { "x-forwarded-for": forwarded } }), peer, baseUrl);
  expect(seen("127.0.0.1", "1.1.1.1, 203.0.113.7")).toBe("203.0.113.7");
  expect(seen("10.0.0.4", "2001:db8::1")).toBe("2001:db8::1");
  expect(seen("8.8.8.8", "203.0.113.7")).toBe("8.8.8.8");
  expect(seen("127.0.0.1", "not an address")).toBe("127.0.0.1");
  expect(seen("127.0.0.1", "203.0.113.7", "http://127.0.0.1:3000")).toBe("127.0.0.1");
});

test("the console answers under its own name, not under another site's that points here; the API needs a key anyway", async () => {
  const at = (host: string, path = "/console/sign-in") => through(path, undefined, { host });
  for (const host of [
    "cards.example.com",
    "cards.example.com:8443",
    "localhost:3000",
    "cardpress:3000",
    "10.0.0.7",
  ])
    expect({ host, status: (await at(host)).status }).toEqual({ host, status: 200 });
  const foreign = await at("evil.example");
  expect(foreign.status).toBe(421);
  expect(await foreign.text()).toContain("CARDPRESS_BASE_URL");
  const form = { email: "ana@proxy.example", password: PASSWORD };
  const headers = { host: "evil.example", origin: "http://evil.example" };
  expect((await through("/console/sign-in", form, headers)).status).toBe(421);
  // Load balancers and content networks ask by names of their own.
  expect((await at("lb-7.provider.example", "/live")).status).toBe(200);
  expect((await at("origin.provider.example", "/v1/usage")).status).toBe(401);
});

test("/metrics does not answer under the public name: a proxy asks for it, whatever headers it leaves out", async () => {
  const ask = async (host: string) => (await fetch(`${address}/metrics`, { headers: { host } })).status;
  expect(await ask("cards.example.com")).toBe(404);
  expect(await ask("127.0.0.1:3000")).toBe(200);
});

test("behind TLS every answer keeps browsers on TLS", async () => {
  for (const path of ["/console/sign-in", "/docs", "/v1/usage", "/live", "/nothing", "/cdn/none.png"]) {
    const sent = (await through(path)).headers.get("strict-transport-security");
    expect({ path, sent }).toEqual({ path, sent: "max-age=31536000" });
  }
  const head = await fetch(`${address}/live`, { method: "HEAD" });
  expect(head.headers.get("strict-transport-security")).toBe("max-age=31536000");
});

test("a refused form leads back to a page of ours, whatever page it says it came from", async () => {
  const signIn = { email: "ana@proxy.example", password: PASSWORD };
  const set = (await through("/console/sign-in", signIn, { origin: ORIGIN })).headers.get("set-cookie") ?? "";
  const cookie = set.split(";")[0] ?? "";
  const keys = await (await through("/console/keys", undefined, { cookie })).text();
  const csrf = /name="_csrf" value="([\w-]+)"/.exec(keys)?.[1] ?? "";
  for (const path of ["//evil.example/x", "/\\evil.example/x", "/console/..//evil.example"]) {
    const headers = { cookie, origin: ORIGIN, referer: ORIGIN + path };
    const refused = await through("/console/keys", { _csrf: csrf, name: "", environment: "test" }, headers);
    expect(refused.headers.get("location")).toBe("/console");
  }
});
