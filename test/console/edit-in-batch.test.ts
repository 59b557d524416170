import { afterAll, beforeAll, expect, test } from "bun:test";
import { unzipSync } from "fflate";
import { audit } from "../../src/app/operations/audit/audit.ts";
import { changesOfBatch } from "../../src/store/images/batch-places.ts";
import { imagesOfBatch } from "../../src/store/images/batches.ts";
import { findAccount } from "../../src/store/people/accounts.ts";
import { imageRequest, type TestAccount, type TestServer, testAccount, testServer } from "../harness.ts";
import { type Client, client, testMember } from "./sessions.ts";

let server: TestServer;
let own: TestAccount;
let ana: Client;

beforeAll(async () => {
  server = await testServer({ knowsPhotos: true });
  own = await testAccount(server.service, { credits: 10 });
  ana = await client(
    server.service,
    server.baseUrl,
    await testMember(server.service, own.account.id, "ana@rovers.example"),
  );
});
afterAll(() => server.close());

const NO_FILE = new File([], "");
const credits = async () => {
  const account = await findAccount(server.service.store.read, own.account.id);
  return { left: account?.creditsPlan, held: account?.creditsHeld };
};

/** The batch's page once every card has ended. */
async function ended(page: string): Promise<string> {
  for (;;) {
    const text = await (await ana.get(page)).text();
    if (!text.includes("In the making</span>") && /key-completed/.test(text) && !text.includes("hx-get"))
      return text;
    await Bun.sleep(50);
  }
}

test("a card is edited in its batch: words and photo changed, the failed one retried, sheet and ZIP have the new ones, and what is as it was is free", async () => {
  const card = (external_id: string, photo: string) =>
    imageRequest({
      player: { external_id, name: `Player ${external_id}`, source_image_url: server.photos.url(photo) },
      style: { format: "webp" },
    });
  const { batch } = await server.service.acceptBatch({
    account: own.account,
    environment: "live",
    idempotencyKey: null,
    name: "First team",
    requests: [card("p1", "yoga.jpg"), card("p2", "brick.png")],
  });
  const page = `/console/batches/${batch.id}`;
  const first = await ended(page);
  // No second try with the same photo would help, so none is offered.
  expect(first).not.toContain("Retry");
  expect(await credits()).toEqual({ left: 9, held: 0 });
  const [, unfit] = await imagesOfBatch(server.service.store.read, batch.id);
  const choose = `href="/console/images/${unfit?.id}/again?batch=${batch.id}#file"`;
  expect(first).toContain(choose);
  expect(await (await ana.get(`${page}/sheet`)).text()).toContain(choose);
  await ana.post(`${page}/retry-failed`);
  expect(await (await ana.get(page)).text()).toContain("No failed card is left that another try may help.");
  expect(await credits()).toEqual({ left: 9, held: 0 });
  const [good, bad] = await imagesOfBatch(server.service.store.read, batch.id);
  const form = `/console/images/${bad?.id}/again`;
  const shown = await (await ana.get(form)).text();
  expect(shown).toContain("In its place in First team");
  const refused = await ana.upload(form, NO_FILE, { place: batch.id, number: "100" });
  expect(refused.status).toBe(422);
  expect(await refused.text()).toContain('<strong title="player.number">Shirt number</strong>');
  const photo = new File([await Bun.file("test/photos/unsplash_man.jpg").bytes()], "man.jpg");
  const changes = { place: batch.id, name: "Nils Corrected", number: "19", primary_color: "red" };
  const answer = await ana.upload(form, photo, changes);
  expect([answer.status, answer.headers.get("location")]).toEqual([303, page]);
  expect(await (await ana.get(page)).text()).toContain("The card of Nils Corrected is being made again.");
  const sheet = await ended(page);
  expect(sheet).toContain("Nils Corrected");
  expect(sheet).not.toContain("Retry");
  expect(await credits()).toEqual({ left: 8, held: 0 });
  const [, edited] = await imagesOfBatch(server.service.store.read, batch.id);
  expect(edited?.state).toBe("completed");
  expect(edited?.request).toMatchObject({
    player: { number: 19, position: "ST" },
    branding: { primary_color: expect.stringMatching(/^#/) },
  });
  // The form sent once more, by somebody who went back: its card has left the batch.
  const twice = await ana.upload(form, NO_FILE, { place: batch.id, name: "Nils Corrected" });
  expect([twice.status, await twice.text()]).toEqual([422, expect.stringContaining("Open the squad")]);
  expect(await credits()).toEqual({ left: 8, held: 0 });
  const files = unzipSync(await (await ana.get(`${page}/pictures.zip`)).bytes());
  expect(Object.keys(files).sort()).toEqual(["09 Player p1.webp", "19 Nils Corrected.webp", "cards.csv"]);
  // Sent as it is.
  const same = await ana.upload(`/console/images/${good?.id}/again`, NO_FILE, { place: batch.id });
  expect(same.headers.get("location")).toBe(page);
  expect(await (await ana.get(page)).text()).toContain("Nothing was changed, so nothing is made or charged.");
  expect(await credits()).toEqual({ left: 8, held: 0 });
  expect((await imagesOfBatch(server.service.store.read, batch.id))[0]?.id).toBe(good?.id ?? "");
  // Its next photo cannot be had: the page says so and offers another try, and the card stays.
  const gone = { place: batch.id, source_image_url: server.photos.url("gone.jpg") };
  await ana.upload(`/console/images/${good?.id}/again`, NO_FILE, gone);
  const kept = await ended(page);
  expect(kept).toContain("1 change failed: the previous card stays");
  expect(kept).toContain("Retry 1 failed");
  const [stays] = await imagesOfBatch(server.service.store.read, batch.id);
  expect([stays?.id, stays?.state]).toEqual([good?.id, "completed"]);
  const [again = ""] = /\/console\/images\/img_\w+\/again\?batch=\w+/.exec(kept) ?? [];
  expect(again).not.toContain(good?.id ?? "");
  expect(await (await ana.get(again)).text()).toContain("In its place in First team");
  await ana.upload(again.replace(/\?.*/, ""), photo, { place: batch.id, name: "Player once more" });
  expect(await ended(page)).toContain("Player once more");
  expect((await imagesOfBatch(server.service.store.read, batch.id))[0]?.id).not.toBe(good?.id ?? "");
  expect(await credits()).toEqual({ left: 7, held: 0 });
  // Its player allows less since.
  await ana.post("/console/consent", { external_id: "p1", no_photo: "yes" });
  for (const path of [page, `${page}/sheet`])
    expect((await (await ana.get(path)).text()).match(/Photo not allowed/g)).toHaveLength(1);
  const { findings } = await audit(server.service.store, server.service.clock.now());
  expect(findings.filter(({ ok }) => !ok)).toEqual([]);
});

test("while a card is being changed it counts as completed, and the form that changes it says so", async () => {
  const { batch } = await server.service.acceptBatch({
    account: own.account,
    environment: "live",
    idempotencyKey: null,
    name: "Youth",
    requests: [
      imageRequest({
        player: { external_id: "y1", name: "Player y1", source_image_url: server.photos.url("yoga.jpg") },
      }),
    ],
  });
  const page = `/console/batches/${batch.id}`;
  await ended(page);
  const [card] = await imagesOfBatch(server.service.store.read, batch.id);
  const form = `/console/images/${card?.id}/again`;
  expect(await (await ana.get(form)).text()).not.toContain("is being changed");
  const slow = { place: batch.id, source_image_url: server.photos.url("held-unsplash_man.jpg") };
  expect((await ana.upload(form, NO_FILE, slow)).status).toBe(303);
  const shown = await (await ana.get(page)).text();
  expect(shown).toMatch(/class="key-completed">1</);
  expect(shown).toMatch(/Being changed<\/dt>.*?>1</s);
  const [next] = (await changesOfBatch(server.service.store.read, batch.id)).values();
  const edit = await (await ana.get(form)).text();
  expect(edit).toContain("This card is being changed.");
  expect(edit).toContain(`href="/console/images/${next?.id}"`);
  server.photos.release();
  expect(await ended(page)).not.toContain("Being changed");
});

test("what failed in a batch is retried from its page, and a batch without credits for it says so and stays", async () => {
  const poor = await testAccount(server.service, { credits: 1 });
  const ben = await client(
    server.service,
    server.baseUrl,
    await testMember(server.service, poor.account.id, "ben@rovers.example"),
  );
  const request = (external_id: string, photo: string) =>
    imageRequest({ player: { external_id, source_image_url: server.photos.url(photo) } });
  const { batch } = await server.service.acceptBatch({
    account: poor.account,
    environment: "live",
    idempotencyKey: null,
    name: "Youth",
    requests: [request("y1", "missing.jpg")],
  });
  const page = `/console/batches/${batch.id}`;
  const until = async (text: string) => {
    for (;;) {
      const got = await (await ben.get(page)).text();
      if (got.includes(text)) return got;
      await Bun.sleep(50);
    }
  };
  await until("Retry 1 failed");
  const [before] = await imagesOfBatch(server.service.store.read, batch.id);
  expect((await ben.post(`${page}/retry-failed`)).headers.get("location")).toBe(page);
  await until("Retry 1 failed");
  const [after] = await imagesOfBatch(server.service.store.read, batch.id);
  expect(after?.id).not.toBe(before?.id ?? "");
  // The one credit goes elsewhere.
  const single = await server.service.accept({
    account: poor.account,
    environment: "live",
    idempotencyKey: "elsewhere",
    request: request("y2", "yoga.jpg"),
  });
  expect(single.replayed).toBe(false);
  await ben.post(`${page}/retry-failed`);
  expect(await (await ben.get(page)).text()).toContain("credit");
  expect((await imagesOfBatch(server.service.store.read, batch.id))[0]?.id).toBe(after?.id ?? "");
});
