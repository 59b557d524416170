import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { createKey } from "../../src/app/people/manage-account.ts";
import {
  HUNG_MS,
  imageRequest,
  type TestAccount,
  type TestServer,
  testAccount,
  testFolder,
  testServer,
} from "../harness.ts";

// The official client, over both transports, against the whole service with its browser.

const MAIN = join(import.meta.dir, "../../src/main.ts");
const elsewhere = testFolder();
let server: TestServer;
let partner: TestAccount;
const clients: Client[] = [];

beforeAll(async () => {
  server = await testServer({ knowsPhotos: true });
  partner = await testAccount(server.service, { credits: 10 });
});
afterAll(async () => {
  for (const client of clients) await client.close();
  await server.close();
  await elsewhere.remove();
});

async function connected(transport: Parameters<Client["connect"]>[0]): Promise<Client> {
  const client = new Client({ name: "test", version: "1.0.0" });
  await client.connect(transport);
  clients.push(client);
  return client;
}

const overHttp = (key = partner.liveKey) =>
  connected(
    new StreamableHTTPClientTransport(new URL(`${server.baseUrl}/mcp`), {
      requestInit: { headers: { Authorization: `Bearer ${key}` } },
    }),
  );

const overStdio = (key = partner.liveKey, env: Record<string, string> = {}) =>
  connected(
    new StdioClientTransport({
      command: process.execPath,
      args: [MAIN, "mcp", "--url", server.baseUrl],
      env: { PATH: process.env.PATH ?? "", CARDPRESS_KEY: key, CARDPRESS_ALLOW_ROOT: "1", ...env },
      cwd: elsewhere.dir,
    }),
  );

// biome-ignore lint/suspicious/noExplicitAny: results are read as a model reads them.
type Result = any;

async function use(client: Client, name: string, args: object = {}): Promise<Result> {
  return client.callTool({ name, arguments: args as Record<string, unknown> }, { timeout: HUNG_MS });
}

/** The JSON that a tool answered; throws what it said where it failed. */
async function read(client: Client, name: string, args: object = {}): Promise<Result> {
  const { isError, content } = await use(client, name, args);
  if (isError) throw new Error(content[0].text);
  return JSON.parse(content[0].text);
}

/** Asks again while the card is being made, as an agent does: each answer waits some seconds for it. */
async function endedCard(client: Client, image_id: string): Promise<Result> {
  let asked: Result;
  do asked = await read(client, "wait_for_card", { image_id });
  while (asked.status === "processing");
  return asked;
}

const card = (change: Parameters<typeof imageRequest>[0] = {}) => {
  const { type: _, ...rest } = imageRequest({
    ...change,
    player: { source_image_url: server.photos.url("yoga.jpg"), ...change.player },
  });
  return rest;
};

const TOOLS = [
  "list_presets",
  "list_sets",
  "make_card",
  "wait_for_card",
  "look_at_card",
  "get_usage",
  "make_batch",
  "get_batch",
  "read_failures",
];

for (const [name, connect, tools] of [
  ["streamable HTTP", overHttp, TOOLS],
  ["stdio", overStdio, [...TOOLS, "check_template"]],
] as const) {
  describe(`over ${name}`, () => {
    let client: Client;
    beforeAll(async () => {
      client = await connect();
    });

    test("the tools are listed, each with a description and a schema of its arguments", async () => {
      const listed = (await client.listTools()).tools;
      expect(listed.map((tool) => tool.name)).toEqual(tools as string[]);
      for (const { name, description, inputSchema } of listed) {
        expect([name, description?.length ?? 0]).toEqual([name, expect.any(Number)]);
        expect(inputSchema.type).toBe("object");
      }
    });

    test("a card is made with the partner's own words, waited for, looked at, and charged once", async () => {
      const before = await read(client, "get_usage");
      const { presets } = await read(client, "list_presets");
      expect(presets.map((preset: Result) => preset.name)).toContain("club_card");
      const order = {
        ...card({ metadata: { season: "2026" }, style: { width: 512, height: 640 } }),
        idempotency_key: `one-over-${name.replace(" ", "-")}`,
      };
      const made = await read(client, "make_card", { ...order, wait_seconds: 0 });
      const ended = await endedCard(client, made.image_id);
      expect(ended).toMatchObject({
        status: "completed",
        external_id: "player-1",
        metadata: { season: "2026" },
      });
      const again = await read(client, "make_card", order);
      expect(again.image_id).toBe(made.image_id);
      const {
        content: [picture],
      } = await use(client, "look_at_card", { image_id: made.image_id, width: 256 });
      expect(picture).toMatchObject({ type: "image", mimeType: "image/png" });
      const bytes = Uint8Array.fromBase64(picture.data);
      expect(await new Bun.Image(bytes).metadata()).toMatchObject({ width: 256 });
      const after = await read(client, "get_usage");
      expect(after.credits_used - before.credits_used).toBe(1);
    });

    test("a set is found, and a card of it made with its number", async () => {
      const made = await fetch(`${server.baseUrl}/v1/sets`, {
        method: "POST",
        headers: { "X-API-Key": partner.liveKey, "Content-Type": "application/json" },
        body: JSON.stringify({
          name: `Season over ${name}`,
          parallels: [{ name: "gold", size: 5 }],
          players: [{ external_id: "player-1" }],
        }),
      });
      const { data } = (await made.json()) as Result;
      const { sets } = await read(client, "list_sets");
      expect(sets[0]).toMatchObject({ set_id: data.set_id, name: `Season over ${name}` });
      const order = { ...card({ style: { width: 512, height: 640 } }), wait_seconds: 20 };
      const one = await read(client, "make_card", { ...order, set: { id: data.set_id, parallel: "gold" } });
      expect(one.set).toMatchObject({ parallel: "gold", serial: 1, size: 5 });
      const { players } = await read(client, "list_sets", { set_id: data.set_id });
      const [{ made: cards, processing }] = players[0].parallels;
      expect(cards + processing).toBe(1);
      const unknown = await use(client, "list_sets", { set_id: "set_none" });
      expect(unknown.content[0].text).toStartWith("NOT_FOUND: ");
    });

    test("a refused card says which field is wrong and what helps, in the words of the API", async () => {
      const refused = await use(client, "make_card", card({ player: { number: 0, name: "" } }));
      expect(refused.isError).toBeTrue();
      const [{ text }] = refused.content;
      expect(text).toStartWith("INVALID_REQUEST: ");
      expect(text).toContain("- player.number must be a whole number from 1 to 99; got 0.");
      expect(text).toContain("- player.name ");
      expect(text).toMatch(/\/docs\/errors\/INVALID_REQUEST\nRequest req_/);
      const unread = await use(client, "wait_for_card", { image: "img_1" });
      expect(unread.content[0].text).toBe(
        "The arguments cannot be used.\n- image_id is required: text.\n- image is not a field of this request. Remove it, or check its spelling.",
      );
    });

    test("a batch is made from a table, its faults named by row and column, its failures read", async () => {
      const table = (...rows: string[]) => ["Spieler-ID;Name;Pos;Trikot;Rating;Foto", ...rows].join("\n");
      const photo = server.photos.url("nobody.jpg");
      const order = { preset: "club_card", columns: { external_id: "Spieler-ID", number: "Trikot" } };
      const refused = await use(client, "make_batch", {
        ...order,
        table: table(`a;Ada;ST;9;80;${photo}`, `b;Bea;GK;111;80;${photo}`),
      });
      expect(refused.content[0].text).toContain("- row 3, Trikot: must be a whole number from 1 to 99");
      const unknown = await use(client, "make_batch", {
        ...order,
        columns: { number: "Nummer" },
        table: table(),
      });
      expect(unknown.isError).toBeTrue();
      const batch = await read(client, "make_batch", {
        ...order,
        for_all: { background_theme: "ice" },
        table: table(`a;Ada;ST;9;80;${photo}`),
      });
      expect(batch).toMatchObject({ total: 1, status: "processing" });
      let state = batch;
      while (state.status === "processing")
        state = await read(client, "get_batch", { batch_id: batch.batch_id });
      expect(state).toMatchObject({ status: "completed", failed: 1 });
      const [failure] = await read(client, "read_failures", { batch_id: batch.batch_id });
      expect(failure).toMatchObject({ external_id: "a", failure: { reason: "photo_unreachable" } });
      const [newest] = await read(client, "read_failures", { limit: 1 });
      expect(newest).toMatchObject({ image_id: failure.image_id, name: "Ada", failure: failure.failure });
    });
  });
}

test("a key's scopes hold in tools, and a key that reads alone makes nothing", async () => {
  const { key } = await createKey(server.service, {
    accountId: partner.account.id,
    environment: "live",
    name: "reader",
    by: null,
    scopes: ["read"],
  });
  const client = await overHttp(key);
  const refused = await use(client, "make_card", card());
  expect(refused.isError).toBeTrue();
  expect(refused.content[0].text).toStartWith("KEY_NOT_ALLOWED: ");
  expect((await read(client, "list_presets")).presets).not.toBeEmpty();
});

test("a message without a key is answered with 401 and asks for a bearer", async () => {
  for (const headers of [{}, { Authorization: "Bearer sk_live_wrong" }, { Authorization: "Basic eDp5" }]) {
    const response = await fetch(`${server.baseUrl}/mcp`, { method: "POST", headers, body: "{}" });
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toBe('Bearer realm="cardpress"');
    expect(((await response.json()) as Result).error.code).toBe("INVALID_API_KEY");
  }
});

test("a message with more brackets than any needs is refused before it is parsed", async () => {
  const { testKey } = await testAccount(server.service);
  const response = await fetch(`${server.baseUrl}/mcp`, {
    method: "POST",
    headers: { Authorization: `Bearer ${testKey}`, "Content-Type": "application/json" },
    body: "[".repeat(1_000_000),
  });
  expect(response.status).toBe(400);
  expect(((await response.json()) as Result).error.code).toBe("INVALID_REQUEST");
});

test("messages count against the account's budget as calls do", async () => {
  const { testKey } = await testAccount(server.service, { tier: "starter" });
  const ping = () =>
    fetch(`${server.baseUrl}/mcp`, {
      method: "POST",
      headers: {
        Authorization: `Bearer ${testKey}`,
        "Content-Type": "application/json",
        Accept: "application/json, text/event-stream",
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }),
    });
  const first = await ping();
  expect([first.status, await first.text()]).toEqual([200, expect.stringContaining('"result"')]);
  const left = Number(first.headers.get("x-ratelimit-remaining"));
  const statuses = new Map<number, number>();
  // A minute may end on the way, which gives a whole budget more.
  for (let i = 0; i < 2 * left + 5 && !statuses.has(429); i++) {
    const { status } = await ping();
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  expect(statuses.has(429)).toBeTrue();
});

test("a template is checked where it lies, with its findings", async () => {
  const folder = join(elsewhere.dir, "broken");
  await cp(join(import.meta.dir, "../../templates/club_card"), folder, { recursive: true });
  await Bun.write(join(folder, "template.json"), '{"name": "Broken"}');
  const client = await overStdio();
  const report = await read(client, "check_template", { folder: "broken" });
  expect(report).toMatchObject({ isGood: false });
  expect(report.faults.map((fault: Result) => fault.severity)).toContain("error");
  const nothing = await use(client, "check_template", { folder: "nowhere" });
  expect(nothing.isError).toBeTrue();
  expect(nothing.content[0].text).toContain("holds no template");
});

test("without a key in its environment the program says which variable to set", async () => {
  const client = await overStdio("");
  const refused = await use(client, "list_presets");
  expect(refused.content[0].text).toContain("CARDPRESS_KEY");
});
