import { afterAll, beforeAll, expect, test } from "bun:test";
import { makeSigningSecret } from "../../src/app/people/manage-signing.ts";
import { changeRole } from "../../src/app/people/manage-users.ts";
import { sendTest } from "../../src/app/webhooks/manage-deliveries.ts";
import { createEndpoint } from "../../src/app/webhooks/manage-webhooks.ts";
import { consoleRoutes } from "../../src/console/routes.ts";
import { listActivity } from "../../src/store/people/activity.ts";
import { listKeys } from "../../src/store/people/keys.ts";
import { membersOf } from "../../src/store/people/users.ts";
import {
  get,
  imageRequest,
  post,
  type TestAccount,
  type TestServer,
  testAccount,
  testServer,
} from "../harness.ts";
import { addressOf, type Client, client, testMember } from "./sessions.ts";

let server: TestServer;
let account: TestAccount;
let owner: Client;
let developer: Client;
let viewer: Client;
let ids: Record<string, string>;
let secrets: string[];
beforeAll(async () => {
  server = await testServer({
    renders: false,
    env: { CARDPRESS_WEBHOOK_ALLOWED_ORIGINS: "http://127.0.0.1:9" },
  });
  const { service, baseUrl } = server;
  account = await testAccount(service);
  const accountId = account.account.id;
  const member = (name: string, role: "owner" | "developer" | "viewer") =>
    testMember(service, accountId, `${name}@rovers.example`, role);
  const ana = await member("ana", "owner");
  owner = await client(service, baseUrl, ana);
  developer = await client(service, baseUrl, await member("dev", "developer"));
  viewer = await client(service, baseUrl, await member("vic", "viewer"));
  const [key] = await listKeys(service.store.read, accountId);
  const signing = await makeSigningSecret(service, { id: key?.id ?? "" });
  const url = "http://127.0.0.1:9/hook";
  const made = await createEndpoint(service, { accountId, environment: "test", url });
  const delivery = await sendTest(service, { endpointId: made.endpoint.id });
  const accepted = await post(baseUrl, account.testKey, imageRequest());
  const { data } = (await accepted.json()) as { data: { image_id: string } };
  const request = imageRequest({ player: { external_id: "in-a-batch" } });
  const command = {
    account: account.account,
    environment: "test",
    idempotencyKey: null,
    name: "Squad",
  } as const;
  const { batch } = await service.acceptBatch({ ...command, requests: [request] });
  ids = {
    images: data.image_id,
    playground: data.image_id,
    make: data.image_id,
    keys: key?.id ?? "",
    members: ana.id,
    webhooks: made.endpoint.id,
    deliveries: delivery.id,
    batches: batch.id,
  };
  secrets = [account.liveKey, account.testKey, signing.secret, made.secret];
});
afterAll(() => server.close());

const accountRoutes = consoleRoutes.filter(({ access }) => access === "member" || access === "owner");

test("a viewer reads every page that an owner reads, and finds no secret and nothing to change there", async () => {
  // What was made in this test's set-up is shown to nobody, so one is made that waits for its page.
  await owner.post(`/console/webhooks/${ids.webhooks}/rotate-secret`);
  const writes = accountRoutes
    .filter(({ method }) => method === "POST")
    .map(({ path }) => new RegExp(`^${path.replace(/:\w+/g, "[^/]+")}$`));
  const offered: string[] = [];
  let read = 0;
  for (const route of accountRoutes.filter(({ method }) => method === "GET")) {
    const path = addressOf(route, ids);
    const [mine, theirs] = [await viewer.get(path), await owner.get(path)];
    expect({ path, status: mine.status }).toEqual({ path, status: theirs.status });
    const page = await mine.text();
    for (const secret of secrets)
      expect({ path, leaks: page.includes(secret) }).toEqual({ path, leaks: false });
    expect({ path, secret: /whsec_\w{8}|cps_\w{8}|sk_(live|test)_\w{20}/.test(page) }).toEqual({
      path,
      secret: false,
    });
    // A form without a button shows what there is, and sends nothing.
    const posts = /<form(?=[^>]*method="post")[^>]*action="([^"?]+)[^>]*>(.*?)<\/form>/gs;
    const forms = [...page.matchAll(posts)];
    const actions = forms
      .filter(([, , inside = ""]) => inside.includes('type="submit"'))
      .map(([, to = ""]) => to);
    for (const [, to = ""] of page.matchAll(/formaction="([^"?]+)/g)) actions.push(to);
    const open = actions.filter((action) => writes.some((write) => write.test(action)));
    if (open.length > 0) offered.push(`${route.path}: ${open.join(", ")}`);
    if (mine.status === 200) read += 1;
  }
  expect(offered).toEqual([]);
  expect(read).toBeGreaterThan(20);
});

test("a viewer is shown no form to fill in for a kit or a card, but who may send it", async () => {
  for (const [path, notice] of [
    ["/console/kits", "Owners and developers of the account save them here."],
    ["/console/make", "Owners and developers of the account make cards here."],
    ["/console/playground", "Owners and developers of the account fill in a player"],
  ] as const) {
    const [theirs, mine] = [await (await viewer.get(path)).text(), await (await owner.get(path)).text()];
    expect(theirs).toContain(notice);
    expect(mine).not.toContain(notice);
    for (const [page, has] of [
      [theirs, false],
      [mine, true],
    ] as const)
      expect({ path, has: /name="(primary_color|player_name|name)"/.test(page) }).toEqual({ path, has });
  }
});

test("a viewer changes nothing, whatever is sent", async () => {
  const audit = () => listActivity(server.service.store.read, { accountId: account.account.id, limit: 100 });
  const before = await audit();
  for (const route of accountRoutes.filter(({ method }) => method === "POST")) {
    const path = addressOf(route, ids);
    const answer = await (route.maxUploadBytes === undefined
      ? viewer.post(path, {
          role: "owner",
          email: "x@rovers.example",
          name: "x",
          environment: "test",
          sure: "yes",
        })
      : viewer.upload(path, new File(["id,name\n1,Bo"], "squad.csv")));
    expect({ path, status: answer.status }).toEqual({ path, status: 403 });
    if (route.access === "member") expect(await answer.text()).toContain("You are a viewer of this account");
  }
  expect(await audit()).toEqual(before);
});

test("an owner makes a member a viewer and back, and the last owner stays one", async () => {
  const { service } = server;
  const accountId = account.account.id;
  const dev = (await membersOf(service.store.read, accountId)).find(({ user }) =>
    user.email.startsWith("dev"),
  );
  const role = async () =>
    (await membersOf(service.store.read, accountId)).find(({ user }) => user.id === dev?.user.id)?.membership
      .role;
  await owner.post(`/console/members/${dev?.user.id}/role`, { role: "viewer" });
  expect(await role()).toBe("viewer");
  expect((await developer.post("/console/keys", { name: "x", environment: "test" })).status).toBe(403);
  await owner.post(`/console/members/${dev?.user.id}/role`, { role: "developer" });
  expect(await role()).toBe("developer");
  const last = changeRole(service, { accountId, userId: ids.members ?? "", role: "viewer", by: null });
  await expect(last).rejects.toThrow("An account needs an owner");
});

test("developers delete players only where an owner allows it; by the API a key's scope decides", async () => {
  const form = { external_id: "in-a-batch", sure: "yes" };
  expect((await developer.post("/console/data/player", form)).status).toBe(403);
  expect(await (await developer.get("/console/data")).text()).not.toContain('action="/console/data/player"');
  expect((await developer.post("/console/data/deletion", { developers: "yes" })).status).toBe(403);

  await owner.post("/console/data/deletion", { developers: "yes" });
  expect(await (await developer.get("/console/data")).text()).toContain('action="/console/data/player"');
  expect((await developer.post("/console/data/player", form)).status).toBe(303);
  const { data } = (await (
    await get(server.baseUrl, account.testKey, "/v1/images?external_id=in-a-batch")
  ).json()) as { data: { images: unknown[] } };
  expect(data.images).toEqual([]);

  await owner.post("/console/data/deletion", {});
  expect((await developer.post("/console/data/player", form)).status).toBe(403);
  expect((await owner.post("/console/data/player", form)).status).toBe(303);
});

test("whoever may not delete deletes no single image either, and makes no key that does, nor the successor of one", async () => {
  const { service } = server;
  const made = async (environment: "live" | "test", name: string) =>
    (await listKeys(service.store.read, account.account.id)).findLast(
      (key) => key.environment === environment && key.name === name,
    );
  const deletes = `/console/images/${ids.images}/delete`;
  expect(await (await developer.get(`/console/images/${ids.images}`)).text()).not.toContain(deletes);
  expect((await developer.post(deletes)).status).toBe(403);
  const form = { name: "Dev", environment: "live" };
  const asked = { ...form, limits: "1", scope_read: "1", scope_delete: "1" };
  const refused = await developer.post("/console/keys", asked);
  expect(refused.status).toBe(403);
  expect(await refused.text()).toContain(
    "Only an owner of the account may make a key with the scope delete, unless one allows developers to.",
  );
  expect((await developer.post("/console/keys", form)).status).toBe(303);
  expect((await made("live", "Dev"))?.scopes).toEqual(["create", "read", "webhooks"]);
  expect((await developer.post("/console/documentation/key")).status).toBe(200);
  expect((await made("test", "Documentation"))?.scopes).toEqual(["create", "read", "webhooks"]);
  const page = await (await developer.get("/console/keys")).text();
  expect(page).not.toContain('name="scope_delete"');
  // One that may do everything, and one that may not delete.
  const whole = (await listKeys(service.store.read, account.account.id)).find(
    ({ scopes }) => scopes === null,
  );
  expect(page).not.toContain(`/console/keys/${whole?.id}/regenerate`);
  expect((await developer.post(`/console/keys/${whole?.id}/regenerate`)).status).toBe(403);
  const limited = (await made("live", "Dev"))?.id;
  expect(page).toContain(`/console/keys/${limited}/regenerate`);
  expect((await developer.post(`/console/keys/${limited}/regenerate`)).status).toBe(303);

  await owner.post("/console/data/deletion", { developers: "yes" });
  expect((await developer.post("/console/keys", asked)).status).toBe(303);
  expect((await developer.post(deletes)).status).toBe(303);
  await owner.post("/console/data/deletion", {});
});
