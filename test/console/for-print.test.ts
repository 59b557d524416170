import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { eq, inArray } from "drizzle-orm";
import { uploadAt } from "../../src/core/own-photos.ts";
import { imagesOfBatch } from "../../src/store/images/batches.ts";
import { imageRequest, type TestAccount, type TestServer, testAccount, testServer } from "../harness.ts";
import { type Client, client, testMember } from "./sessions.ts";

let server: TestServer;
let own: TestAccount;
let ana: Client;
beforeAll(async () => {
  server = await testServer({ env: { CARDPRESS_PRESETS: "club_card,full_bleed" }, knowsPhotos: true });
  own = await testAccount(server.service, { credits: 10 });
  ana = await client(
    server.service,
    server.baseUrl,
    await testMember(server.service, own.account.id, "ana@rovers.example"),
  );
});
afterAll(() => server.close());

const next = (answer: Response) => answer.headers.get("location") ?? "";
const imagesOf = (path: string) => imagesOfBatch(server.service.store.read, path.split("/").at(-1) ?? "");
const text = async (path: string) => (await ana.get(path)).text();

/** The images of a batch once all have ended. */
async function ended(path: string) {
  for (;;) {
    const images = await imagesOf(path);
    if (images.every(({ completedAt }) => completedAt !== null)) return images;
    await Bun.sleep(20);
  }
}

/** The page of a batch of two finished test cards of one player, of which one has no foil. */
async function madeBatch(player: string): Promise<string> {
  const card = (style: object) => imageRequest({ player: { external_id: player }, style });
  const { batch } = await server.service.acceptBatch({
    account: own.account,
    environment: "test",
    idempotencyKey: null,
    name: player,
    requests: [card({ preset: "club_card" }), card({ preset: "full_bleed" })],
  });
  const path = `/console/batches/${batch.id}`;
  await ended(path);
  return path;
}

test("of a player's two cards, that of a template with foil gets its plate for print, and the other none", async () => {
  const path = await madeBatch("both");
  const print = next(await ana.post(`${path}/for-print`, { size: "63x88", foil: "true" }));
  expect(print).not.toBe(`${path}/print`);
  const foils = (await imagesOf(print)).map(({ request }) => (request as { style: object }).style);
  expect(foils).toEqual([
    expect.objectContaining({ preset: "club_card", foil: true, width: 815 }),
    expect.not.objectContaining({ foil: true }),
  ]);
});

test("an order for print of which every card failed is made anew, and says only then that it is", async () => {
  const path = await madeBatch("failing");
  const order = async () => next(await ana.post(`${path}/for-print`, { size: "63x88" }));
  const first = await order();
  expect(await text(first)).toContain("2 cards are made for print");
  const images = await ended(first);
  // Pressed again it is the same one, and nothing is said to be made.
  expect(await order()).toBe(first);
  expect(await text(first)).not.toContain("are made for print beside");
  const ids = images.map(({ id }) => id);
  await server.service.store.write("fail", ({ db, t }) =>
    db
      .update(t.images)
      .set({
        state: "failed",
        failureCode: "IMAGE_PROCESSING_FAILED",
        failureReason: "provider",
        failureMessage: "It failed.",
        outputName: null,
        outputContentType: null,
        outputWidth: null,
        outputHeight: null,
        outputBytes: null,
        outputComposition: null,
        expiresAt: null,
      })
      .where(inArray(t.images.id, ids)),
  );
  const again = await order();
  expect(again).not.toBe(first);
  expect(await text(again)).toContain("2 cards are made for print");
  expect((await imagesOf(again)).some(({ id }) => ids.includes(id))).toBeFalse();
  await ended(again);
  expect(await order()).toBe(again);
  const { batches } = server.service.store.read.t;
  const [row] = await server.service.store.read.db
    .select()
    .from(batches)
    .where(eq(batches.id, again.split("/").at(-1) ?? ""));
  expect(row?.idempotencyKey).toEndWith("-2");
});

/** A batch of finished live cards of players whose uploaded photos are gone, without drawing them. */
async function batchWithoutPhotos(players: Record<string, string>): Promise<string> {
  const photo = `${server.baseUrl}/v1/photos/pho_gone`;
  const { batch } = await server.service.acceptBatch({
    account: own.account,
    environment: "test",
    idempotencyKey: null,
    name: "Week 12",
    requests: Object.entries(players).map(([external_id, name]) =>
      imageRequest({ player: { external_id, name, source_image_url: photo } }),
    ),
  });
  const path = `/console/batches/${batch.id}`;
  await ended(path);
  await server.service.store.write("make it live", async ({ db, t }) => {
    for (const { id } of await imagesOf(path))
      await db.update(t.images).set({ environment: "live" }).where(eq(t.images.id, id));
    await db.update(t.batches).set({ environment: "live" }).where(eq(t.batches.id, batch.id));
  });
  return path;
}

const photosOf = async (path: string) => {
  const { baseUrl, port } = server.service.config;
  return (await imagesOf(path)).map(({ request }) =>
    uploadAt((request as { player: { source_image_url: string } }).player.source_image_url, {
      baseUrl,
      port,
    }),
  );
};

test("cards for print whose uploaded photos are gone are ordered with other photos, or left out by a tick", async () => {
  const path = await batchWithoutPhotos({ g1: "Maya Okafor", g2: "Bo Lind", g3: "Cy Marsh" });
  const page = () => text(`${path}/print`);
  const order = async (fields = {}) =>
    next(await ana.post(`${path}/for-print`, { size: "63x88", ...fields }));
  const bytes = await Bun.file(join(import.meta.dir, "../photos/yoga.jpg")).bytes();
  const send = (name: string, fields = {}) =>
    ana.upload(`${path}/for-print/photos`, new File([bytes], name, { type: "image/jpeg" }), fields);

  const none = await page();
  expect(none).toContain("3 players need another photo");
  expect(none).toContain("Every card needs another photo first.");
  expect(none).not.toContain("for print</button>");
  expect(await order({ left_out: "3" })).toBe(`${path}/print`);

  await send("bo_lind.jpg");
  await send("IMG_2231.jpg", { player: "g3" });
  const two = await page();
  expect(two).toContain("Leave out the 1 player who needs another photo");
  expect(two).toContain("Make 2 cards for print");
  const [thumb = ""] = /[^"]+\/for-print\/photo\?[^"]+/.exec(two) ?? [];
  expect((await ana.get(thumb.replaceAll("&amp;", "&"))).headers.get("content-type")).toBe("image/webp");

  // Nothing is ordered without the tick, nor with one that counts other players.
  expect(await order()).toBe(`${path}/print`);
  expect(await page()).toContain("the uploaded photos of Maya Okafor are gone");
  expect(await order({ left_out: "2" })).toBe(`${path}/print`);
  const print = await order({ left_out: "1" });
  expect(print).not.toBe(`${path}/print`);
  const photos = await photosOf(print);
  expect(photos).toHaveLength(2);
  expect(photos).not.toContain("pho_gone");
  expect(photos).not.toContain(undefined);
});
