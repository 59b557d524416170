import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { eq } from "drizzle-orm";
import { uploadAt } from "../../src/core/own-photos.ts";
import { imagesOfBatch, listBatches } from "../../src/store/images/batches.ts";
import { listSets } from "../../src/store/sets/card-sets.ts";
import {
  imageRequest,
  post,
  type TestAccount,
  type TestServer,
  testAccount,
  testServer,
  untilEnded,
} from "../harness.ts";
import { type Client, client, testMember } from "./sessions.ts";

let server: TestServer;
let own: TestAccount;
let ana: Client;
let set: string;
beforeAll(async () => {
  server = await testServer({ knowsPhotos: true });
  own = await testAccount(server.service, { credits: 1_200 });
  const member = await testMember(server.service, own.account.id, "ana@rovers.example");
  ana = await client(server.service, server.baseUrl, member);
  await ana.post("/console/sets", {
    name: "Week",
    season: "",
    environment: "live",
    parallel_1: "base",
    parallel_2: "silver",
    size_2: "1500",
    players: "m1, Maya Okafor, 9\nm2, Bo Lind, 4",
  });
  const scope = { accountId: own.account.id, environment: "live", limit: 1 } as const;
  set = `/console/sets/${(await listSets(server.service.store.read, scope))[0]?.id}`;
});
afterAll(() => server.close());

const text = async (path: string) => (await ana.get(path)).text();
const liveBatches = () =>
  listBatches(server.service.store.read, { accountId: own.account.id, environment: "live", limit: 9 });

/** A finished live card of a player, without drawing one. */
async function finishedCard(externalId: string, photo: string): Promise<void> {
  const request = imageRequest({ player: { external_id: externalId } });
  const { data } = (await (await post(server.baseUrl, own.testKey, request)).json()) as {
    data: { image_id: string };
  };
  await untilEnded(server.baseUrl, own.testKey, data.image_id);
  const live = imageRequest({ player: { external_id: externalId, source_image_url: photo } });
  await server.service.store.write("make it live", ({ db, t }) =>
    db.update(t.images).set({ environment: "live", request: live }).where(eq(t.images.id, data.image_id)),
  );
}

const order = async (parallel: string, cards: number) =>
  (
    await ana.post(`${set}/fill`, { parallel, from: "", cards: String(cards), once: `form_${parallel}` })
  ).headers.get("location") ?? "";

test("players whose uploaded photo is gone are named, and their cards are made from photos dropped for them", async () => {
  const gone = `${server.baseUrl}/v1/photos/pho_gone`;
  await finishedCard("m1", gone);
  await finishedCard("m2", gone);
  const page = await text(`${set}/fill?parallel=base`);
  expect(page).toContain("2 players need another photo");
  expect(page).toContain("Every card that is left to make needs another photo.");
  expect(page).not.toContain("Make 2 cards");
  const [action = ""] = /[^"]+\/fill\/photos\?[^"]+/.exec(page) ?? [];
  const photo = (name: string) =>
    Bun.file(join(import.meta.dir, "../photos/yoga.jpg"))
      .bytes()
      .then((bytes) => new File([bytes], name, { type: "image/jpeg" }));
  const send = async (name: string, fields = {}) =>
    ana.upload(action.replaceAll("&amp;", "&"), await photo(name), fields);
  // By the file's name, and in a player's line.
  await send("stranger.jpg");
  expect(await text(`${set}/fill?parallel=base`)).toMatch(/of nobody here by its name.*2 players need/s);
  await send("maya_okafor.jpg");
  const one = await text(`${set}/fill?parallel=base`);
  expect(one).toContain("1 player needs another photo");
  expect(one).toContain("Make 1 card for 1 credit");
  await send("IMG_2231.jpg", { player: "m2" });
  const all = await text(`${set}/fill?parallel=base`);
  expect(all).toContain("Everybody has a photo again");
  const [thumb = ""] = /[^"]+\/fill\/photo\?[^"]+/.exec(all) ?? [];
  expect((await ana.get(thumb.replaceAll("&amp;", "&"))).headers.get("content-type")).toBe("image/webp");
  const batch = await order("base", 2);
  expect(batch).toStartWith("/console/batches/");
  const images = await imagesOfBatch(server.service.store.read, batch.split("/").at(-1) ?? "");
  const photos = images.map(
    ({ request }) => (request as ReturnType<typeof imageRequest>).player.source_image_url,
  );
  const { baseUrl, port } = server.service.config;
  expect(photos.map((address) => uploadAt(address, { baseUrl, port }))).not.toContain("pho_gone");
  expect(new Set(photos).size).toBe(2);
});

test("an order of several batches that the credits do not last for makes none of them", async () => {
  const before = (await liveBatches()).length;
  expect(await order("silver", 3_000)).toContain("/fill?parallel=silver");
  expect(await text(`${set}/fill?parallel=silver`)).toContain("needs 3000 credits");
  expect(await liveBatches()).toHaveLength(before);
});
