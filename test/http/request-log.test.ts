import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { sweep } from "../../src/app/operations/sweep.ts";
import { MAX_LOG_EXAMINED } from "../../src/core/limits.ts";
import { findRequest, insertRequests, listRequests } from "../../src/store/overviews/request-log.ts";
import { get, imageRequest, post, type TestAccount, testAccount } from "../harness.ts";
import { type Json, send, type TestApi, testApi } from "./api.ts";

const DAY_MS = 86_400_000;

let api: TestApi;
let own: TestAccount;
beforeAll(async () => {
  api = await testApi();
});
beforeEach(async () => {
  own = await testAccount(api);
});
afterAll(() => api.close());

/** What the account's log has, newest first. */
async function logged(filter: { refused?: boolean; status?: number; externalId?: string } = {}) {
  await api.requests.flush();
  const { requests } = await listRequests(api.store.read, {
    accountId: own.account.id,
    ...filter,
    limit: 500,
  });
  return requests;
}

test("a request is found by its id with the key, the code and the refused fields; an accepted one without its body", async () => {
  const accepted = await post(api.baseUrl, own.testKey, imageRequest({ player: { external_id: "p-1" } }));
  const refused = await post(
    api.baseUrl,
    own.testKey,
    imageRequest({ player: { external_id: "p-2", number: 0 } }),
  );
  expect(await logged()).toHaveLength(2);
  const row = await findRequest(api.store.read, own.account.id, refused.headers.get("x-request-id") ?? "");
  expect(row).toMatchObject({
    method: "POST",
    path: "/v1/images",
    status: 400,
    code: "INVALID_REQUEST",
    environment: "test",
    externalId: "p-2",
    details: [{ field: "player.number", message: "must be a whole number from 1 to 99." }],
  });
  expect(JSON.parse(row?.body ?? "").player.number).toBe(0);
  const id = accepted.headers.get("x-request-id") ?? "";
  expect(await findRequest(api.store.read, own.account.id, id)).toMatchObject({
    status: 202,
    body: null,
    externalId: "p-1",
  });
  expect(await logged({ externalId: "p-2" })).toHaveLength(1);
  expect(await logged({ refused: true })).toHaveLength(1);
  expect(await logged({ status: 202 })).toHaveLength(1);
  const other = await testAccount(api);
  expect(await findRequest(api.store.read, other.account.id, id)).toBeUndefined();
});

test("a remake is found by the player it is about, and is emptied with them, whatever it was refused for", async () => {
  const made = await post(api.baseUrl, own.testKey, imageRequest({ player: { external_id: "p-again" } }));
  const { image_id } = ((await made.json()) as Json).data;
  const remake = (id: string, body: string, key = own.testKey) =>
    send(api, `/v1/images/${id}/remake`, {
      method: "POST",
      headers: { "X-API-Key": key, "Content-Type": "application/json", "Idempotency-Key": "k-again" },
      body,
    });
  await remake(image_id, '{"player": {"name": "Nobody Else", "number": 0}}');
  await remake(image_id, '{"player": {"name": "Nobody Else"');
  await remake(image_id, '{"style": {"background_theme": "ice"}}');
  // Whose these would be is not known, so that nobody could have them deleted.
  await remake("img_none", '{"player": {"name": "Nobody Else"}}');
  await remake(image_id, '{"player": {"name": "Nobody Else"}}', own.liveKey);
  const [accepted, broken, refused] = await logged({ externalId: "p-again" });
  expect(accepted).toMatchObject({ status: 202, body: null });
  expect(broken).toMatchObject({ status: 400, body: '{"player": {"name": "Nobody Else"' });
  expect(refused).toMatchObject({ status: 400, details: [{ field: "player.number" }] });
  expect(refused?.body).toContain("Nobody Else");
  const unknown = (await logged()).filter(({ status }) => status === 404);
  expect(unknown.map(({ body, externalId }) => [body, externalId])).toEqual([
    [null, null],
    [null, null],
  ]);
  const headers = { "X-API-Key": own.testKey };
  expect((await send(api, "/v1/players/p-again", { method: "DELETE", headers })).status).toBe(200);
  expect(await logged({ externalId: "p-again" })).toEqual([]);
  expect(JSON.stringify(await logged())).not.toContain("Nobody Else");
});

test("a refused create is found by its player, whatever else is called external_id, and goes with them", async () => {
  const create = (body: object) => post(api.baseUrl, own.testKey, body);
  const player = { name: "Dimetrodon", position: "ST", number: 300 };
  for (const external_id of ["p-log", 10442])
    expect(
      (await create({ metadata: { external_id: "other" }, player: { ...player, external_id } })).status,
    ).toBe(400);
  expect(await logged({ externalId: "other" })).toEqual([]);
  for (const externalId of ["p-log", "10442"]) {
    expect(await logged({ externalId })).toMatchObject([{ status: 400 }]);
    const headers = { "X-API-Key": own.testKey };
    expect((await send(api, `/v1/players/${externalId}`, { method: "DELETE", headers })).status).toBe(200);
  }
  expect(JSON.stringify(await logged())).not.toContain("Dimetrodon");
});

test("no address below a player's is kept, also where there is none", async () => {
  const headers = { "X-API-Key": own.testKey };
  for (const path of ["/v1/players/team/42", "/v1/players/p-42/consents", "/v1/players/p-42"])
    await send(api, path, { method: path.endsWith("p-42") ? "DELETE" : "GET", headers });
  expect(new Set((await logged()).map(({ path }) => path))).toEqual(new Set(["/v1/players/"]));
});

test("a batch is found by each of its players, accepted or refused, until that player is deleted", async () => {
  const batch = (numbers: Record<string, number>) =>
    send(api, "/v1/batches", {
      method: "POST",
      headers: { "X-API-Key": own.testKey, "Content-Type": "application/json" },
      body: JSON.stringify({
        cards: Object.entries(numbers).map(([external_id, number]) =>
          imageRequest({ player: { external_id, number, name: "Dimetrodon" } }),
        ),
      }),
    });
  expect((await batch({ "b-1": 1, "b-2": 2 })).status).toBe(202);
  expect((await batch({ "b-2": 2, 'b "3"': 300 })).status).toBe(400);
  const statuses = async (externalId: string) => (await logged({ externalId })).map(({ status }) => status);
  expect(await statuses("b-1")).toEqual([202]);
  expect(await statuses("b-2")).toEqual([400, 202]);
  expect(await logged({ externalId: 'b "3"' })).toMatchObject([
    { status: 400, path: "/v1/batches", body: null, details: [{ field: "cards[1].player.number" }] },
  ]);
  expect(JSON.stringify(await logged())).not.toContain("Dimetrodon");
  const other = await testAccount(api);
  expect(
    await listRequests(api.store.read, { accountId: other.account.id, externalId: "b-1", limit: 5 }),
  ).toEqual({ requests: [], next: null });
  const headers = { "X-API-Key": own.testKey };
  expect((await send(api, "/v1/players/b-2", { method: "DELETE", headers })).status).toBe(200);
  expect(await statuses("b-2")).toEqual([]);
  expect(await statuses("b-1")).toEqual([202]);
  api.clock.advance(30 * DAY_MS + 1_000);
  await sweep(api);
  const { db, t } = api.store.read;
  expect(await db.select().from(t.requestPlayers)).toEqual([]);
});

test("no key, no presigned query and no password of an address is kept", async () => {
  const body = imageRequest({
    player: {
      number: 0,
      source_image_url: "https://joe:hunter2@photos.example/a.jpg?X-Amz-Signature=s3cr3t",
    },
    metadata: { note: own.liveKey },
  });
  await post(api.baseUrl, own.testKey, body);
  const [row] = await logged();
  expect(row?.body).toContain("photos.example/a.jpg?…");
  for (const secret of ["hunter2", "s3cr3t", own.liveKey.slice(10)])
    expect(JSON.stringify(row)).not.toContain(secret);
});

test("what is sent as JSON and is none, too large, or to no address is logged as it was answered", async () => {
  const cases: [RequestInit & { path?: string }, number][] = [
    [{ body: '{"player": {"external_id": "p-9", ' }, 400],
    [{ body: "x".repeat(70_000) }, 413],
    [{ path: "/v1/nothing", body: "{}" }, 404],
    [{ path: "/v1/usage", body: "{}" }, 405],
  ];
  for (const [{ path = "/v1/images", body }, status] of cases) {
    const headers = { "X-API-Key": own.testKey, "Content-Type": "application/json", "Idempotency-Key": "k" };
    expect((await send(api, path, { method: "POST", headers, body: body ?? null })).status).toBe(status);
  }
  expect((await logged()).map(({ status }) => status).sort()).toEqual([400, 404, 405, 413]);
  expect(await logged({ externalId: "p-9" })).toHaveLength(1);
});

test("polling fills no disk: of successful reads sixty a minute are kept, of refusals all", async () => {
  for (let n = 0; n < 70; n++) await get(api.baseUrl, own.testKey, "/v1/presets");
  for (let n = 0; n < 70; n++) await get(api.baseUrl, own.testKey, "/v1/images/img_x");
  const rows = await logged();
  expect(rows.filter(({ status }) => status === 200)).toHaveLength(60);
  expect(rows.filter(({ status }) => status === 404)).toHaveLength(70);
});

test("requests are forgotten after thirty days, and a suspended account sees why it was refused", async () => {
  await get(api.baseUrl, own.testKey, "/v1/presets");
  api.clock.advance(30 * DAY_MS - 1_000);
  await sweep(api);
  expect(await logged()).toHaveLength(1);
  api.clock.advance(2_000);
  await sweep(api);
  expect(await logged()).toEqual([]);
  await api.store.write("test", async ({ db, t }) => {
    await db.update(t.accounts).set({ status: "suspended" });
  });
  await get(api.baseUrl, own.testKey, "/v1/presets");
  expect(await logged()).toMatchObject([{ status: 403, code: "PARTNER_SUSPENDED" }]);
});

test("of requests that few fit, each page is looked for among a bounded number, and the last is found", async () => {
  const { account } = await testAccount(api);
  const rows = Array.from({ length: MAX_LOG_EXAMINED + 2 }, (_, at) => ({
    ...{ id: `req_few${String(at).padStart(6, "0")}`, accountId: account.id, environment: "live" as const },
    ...{ keyId: "key", method: "POST", path: "/", status: at === 0 ? 500 : 409, code: null, durationMs: 1 },
    ...{ externalId: "p-few", details: null, body: null, createdAt: at, players: [] },
  }));
  for (let at = 0; at < rows.length; at += 1_000)
    await api.store.write("test", (tx) => insertRequests(tx, rows.slice(at, at + 1_000)));
  // PostgreSQL plans by what it last counted, which it does by itself within a minute.
  await api.store.rawQuery?.("ANALYZE", []);
  for (const filter of [{ status: 500 }, { status: 500, externalId: "p-few" }]) {
    const query = { accountId: account.id, ...filter, limit: 5 };
    const first = await listRequests(api.store.read, query);
    expect(first).toEqual({ requests: [], next: { id: "req_few000002", createdAt: 2 } });
    const second = await listRequests(api.store.read, { ...query, after: first.next ?? undefined });
    expect(second).toMatchObject({ requests: [{ id: "req_few000000" }], next: null });
  }
});
