import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { Client as McpClient, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { signedCardUrl } from "../../clients/typescript/src/signing.ts";
import { createKey } from "../../src/app/people/manage-account.ts";
import { makeSigningSecret } from "../../src/app/people/manage-signing.ts";
import { sendTest } from "../../src/app/webhooks/manage-deliveries.ts";
import { createEndpoint } from "../../src/app/webhooks/manage-webhooks.ts";
import { readConfig } from "../../src/config.ts";
import { sessionCookie } from "../../src/console/respond.ts";
import { consoleRoutes } from "../../src/console/routes.ts";
import { API_PATHS, fillPath } from "../../src/core/api-paths.ts";
import { freePort } from "../../src/service/free-port.ts";
import { addressOf, type Client, client, PASSWORD, testMember, testOperator } from "../console/sessions.ts";
import {
  get,
  imageRequest,
  post,
  type TestAccount,
  type TestServer,
  testAccount,
  testServer,
  untilEnded,
} from "../harness.ts";
import { type Json, testApi } from "./api.ts";
import { crawl } from "./crawl.ts";

// The whole service under a path of its host. A proxy passes that path on or takes it away: here the first
// is asked for by the base address, the second by the origin alone.

const BASE_PATH = "/club/cards";

let server: TestServer;
let origin: string;
let baseUrl: string;
let own: TestAccount;
let owner: Client;
let operator: Client;
let ids: Record<string, string>;
/** The share address of a finished card, and the gallery it is in. */
let share: string;
let gallery: string;
beforeAll(async () => {
  const port = await freePort("127.0.0.1");
  origin = `http://127.0.0.1:${port}`;
  const env = {
    CARDPRESS_PORT: String(port),
    CARDPRESS_BASE_URL: `${origin}${BASE_PATH}/`,
    CARDPRESS_STATUS_PAGE: "on",
    CARDPRESS_WEBHOOK_ALLOWED_ORIGINS: "http://127.0.0.1:9",
  };
  server = await testServer({ env, renders: false });
  ({ baseUrl } = server);
  const { service } = server;
  own = await testAccount(service);
  owner = await client(service, baseUrl, await testMember(service, own.account.id, "ana@path.example"));
  operator = await client(service, baseUrl, await testOperator(service, "op@path.example"));
  const set = await called("POST", API_PATHS.sets, {
    name: "First team",
    parallels: [{ name: "base", size: null }],
    players: [{ external_id: "player-1" }],
  });
  const order = imageRequest({ player: { source_image_url: `${baseUrl}/docs/samples/player.png` } });
  const { image_id } = await called("POST", API_PATHS.images, {
    ...order,
    set: { id: set.set_id, parallel: "base" },
  });
  const { result } = await untilEnded(baseUrl, own.testKey, image_id);
  share = result.share_url;
  const setPath = fillPath(API_PATHS.set, { set_id: set.set_id });
  gallery = (await called("PATCH", setPath, { gallery: true })).gallery_url;
  const batch = await called("POST", API_PATHS.batches, { name: "Squad", cards: [order] });
  const { endpoint } = await createEndpoint(service, {
    accountId: own.account.id,
    environment: "test",
    url: "http://127.0.0.1:9/hook",
  });
  const delivery = await sendTest(service, { endpointId: endpoint.id });
  const squad = new File(["id,name\nplayer-1,Bo"], "squad.csv");
  const list = (await owner.upload("/console/lists", squad)).headers.get("location") ?? "";
  ids = {
    images: image_id,
    sets: set.set_id,
    batches: batch.batch_id,
    webhooks: endpoint.id,
    deliveries: delivery.id,
    lists: list.split("/").pop() ?? "",
    accounts: own.account.id,
  };
});
afterAll(() => server.close());

/** The data of an answer of the API. */
async function called(method: string, path: string, body?: Json): Promise<Json> {
  const response = await fetch(baseUrl + path, {
    method,
    headers: {
      "X-API-Key": own.testKey,
      "Content-Type": "application/json",
      "Idempotency-Key": crypto.randomUUID(),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const { data, error } = (await response.json()) as Json;
  expect({ path, error }).toEqual({ path, error: null });
  return data;
}

const locationOf = async (address: string, init: RequestInit = {}) => {
  const { status, headers } = await fetch(address, { redirect: "manual", ...init });
  return [status, headers.get("location")];
};

test("every link, script, style, picture and form of every page is under the base path, and every link works", async () => {
  const pages = consoleRoutes.filter(({ method, path }) => method === "GET" && !path.includes("/assets/"));
  // Only pages of which there is one here; the others are led to, where they have something to show.
  const there = pages.map((route) => addressOf(route, ids)).filter((path) => !/none|AAAA/.test(path));
  const start = [...there, new URL(share), `${share}/embed`, gallery].map((path) =>
    String(path).replace(baseUrl, ""),
  );
  const found: string[] = [];
  const outside = await crawl({
    baseUrl,
    start: [...start, "/docs", "/status", "/llms.txt", "/docs/nothing"],
  });
  const known = new Set(outside.paths.filter((path) => !path.startsWith("/console")));
  for (const { cookie } of [owner, operator]) {
    const walk = await crawl({ baseUrl, start, known, headers: { cookie } });
    expect(walk.faults).toEqual([]);
    found.push(...walk.pages);
  }
  expect(outside.faults).toEqual([]);
  found.push(...outside.pages);
  for (const path of [
    "/docs/reference",
    "/docs/errors/NOT_FOUND",
    "/console/operator",
    `/console/images/${ids.images}`,
  ])
    expect(found).toContain(path);
  expect(new Set(found).size).toBeGreaterThan(100);
});

test("requests are read with the base path and without it, and every redirect leads under it", async () => {
  for (const place of [baseUrl, origin]) {
    expect(await locationOf(`${place}/`)).toEqual([303, `${BASE_PATH}/console`]);
    expect(await locationOf(`${place}/console/keys?x=1`)).toEqual([
      303,
      `${BASE_PATH}/console/sign-in?next=${encodeURIComponent("/console/keys?x=1")}`,
    ]);
    expect(await locationOf(`${place}/elements/cardpress-card.js`)).toEqual([
      302,
      expect.stringMatching(new RegExp(`^${BASE_PATH}/elements/cardpress-card-[0-9a-f]{16}\\.js$`)),
    ]);
    for (const path of ["/live", "/ready", "/metrics", "/docs/openapi.json"])
      expect([path, (await fetch(place + path)).status]).toEqual([path, 200]);
  }
  for (const method of ["GET", "HEAD", "POST"])
    expect(await locationOf(`${baseUrl}?to=//evil.example`, { method })).toEqual([
      308,
      `${BASE_PATH}/?to=//evil.example`,
    ]);
});

test("a path that only looks like the base path, or more than it, is nothing here and leads nowhere", async () => {
  for (const path of [
    `${BASE_PATH}x/console`,
    `${BASE_PATH}${BASE_PATH}/console`,
    `/club//cards/console`,
    `/club%2fcards/console`,
    `/CLUB/cards/console`,
    `${BASE_PATH}//evil.example/console`,
    `${BASE_PATH}/%2f%2fevil.example`,
    `${BASE_PATH}/..//evil.example`,
    "/club",
  ])
    expect([path, ...(await locationOf(origin + path))]).toEqual([path, 404, null]);
});

test("a request keeps its body, method and headers on its way in, and its Content-Length on HEAD", async () => {
  const order = imageRequest({ player: { name: "Zoë" } });
  const response = await post(baseUrl, own.testKey, order);
  const { data } = (await response.json()) as Json;
  expect([response.status, response.headers.get("location")]).toEqual([
    202,
    `${BASE_PATH}/v1/images/${data.image_id}`,
  ]);
  // Clients put it behind the base address.
  expect(data.poll_url).toBe(`/v1/images/${data.image_id}`);
  expect((await get(baseUrl, own.testKey, data.poll_url)).status).toBe(200);
  const body = new FormData();
  body.append("file", Bun.file(join(import.meta.dir, "../photos/yoga.jpg")));
  const headers = { "X-API-Key": own.testKey };
  const photo = await fetch(`${baseUrl}/v1/photos`, { method: "POST", headers, body });
  expect(((await photo.json()) as Json).data.url).toStartWith(`${baseUrl}/v1/photos/pho_`);
  const page = await fetch(`${baseUrl}/docs`);
  const head = await fetch(`${baseUrl}/docs`, { method: "HEAD" });
  expect(Number(head.headers.get("content-length"))).toBe((await page.arrayBuffer()).byteLength);
  const tooLong = await post(baseUrl, own.testKey, "x".repeat(200_000));
  expect([tooLong.status, tooLong.headers.get("connection")]).toEqual([413, "close"]);
});

test("the service knows its own photos and pages by their addresses under the base path", async () => {
  const name = async (url: string) => {
    const answer = await fetch(`${baseUrl}/oembed?${new URLSearchParams({ url })}`);
    return [answer.status, ((await answer.json()) as Json).html ?? ""];
  };
  expect(await name(share)).toEqual([200, expect.stringContaining(`src="${share}/embed"`)]);
  expect((await name(share.replace(BASE_PATH, "")))[0]).toBe(404);
  const port = new URL(origin).port;
  for (const place of [baseUrl, `http://localhost:${port}`, `http://localhost:${port}${BASE_PATH}`]) {
    const source_image_url = `${place}/docs/samples/player.png`;
    const answer = await post(baseUrl, own.testKey, imageRequest({ player: { source_image_url } }));
    expect([place, answer.status]).toEqual([place, 202]);
  }
});

test("a signed address is good with the base path, which is not signed", async () => {
  const { account } = own;
  const { record } = await createKey(server.service, {
    accountId: account.id,
    environment: "test",
    name: "signs",
    by: null,
  });
  const { secret } = await makeSigningSecret(server.service, record);
  const card = { external_id: "p", name: "Bo", position: "ST", number: 9, skill_level: 80 } as const;
  const address = await signedCardUrl(
    { preset: "club_card", ...card, photo: `${baseUrl}/docs/samples/player.png` },
    { baseUrl: `${baseUrl}/`, keyId: record.id, secret, expires: new Date(Date.now() + 3_600_000) },
  );
  expect(address).toStartWith(`${baseUrl}/v1/render/club_card?`);
  const codeOf = async (url: string) => (await fetch(url)).headers.get("x-error-code");
  expect(await codeOf(address.replace("Bo", "Jo"))).toBe("KEY_NOT_ALLOWED");
  // The card itself, or word that it is still being made.
  expect([null, "SERVICE_OVERLOADED"]).toContain(await codeOf(address));
});

test("the session's cookie is for the base path alone, and over TLS named so that only TLS sets it", async () => {
  const signedIn = async (place: string) => {
    const response = await fetch(`${place}/console/sign-in`, {
      method: "POST",
      redirect: "manual",
      headers: { origin },
      body: new URLSearchParams({ email: "ana@path.example", password: PASSWORD, next: "/console/keys" }),
    });
    return [response.headers.get("location"), response.headers.get("set-cookie")];
  };
  expect(await signedIn(baseUrl)).toEqual([
    `${BASE_PATH}/console/keys`,
    expect.stringMatching(/^cardpress=[\w-]{43}; Path=\/club\/cards; /),
  ]);
  const config = readConfig({ CARDPRESS_BASE_URL: `https://club.example${BASE_PATH}` });
  expect(sessionCookie(config, "A".repeat(43))).toMatch(
    /^__Secure-cardpress=A{43}; Path=\/club\/cards; Max-Age=\d+; Secure; HttpOnly; SameSite=Lax$/,
  );
});

test("a refused form leads back to its page, and nobody is led to another site", async () => {
  const page = await (await owner.get("/console/keys")).text();
  const csrf = /name="_csrf" value="([\w-]+)"/.exec(page)?.[1] ?? "";
  const refused = async (referer: string) =>
    (await owner.post("/console/keys", { _csrf: csrf, name: "" }, { referer })).headers.get("location");
  expect(await refused(`${baseUrl}/console/keys?a=b`)).toBe(`${BASE_PATH}/console/keys?a=b`);
  for (const path of [
    `${BASE_PATH}//evil.example/console/x`,
    `${BASE_PATH}/..//evil.example`,
    "//evil.example",
  ])
    expect([path, await refused(origin + path)]).toEqual([path, `${BASE_PATH}/console`]);
});

test("a part of a page whose session ended leads the whole page to the sign-in under the base path", async () => {
  const { headers } = await fetch(`${baseUrl}/console/images`, { headers: { "HX-Request": "true" } });
  expect(headers.get("hx-redirect")).toBe(`${BASE_PATH}/console/sign-in?ended=1`);
});

test("a reader's copy of a page from before the base path is no longer good", async () => {
  const plain = await testApi({ env: { CARDPRESS_BASE_URL: origin } });
  try {
    const etag = (await fetch(`${plain.baseUrl}/docs/errors`)).headers.get("etag") ?? "";
    const answer = await fetch(`${origin}/docs/errors`, { headers: { "If-None-Match": etag } });
    expect(answer.status).toBe(200);
  } finally {
    await plain.close();
  }
});

test("a program that speaks the Model Context Protocol reaches the API under the base path", async () => {
  const mcp = new McpClient({ name: "test", version: "1.0.0" });
  const address = new URL(`${baseUrl}/mcp`);
  await mcp.connect(
    new StreamableHTTPClientTransport(address, {
      requestInit: { headers: { Authorization: `Bearer ${own.testKey}` } },
    }),
  );
  const { content } = await mcp.callTool({ name: "list_presets", arguments: {} });
  expect(JSON.stringify(content)).toContain(`${baseUrl}/docs/presets/`);
  await mcp.close();
});
