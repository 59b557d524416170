import { afterAll, beforeAll, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { AcceptedImageResponse } from "../../src/http/schemas.ts";
import { SetResponse } from "../../src/http/set-schemas.ts";
import { imageRequest, post, type TestAccount, testAccount } from "../harness.ts";
import {
  expectError,
  expectStandardHeaders,
  expectSuccess,
  finishNext,
  type Json,
  send,
  type TestApi,
  testApi,
} from "./api.ts";

// The public page of a set: closed until its account opens it, and gone when it is withdrawn.

const DAY_MS = 86_400_000;

let api: TestApi;
let own: TestAccount;
let setId: string;
beforeAll(async () => {
  api = await testApi();
  own = await testAccount(api, { credits: 100 });
  ({ set_id: setId } = await expectSuccess(
    await call("POST", "/v1/sets", {
      name: "Rovers <26/27>",
      season: "2026/27",
      parallels: [
        { name: "base", size: null },
        { name: "gold", size: 3 },
      ],
      players: Array.from({ length: 30 }, (_, n) => ({ external_id: `p${n}`, name: `Secret ${n}` })),
    }),
    201,
    SetResponse,
  ));
});
afterAll(() => api.close());

const call = (method: string, path: string, body?: Json, key = own.liveKey) =>
  send(api, path, {
    method,
    headers: { "Content-Type": "application/json", "X-API-Key": key },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
/** A finished card of the player at a place of the checklist. */
async function made(player: number, parallel: string, more: object = {}): Promise<string> {
  const request = {
    ...imageRequest({
      player: { external_id: `p${player}`, name: `Player ${player}.`, source_image_url: api.photo },
    }),
    set: { id: setId, parallel },
    ...more,
  };
  await expectSuccess(await post(api.baseUrl, own.liveKey, request), 202, AcceptedImageResponse);
  return finishNext(api, "completed");
}
const change = async (gallery: boolean): Promise<string | null> => {
  const { gallery_url } = await expectSuccess(
    await call("PATCH", `/v1/sets/${setId}`, { gallery }),
    200,
    SetResponse,
  );
  return gallery_url && new URL(gallery_url).pathname;
};
/** What the page shows of its cards, in its order. */
const captions = (html: string) =>
  [...html.matchAll(/<strong>(.*?)<\/strong><span>(.*?)<\/span>/g)].map(
    ([, name, place]) => `${name} ${place}`,
  );
const shown = async (path: string) => captions(await (await send(api, path)).text());

test("a gallery opens at an address of its own, shows a card of each player and parallel, and may be framed", async () => {
  const before = await expectSuccess(await call("GET", `/v1/sets/${setId}`), 200, SetResponse);
  expect(before.gallery_url).toBeNull();
  await made(1, "gold");
  for (const parallel of ["gold", "gold", "base"]) await made(0, parallel);
  const path = (await change(true)) ?? "";
  expect(path).toMatch(/^\/gallery\/gal_\w{20,}$/);
  // Open already: it keeps its address.
  expect(await change(true)).toBe(path);
  const response = await send(api, path);
  const html = await response.text();
  expect(response.status).toBe(200);
  expectStandardHeaders(response);
  expect(captions(html)).toEqual(["Player 0. base", "Player 0. gold 1/3", "Player 1. gold 1/3"]);
  expect(html).toContain("<title>Rovers &lt;26/27> · 2026/27</title>");
  expect(html).not.toContain("Secret");
  expect(html.match(/loading="lazy"/g)).toHaveLength(3);
  expect(html.match(/href="https:\/\/cards\.example\.org\/share\/img_/g)).toHaveLength(3);
  const policy = response.headers.get("content-security-policy") ?? "";
  expect(policy).toEndWith("frame-ancestors *");
  expect(policy).not.toContain("unsafe");
  expect(response.headers.get("x-frame-options")).toBeNull();
  expect(response.headers.get("x-robots-tag")).toBe("noindex");
});

test("a deleted card gives its place to the next, and all are gone when they expire", async () => {
  const path = (await change(true)) ?? "";
  const latest = await made(2, "base");
  expect(await shown(path)).toContain("Player 2. base");
  await call("DELETE", `/v1/images/${latest}`);
  expect(await shown(path)).not.toContain("Player 2. base");
  await call("DELETE", "/v1/players/p1");
  expect(await shown(path)).toEqual(["Player 0. base", "Player 0. gold 1/3"]);
  api.clock.advance(30 * DAY_MS);
  expect(await shown(path)).toEqual([]);
  expect(await (await send(api, path)).text()).toContain("No cards are shown here yet.");
});

test("a card without a page, as a file for the printer, is none of them", async () => {
  const path = (await change(true)) ?? "";
  const id = await made(0, "base");
  expect(await shown(path)).toEqual(["Player 0. base"]);
  await api.store.write("make it a PDF", ({ db, t }) =>
    db.update(t.images).set({ outputContentType: "application/pdf" }).where(eq(t.images.id, id)),
  );
  expect(await shown(path)).toEqual([]);
});

test("a page has a bounded number of players, and leads on to the next", async () => {
  const path = (await change(true)) ?? "";
  for (let n = 3; n < 30; n++) await made(n, "base");
  const first = await (await send(api, path)).text();
  expect(captions(first)).toHaveLength(24);
  const next = /href="(\/gallery\/[^"]+\?from=\d+)"/.exec(first)?.[1] ?? "";
  expect(first).not.toContain("First cards");
  const second = await (await send(api, next)).text();
  expect(captions(second)).toEqual(["Player 27. base", "Player 28. base", "Player 29. base"]);
  expect(second).toContain(`href="${path}">First cards`);
  expect(second).not.toContain("More cards");
});

test("a card is shown from its publication on", async () => {
  const path = (await change(true)) ?? "";
  const publish_at = new Date(api.clock.now() + DAY_MS).toISOString();
  await made(29, "gold", { publish_at });
  const shownThere = async () => (await shown(`${path}?from=28`)).filter((one) => one.includes("gold"));
  expect(await shownThere()).toEqual([]);
  api.clock.advance(DAY_MS);
  expect(await shownThere()).toEqual(["Player 29. gold 1/3"]);
});

test("a withdrawn gallery is nowhere, and one opened again is elsewhere", async () => {
  const path = (await change(true)) ?? "";
  const before = api.lines.length;
  expect(await change(false)).toBeNull();
  expect((await send(api, path)).status).toBe(404);
  const again = (await change(true)) ?? "";
  expect(again).not.toBe(path);
  expect([(await send(api, path)).status, (await send(api, again)).status]).toEqual([404, 200]);
  expect(api.lines.slice(before).join("\n")).not.toContain(again.split("/").at(-1) ?? "");
});

test("only the set's own account opens it, with a key that may create", async () => {
  const other = await testAccount(api);
  const path = `/v1/sets/${setId}`;
  for (const key of [other.liveKey, own.testKey])
    await expectError(await call("PATCH", path, { gallery: false }, key), "NOT_FOUND");
  const { message } = await expectError(await call("PATCH", path, { gallery: "yes" }), "INVALID_REQUEST");
  expect(message).toContain("gallery");
});
