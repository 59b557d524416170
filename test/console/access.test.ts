import { afterAll, beforeAll, expect, test } from "bun:test";
import { saveKit } from "../../src/app/people/brand-kits.ts";
import { createAccount } from "../../src/app/people/manage-account.ts";
import { addMember } from "../../src/app/people/manage-users.ts";
import { completeSetup } from "../../src/app/people/sign-in.ts";
import { makeSet } from "../../src/app/sets/manage-sets.ts";
import { sendTest } from "../../src/app/webhooks/manage-deliveries.ts";
import { createEndpoint } from "../../src/app/webhooks/manage-webhooks.ts";
import { consoleRoutes } from "../../src/console/routes.ts";
import { MANUAL_SENDS_PER_MINUTE } from "../../src/core/limits.ts";
import { listActivity } from "../../src/store/people/activity.ts";
import { listKeys } from "../../src/store/people/keys.ts";
import {
  imageRequest,
  post,
  type TestAccount,
  type TestServer,
  testAccount,
  testServer,
} from "../harness.ts";
import { addressOf, type Client, client, PASSWORD, testMember, testOperator, tokenOf } from "./sessions.ts";

const HOSTILE = `<script>alert("x")</script>'"><img src=x onerror=alert(1)>`;

let server: TestServer;
let mine: TestAccount;
let theirs: TestAccount;
let ids: Record<string, string>;
let owner: Client;
let developer: Client;
let stranger: Client;
let operator: Client;

beforeAll(async () => {
  server = await testServer({
    renders: false,
    env: { CARDPRESS_WEBHOOK_ALLOWED_ORIGINS: "http://127.0.0.1:9" },
  });
  const { service, baseUrl } = server;
  mine = await testAccount(service, { name: `Mine ${HOSTILE}` });
  theirs = await testAccount(service, { name: "Theirs" });
  const ana = await testMember(service, mine.account.id, "ana@mine.example");
  const tom = await testMember(service, mine.account.id, "tom@mine.example", "developer");
  const eve = await testMember(service, theirs.account.id, "eve@theirs.example");
  const op = await testOperator(service, "op@service.example");
  const request = imageRequest({ player: { name: HOSTILE, external_id: "secret-player" } });
  const accepted = await post(baseUrl, mine.testKey, request);
  const { data } = (await accepted.json()) as { data: { image_id: string } };
  const [key] = await listKeys(service.store.read, mine.account.id);
  const { endpoint } = await createEndpoint(service, {
    accountId: mine.account.id,
    environment: "test",
    url: "http://127.0.0.1:9/secret-hook",
  });
  const delivery = await sendTest(service, { endpointId: endpoint.id });
  ids = {
    images: data.image_id,
    playground: data.image_id,
    make: data.image_id,
    keys: key?.id ?? "",
    members: tom.id,
    webhooks: endpoint.id,
    deliveries: delivery.id,
    accounts: mine.account.id,
    operators: op.id,
    user: tom.id,
  };
  const set = { name: "secret-player", season: "", parallels: [{ name: "gold", size: 5 }] };
  const players = [{ externalId: "secret-player", name: "", number: null }];
  const scope = { accountId: mine.account.id, environment: "live" } as const;
  ids.sets = (await makeSet(service, scope, { ...set, players })).set.id;
  owner = await client(service, baseUrl, ana);
  const squad = new File(["id,name\nsecret-player,Bo"], "secret-player.csv");
  ids.lists = (await owner.upload("/console/lists", squad)).headers.get("location")?.split("/").pop() ?? "";
  const { batch } = await service.acceptBatch({
    account: mine.account,
    environment: "test",
    idempotencyKey: null,
    name: "secret-player",
    requests: [request],
  });
  ids.batches = batch.id;
  const style = { name: "secret-player", preset: "club_card", composition: "auto", backgroundTheme: "" };
  const kit = { accountId: mine.account.id, by: tom.id };
  const look = { ...style, primaryColor: "", secondaryColor: "", badgeUrl: "" };
  ids.kits = (await saveKit(service, { ...kit, style: look })).id;
  developer = await client(service, baseUrl, tom);
  stranger = await client(service, baseUrl, eve);
  operator = await client(service, baseUrl, op);
});
afterAll(() => server.close());

const closed = consoleRoutes.filter((route) => route.access !== "anyone");
const SECRETS = ["secret-player", "secret-hook", "Mine ", "ana@mine.example", "tom@mine.example"];

test("no route shows or changes another account's data to a foreign session", async () => {
  const before = await state();
  for (const route of closed) {
    if (route.path === "/console/sign-out") continue;
    const path = addressOf(route, ids);
    const answer = await (route.method === "GET"
      ? stranger.get(path)
      : route.maxUploadBytes !== undefined
        ? stranger.upload(path, new File(["id,name\n1,Bo"], "stolen.csv"))
        : stranger.post(path, {
            account: mine.account.id,
            role: "owner",
            reason: "x",
            amount: "5",
            environment: "test",
            url: "http://127.0.0.1:9/stolen",
            events: "image.failed",
            hours: "24",
          }));
    const text = await answer.text();
    for (const secret of [...SECRETS, mine.account.id])
      expect({ path, leaks: text.includes(secret) }).toEqual({ path, leaks: false });
    if (route.path.includes(":") || route.access === "operator")
      expect({ method: route.method, path, status: answer.status }).toEqual({
        method: route.method,
        path,
        status: 404,
      });
  }
  expect(await state()).toEqual(before);
});

/** Everything of the account "mine" that a route could change. */
async function state() {
  const { db, t } = server.service.store.read;
  const rows = await Promise.all([
    db.select().from(t.apiKeys),
    db.select().from(t.accounts),
    db.select().from(t.memberships),
    db.select().from(t.webhookEndpoints),
    db.select().from(t.ledgerEntries),
    db.select().from(t.images),
  ]);
  // Time alone moves these: the key's last use, the delivery under way, the image in the making.
  const moving = { lastUsedAt: 0, updatedAt: 0, failingSince: 0, pausedUntil: 0, state: "", renders: 0 };
  const made = { leaseToken: 0, leaseExpiresAt: 0, completedAt: 0, expiresAt: 0, outputName: 0 };
  const size = {
    outputWidth: 0,
    outputHeight: 0,
    outputContentType: 0,
    outputBytes: 0,
    outputComposition: 0,
  };
  return rows.map((table) =>
    (table as { accountId?: string; id?: string }[])
      .filter((row) => row.accountId === mine.account.id || row.id === mine.account.id)
      .map((row) => ({ ...row, ...moving, ...made, ...size })),
  );
}

test("without a session every route leads to the sign-in page", async () => {
  for (const route of closed) {
    const init: RequestInit = {
      method: route.method,
      redirect: "manual",
      headers: { origin: server.baseUrl },
    };
    if (route.method === "POST") init.body = new URLSearchParams({ a: "b" });
    const answer = await fetch(server.baseUrl + addressOf(route, ids), init);
    expect(answer.status).toBe(303);
    expect(answer.headers.get("location")).toStartWith("/console/sign-in");
  }
});

test("a form without the session's token, or from another origin, is refused and changes nothing", async () => {
  const count = async () => (await listKeys(server.service.store.read, mine.account.id)).length;
  const before = await count();
  const fields = { name: "stolen", environment: "live" };
  const refused = [
    await owner.post("/console/keys", { ...fields, _csrf: "" }),
    await owner.post("/console/keys", { ...fields, _csrf: "A".repeat(43) }),
    await owner.post("/console/keys", fields, { origin: "https://evil.example" }),
    await owner.post("/console/keys", fields, { origin: "null" }),
    await owner.post("/console/keys", fields, { "sec-fetch-site": "cross-site" }),
    await fetch(`${server.baseUrl}/console/keys`, {
      method: "POST",
      headers: { cookie: owner.cookie, "content-type": "text/plain", origin: server.baseUrl },
      body: "name=stolen",
    }),
  ];
  expect(refused.map((answer) => answer.status)).toEqual([403, 403, 403, 403, 403, 415]);
  expect(await count()).toBe(before);
});

test("pages carry a policy without unsafe-inline, are not cached, and cannot be framed", async () => {
  const { headers } = await owner.get("/console/keys");
  const policy = headers.get("content-security-policy") ?? "";
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toContain("unsafe");
  expect(headers.get("cache-control")).toBe("no-store");
  expect(headers.get("x-content-type-options")).toBe("nosniff");
});

test("hostile names are shown as the text they are, on every page", async () => {
  const pages = [
    ...["/console", "/console/images?environment=test", "/console/images?environment=test&view=table"],
    `/console/images/${ids.images}`,
    `/console/playground?from=${ids.images}`,
    `/console/images?search=${encodeURIComponent(HOSTILE)}`,
  ];
  for (const page of pages) {
    const text = await (await owner.get(page)).text();
    expect(text).not.toContain("<script>alert");
    expect(text).not.toContain("<img src=x");
    expect(text).toContain("&lt;script>");
  }
  const accounts = await (await operator.get("/console/operator/accounts")).text();
  expect(accounts).not.toContain("<img src=x");
});

test("the session's cookie is out of scripts' reach, and carries __Host- over HTTPS", async () => {
  const signIn = (origin: string, path = "/console/sign-in") =>
    fetch(server.baseUrl + path, {
      method: "POST",
      redirect: "manual",
      headers: { origin },
      body: new URLSearchParams({ email: "ana@mine.example", password: PASSWORD }),
    });
  const cookie = (await signIn(server.baseUrl)).headers.get("set-cookie") ?? "";
  expect(cookie).toMatch(/^cardpress=[\w-]{43}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Lax$/);
  expect((await signIn("https://evil.example")).status).toBe(403);

  const { sessionCookie } = await import("../../src/console/respond.ts");
  const https = sessionCookie({ ...server.config, baseUrl: "https://cards.example.com" }, "T");
  expect(https).toStartWith("__Host-cardpress=T; Path=/;");
  expect(https).toEndWith("Secure; HttpOnly; SameSite=Lax");
});

test("a wrong password and an unknown email get the same answer", async () => {
  const answer = async (email: string) => {
    const response = await fetch(`${server.baseUrl}/console/sign-in`, {
      method: "POST",
      headers: { origin: server.baseUrl },
      body: new URLSearchParams({ email, password: "not the password" }),
    });
    return { status: response.status, page: (await response.text()).replaceAll(email, "EMAIL") };
  };
  expect(await answer("ana@mine.example")).toEqual(await answer("nobody@mine.example"));
});

test("a developer cannot manage members, and an operator on a visit only looks, which is written down", async () => {
  const added = { email: "new@mine.example", role: "owner" };
  const owners = consoleRoutes.filter(({ method, access }) => method === "POST" && access === "owner");
  expect(owners.length).toBeGreaterThanOrEqual(3);
  for (const route of owners) expect((await developer.post(addressOf(route, ids), added)).status).toBe(403);
  // What is not the owners' alone is open to developers, and they see no form that would be refused.
  expect(await (await developer.get("/console/members")).text()).not.toContain('action="/console/members');
  expect((await developer.post("/console/keys", { name: "Dev", environment: "test" })).status).toBe(303);

  expect((await operator.get("/console/keys")).headers.get("location")).toBe("/console/operator");
  await operator.post(`/console/operator/accounts/${mine.account.id}/view`);
  const page = await (await operator.get("/console/images?environment=test")).text();
  expect(page).toContain("read-only");
  expect(page).toContain(`/console/images/${ids.images}`);
  const writes = consoleRoutes.filter(
    (r) => r.method === "POST" && (r.access === "member" || r.access === "owner"),
  );
  for (const route of writes) expect((await operator.post(addressOf(route, ids))).status).toBe(403);
  const [last] = await listActivity(server.service.store.read, { limit: 1 });
  expect(last).toMatchObject({
    email: "op@service.example",
    entry: { action: "account.viewed", accountId: mine.account.id },
  });
});

test("what a member does to a webhook stands in the log with their name", async () => {
  const url = "http://127.0.0.1:9/noted";
  await owner.post("/console/webhooks", { url, environment: "test", events: "image.failed" });
  await owner.post(`/console/webhooks/${ids.webhooks}/recover`, { hours: "24" });
  const log = await listActivity(server.service.store.read, { accountId: mine.account.id, limit: 2 });
  expect(log.map(({ entry, email }) => [entry.action, entry.subject, email])).toEqual([
    ["webhook.recovered", expect.stringContaining("secret-hook, events since 20"), "ana@mine.example"],
    ["webhook.created", url, "ana@mine.example"],
  ]);
});

test("an operator finds every account once, page after page, however many there are", async () => {
  const { service } = server;
  const made = await Promise.all(
    Array.from({ length: 120 }, (_, i) =>
      createAccount(service, { name: `Club ${i}`, tier: "starter", credits: 0 }),
    ),
  );
  const seen: string[] = [];
  for (let path: string | undefined = "/console/operator/accounts"; path; ) {
    const page = await (await operator.get(path)).text();
    const ids = [...page.matchAll(/operator\/accounts\/(acct_\w+)/g)].map(([, id]) => id ?? "");
    expect(ids.length).toBeLessThanOrEqual(50);
    seen.push(...ids);
    path = /href="([^"]+)">Older/.exec(page)?.[1];
  }
  expect(seen.toSorted()).toEqual(
    [mine, theirs]
      .map(({ account }) => account.id)
      .concat(made.map(({ id }) => id))
      .sort(),
  );
});

test("what operators do holds at once and stands in the audit log", async () => {
  const path = `/console/operator/accounts/${theirs.account.id}`;
  await operator.post(`${path}/credits`, { amount: "250", reason: "Cup final" });
  await operator.post(`${path}/plan`, { tier: "starter", credits: "10" });
  await operator.post(`${path}/suspend`, { reason: "Invoice unpaid" });
  const refused = await post(server.baseUrl, theirs.testKey, imageRequest());
  expect(refused.status).toBe(403);
  expect(await (await stranger.get("/console")).text()).toContain("Invoice unpaid");
  await operator.post(`${path}/resume`);
  expect((await post(server.baseUrl, theirs.testKey, imageRequest())).status).toBe(202);
  const log = await (await operator.get("/console/operator/audit")).text();
  for (const text of [
    "250 credits: Cup final",
    "Invoice unpaid",
    "starter, 10 credits a month",
    "op@service.example",
  ])
    expect(log).toContain(text);
  // Without a reason nothing is done.
  await operator.post(`${path}/suspend`, { reason: "" });
  expect((await post(server.baseUrl, theirs.testKey, imageRequest())).status).toBe(202);
});

test("the sign-in page leads on whoever is signed in, and never to another site", async () => {
  const leads = async (query: string) =>
    (await owner.get(`/console/sign-in${query}`)).headers.get("location");
  expect(await leads("")).toBe("/console");
  expect(await leads("?next=%2Fconsole%2Fkeys")).toBe("/console/keys");
  expect(await leads("?next=https%3A%2F%2Fevil.example")).toBe("/console");
  const ended = await fetch(`${server.baseUrl}/console/sign-in`, {
    headers: { cookie: `cardpress=${"A".repeat(43)}` },
  });
  expect(ended.status).toBe(200);
});

test("an account sends a bounded number of tests by hand in a minute, and another account's are its own", async () => {
  const { service, baseUrl } = server;
  const { account } = await testAccount(service, { name: "Busy" });
  const busy = await client(service, baseUrl, await testMember(service, account.id, "busy@example.com"));
  const { endpoint } = await createEndpoint(service, {
    accountId: account.id,
    environment: "test",
    url: "http://127.0.0.1:9/busy",
  });
  const page = `/console/webhooks/${endpoint.id}`;
  const send = () => busy.post(`${page}/test`, {}, { referer: baseUrl + page });
  // A new minute may begin meanwhile, once.
  const sent: string[] = [];
  for (let i = 0; i < 2 * MANUAL_SENDS_PER_MINUTE + 1; i++)
    sent.push((await send()).headers.get("location") ?? "");
  expect(sent.filter((to) => to.startsWith("/console/deliveries/"))).not.toBeEmpty();
  expect(sent.filter((to) => to === page)).not.toBeEmpty();
  const [, delivery = ""] = /(\/console\/deliveries\/\w+)/.exec(sent[0] ?? "") ?? [];
  await busy.post(`${delivery}/redeliver`, {}, { referer: baseUrl + page });
  expect(await (await busy.get(page)).text()).toContain(`at most ${MANUAL_SENDS_PER_MINUTE} times a minute`);
  // Found by its type among an endpoint's deliveries, and not by another.
  expect(await (await busy.get(`${page}?type=webhook.test`)).text()).toContain("/console/deliveries/");
  const others = await (await busy.get(`${page}?type=image.failed`)).text();
  expect(others).toContain("No delivery of image.failed is here.");
  expect(others).not.toContain("/console/deliveries/");
  const test = await owner.post(`/console/webhooks/${ids.webhooks}/test`);
  expect(test.headers.get("location")).toStartWith("/console/deliveries/");
});

test("a session alone gets no passkey: the password or a passkey is asked for", async () => {
  for (const fields of [{}, { password: "not it" }, { response: '{"id":"AAAA"}' }] as Record<
    string,
    string
  >[]) {
    const answer = await developer.post("/console/profile/passkeys/options", fields);
    expect(answer.status).toBe(403);
    expect(await answer.json()).toEqual({ problem: "The password is not right. Nothing was added." });
  }
  const offered = await developer.post("/console/profile/passkeys/options", { password: PASSWORD });
  expect(offered.status).toBe(200);
  expect(await offered.json()).toMatchObject({ challenge: expect.any(String) });
});

test("operators read in words that an email was in use, and that its password has ended", async () => {
  const { service, baseUrl } = server;
  for (const [email, path, fields] of [
    ["one@known.example", "/console/operator/operators", {}],
    ["two@known.example", `/console/operator/accounts/${theirs.account.id}/members`, { role: "developer" }],
    ["three@known.example", "/console/operator/accounts", { name: "New", tier: "starter", credits: "5" }],
  ] as [string, string, Record<string, string>][]) {
    const { setupUrl } = await addMember(service, {
      accountId: mine.account.id,
      email,
      role: "developer",
      vouched: false,
    });
    await completeSetup(service, { token: tokenOf(setupUrl), password: PASSWORD, email });
    const answer = await operator.post(path, { email, ...fields });
    const html = await (await operator.get(answer.headers.get("location") ?? "")).text();
    expect(html).toContain(`Send this link to ${email}`);
    expect(html).toContain("This email was in use here already");
    expect(html).toContain(`${baseUrl}/console/setup/`);
  }
});
