import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { listKeys } from "../../src/store/people/keys.ts";
import { type TestAccount, type TestServer, testAccount, testServer } from "../harness.ts";
import { type Client, client, testMember } from "./sessions.ts";

let server: TestServer;
let partner: TestAccount;
let member: Client;
beforeAll(async () => {
  server = await testServer({ renders: false });
});
afterAll(() => server.close());

let accounts = 0;
beforeEach(async () => {
  const { service, baseUrl } = server;
  partner = await testAccount(service);
  const email = `ana-${++accounts}@keys.example`;
  member = await client(service, baseUrl, await testMember(service, partner.account.id, email));
});

const keys = async () => (await listKeys(server.service.store.read, partner.account.id)).slice(2);
const form = { name: "Limited", environment: "test" };

test("a key made in the console has the limits that were chosen, and the page shows them", async () => {
  await member.post("/console/keys", {
    ...form,
    limits: "1",
    scope_read: "1",
    scope_webhooks: "1",
    expires: "2099-06-30",
    addresses: "203.0.113.7, 2001:db8::/48",
  });
  expect((await keys()).at(-1)).toMatchObject({
    name: "Limited",
    scopes: ["read", "webhooks"],
    // Its last day is whole.
    expiresAt: Date.parse("2099-07-01T00:00:00Z"),
    addresses: ["203.0.113.7", "2001:db8::/48"],
  });
  const page = await (await member.get("/console/keys")).text();
  expect(page).toContain(
    "only read, webhooks \u00b7 until 2099-07-01 00:00 UTC \u00b7 from 203.0.113.7, 2001:db8::/48",
  );
});

test("with every scope or without the choice it has no limit; with none it is refused, and nothing is lost", async () => {
  const all = { scope_create: "1", scope_read: "1", scope_delete: "1", scope_webhooks: "1" };
  await member.post("/console/keys", { ...form, limits: "1", ...all });
  await member.post("/console/keys", form);
  const made = await keys();
  for (const key of made) expect(key).toMatchObject({ scopes: null, expiresAt: null, addresses: null });
  const from = { referer: `${server.baseUrl}/console/keys` };
  await member.post("/console/keys", { ...form, limits: "1", addresses: "here" }, from);
  const page = await (await member.get("/console/keys")).text();
  expect(page).toContain("can do nothing. Choose at least one");
  expect(page).toMatch(/<textarea[^>]*>here<\/textarea>/);
  expect(await keys()).toHaveLength(2);
});

test("a signing secret is made, shown once, replaced and taken away, by whoever may write alone", async () => {
  const [key] = await listKeys(server.service.store.read, partner.account.id);
  const secret = async () =>
    (await listKeys(server.service.store.read, partner.account.id))[0]?.signingSecret;
  await member.post(`/console/keys/${key?.id}/signing`, {});
  const [, shown] = /(cps_[\w-]{43})/.exec(await (await member.get("/console/keys")).text()) ?? [];
  const sealed = await secret();
  expect(server.service.secrets.open(sealed ?? "", key?.id ?? "")).toBe(shown as string);
  const again = await (await member.get("/console/keys")).text();
  expect(again).not.toContain("cps_");
  expect(again).toContain(`signs addresses as ${key?.id}`);
  await member.post(`/console/keys/${key?.id}/signing`, {});
  expect(await secret()).not.toBe(sealed as string);
  await member.post(`/console/keys/${key?.id}/signing/remove`, {});
  expect(await secret()).toBeNull();
});
