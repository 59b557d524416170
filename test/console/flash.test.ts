import { afterAll, beforeAll, expect, test } from "bun:test";
import { flashStore, typed } from "../../src/console/flash.ts";
import { memoryState } from "../../src/state/memory-state.ts";
import { fakeClock, type TestServer, testAccount, testServer } from "../harness.ts";
import { type Client, client, testMember, testOperator } from "./sessions.ts";

let server: TestServer;
let owner: Client;
let operator: Client;
beforeAll(async () => {
  server = await testServer({ renders: false });
  const { service, baseUrl } = server;
  const { account } = await testAccount(service);
  owner = await client(service, baseUrl, await testMember(service, account.id, "ana@rovers.example"));
  operator = await client(service, baseUrl, await testOperator(service, "op@service.example"));
});
afterAll(() => server.close());

const page = async (who: Client, path: string) => (await who.get(path)).text();
/** The field of a page as it is filled in. */
const input = (html: string, name: string, value: string) =>
  new RegExp(`<input[^>]* name="${name}"[^>]* value="${value}"[^>]*>`).exec(html)?.[0];

const REFUSED: [string, () => Client, Record<string, string>, string, string | undefined][] = [
  [
    "/console/webhooks",
    () => owner,
    { url: "http://rovers.example/hook", events: "image.failed", environment: "live" },
    "url",
    "live",
  ],
  ["/console/keys", () => owner, { name: "n".repeat(81), environment: "live" }, "name", "live"],
  ["/console/members", () => owner, { email: "ana(at)rovers", role: "owner" }, "email", "owner"],
  [
    "/console/operator/accounts",
    () => operator,
    { name: "Harbour", tier: "growth", credits: "1.5", email: "" },
    "credits",
    undefined,
  ],
];
test.each(REFUSED)(
  "a form refused at %s comes back filled in, once",
  async (path, who, fields, name, radio) => {
    const sent = await who().post(path, fields, { referer: server.baseUrl + path });
    expect(sent.status).toBe(303);
    const html = await page(who(), path);
    expect(html).toContain("That did not work.");
    const value = (fields[name] ?? "").replace(/[().]/g, "\\$&");
    expect(input(html, name, value)).toBeString();
    if (radio) expect(input(html, "\\w+", radio)).toContain("checked");
    expect(input(await page(who(), path), name, value)).toBeUndefined();
  },
);

test("of a refused form only named fields are kept: no password, token or secret", () => {
  const secrets = { _csrf: "a", password: "b", again: "c", current: "d", response: "e", secret: "f" };
  const form = new URLSearchParams({ ...secrets, name: "Ana" });
  expect(typed("/console/profile", form).fields).toEqual([["name", "Ana"]]);
});

test("a new key waits for the page of keys, whatever else the session opens first, and is shown once", async () => {
  await owner.post("/console/keys", { name: "Server", environment: "test" });
  for (const path of ["/console", "/console/members", "/console/webhooks"])
    expect(await page(owner, path)).not.toContain("sk_test_");
  const part = await fetch(`${server.baseUrl}/console/keys`, {
    headers: { cookie: owner.cookie, "hx-request": "true" },
  });
  expect(await part.text()).not.toContain("fresh-key");
  expect(await page(owner, "/console/keys")).toContain('id="fresh-key"');
  expect(await page(owner, "/console/keys")).not.toContain('id="fresh-key"');
});

test("what no page shows within two minutes is forgotten", async () => {
  const clock = fakeClock();
  const flashes = flashStore(memoryState(clock.now));
  await flashes.put("session", { notice: "done", link: { email: "a@b.example", url: "x" } });
  expect(await flashes.take("other", "link")).toEqual({});
  clock.advance(120_000);
  expect(await flashes.take("session", "link")).toEqual({});
});
