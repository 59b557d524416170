import { afterAll, beforeAll, expect, test } from "bun:test";
import { PNG } from "pngjs";
import { storedRequest } from "../../src/core/image-request.ts";
import { imagesOfBatch } from "../../src/store/images/batches.ts";
import { type TestAccount, type TestServer, testAccount, testServer } from "../harness.ts";
import { type TestBrowser, testBrowser } from "./browser.ts";
import { type Client, client, signIn, submit, testMember, textOf } from "./sessions.ts";

let server: TestServer;
let browser: TestBrowser;
let own: TestAccount;
let ana: Client;
const astronaut = await Bun.file("test/photos/astronaut.png").bytes();

beforeAll(async () => {
  [server, browser] = await Promise.all([testServer({ knowsPhotos: true }), testBrowser()]);
  own = await testAccount(server.service, { credits: 10 });
  ana = await client(
    server.service,
    server.baseUrl,
    await testMember(server.service, own.account.id, "ana@rovers.example"),
  );
  while (server.service.pool.health().ready === 0) await Bun.sleep(25);
});
afterAll(() => Promise.all([server?.close(), browser?.close()]));

const next = (answer: Response) => answer.headers.get("location") ?? "";

/** The same person twice, side by side: nobody stands out. */
function twins(): Uint8Array<ArrayBuffer> {
  const one = PNG.sync.read(Buffer.from(astronaut));
  const two = new PNG({ width: 2 * one.width, height: one.height });
  for (const left of [0, one.width]) PNG.bitblt(one, two, 0, 0, one.width, one.height, left, 0);
  return new Uint8Array(PNG.sync.write(two));
}

/** A squad of five whose photos were sent along, on the page before its cards are made. */
async function checkPage(photos: Record<string, Uint8Array<ArrayBuffer>>, address = ""): Promise<string> {
  const rows = [0, 1, 2, 3, 4].map((at) => `p-${at}00;Player${at} Long Name;ST;${at + 1};80;${address}`);
  const file = new File([`id;name;pos;no;ovr;photo\r\n${rows.join("\r\n")}`], "a.csv");
  const list = next(await ana.upload("/console/lists", file));
  const columns = Object.fromEntries(
    ["external_id", "name", "position", "number", "skill_level", ...(address && ["source_image_url"])].map(
      (key, at) => [`col_${key}`, `${at}`],
    ),
  );
  const page = next(await ana.post(list, { ...columns, size: "1024x1280", format: "webp" }));
  for (const [name, bytes] of Object.entries(photos)) await ana.upload(page, new File([bytes], name));
  return page.replace(/photos$/, "check");
}

test("how many cards were looked at is said above them and beside the button, refused ones come first, and a click on a face settles who is meant", async () => {
  const check = await checkPage({
    "p-000.png": astronaut,
    "p-100.png": astronaut,
    "p-200.png": astronaut,
    // Whose it is only the shirt's number says.
    "5.png": astronaut,
    "p-300.png": twins(),
  });
  const answer = await (await ana.get(check)).text();
  expect(answer).toMatch(/data-looked[^>]*>0<\/span> of 5 looked at/);
  expect(answer).toMatch(/data-open[^>]*>5<\/span> of 5 not looked at yet/);
  const { page, complaints } = await browser.open();
  await signIn(page, server.baseUrl, "ana@rovers.example");
  await page.goto(server.baseUrl + check);
  const untilLooked = () => page.waitForFunction(() => document.querySelectorAll("[data-seen]").length === 5);
  await untilLooked();
  expect(await textOf(page, ".looked")).toMatch(/5 of 5 looked at.*1 would fail/s);
  expect(await textOf(page, ".not-looked")).toBe("All 5 looked at. 1 would fail, and cost nothing.");
  const small = await page.$$eval(".previews-all figure", (all) => all.map(({ id }) => id));
  expect(small).toEqual(["card-3", "card-2"]);
  expect(await textOf(page, "#card-4 figcaption")).toContain("Photo by shirt number");

  const canvas = await page.waitForSelector(".photo-problems .focus-photo:not([hidden]) canvas");
  const { width = 0, height = 0 } = (await canvas?.boundingBox()) ?? {};
  await Promise.all([
    page.waitForNavigation(),
    canvas?.click({ offset: { x: 0.22 * width, y: 0.23 * height } }),
  ]);
  await untilLooked();
  expect(await textOf(page, ".not-looked")).toBe("All 5 looked at.");
  expect(await page.$eval(".photo-problems", (one) => one.checkVisibility())).toBe(false);
  await page.click('[name="environment"][value="test"]');
  await submit(page, 'form[action$="/make"] .button-primary');
  const images = await imagesOfBatch(
    server.service.store.read,
    new URL(page.url()).pathname.split("/").pop() ?? "",
  );
  const focus = images.map(({ request }) => storedRequest(request).player.focus);
  expect(focus.map((point) => point && [point.x.toFixed(1), point.y.toFixed(1)])).toEqual([
    undefined,
    undefined,
    undefined,
    ["0.2", "0.2"],
    undefined,
  ]);
  expect(complaints).toEqual([]);
});

test("a point that is none changes nothing, and of somebody else's list no photo is shown", async () => {
  const check = await checkPage({ "p-000.png": astronaut });
  const table = await (await ana.get(check.replace(/check$/, "photos"))).text();
  const [, photo = ""] = /\/photos\/(pho_\w+)\/thumb/.exec(table) ?? [];
  const path = check.replace(/check$/, `photos/${photo}`);
  expect((await ana.get(`${path}/large`)).headers.get("content-type")).toBe("image/webp");
  await ana.post(`${path}/focus`, { focus: "left" });
  expect(await (await ana.get(check)).text()).toContain("Click on the face, or write two fractions");
  const other = await testMember(server.service, own.account.id, "bob@rovers.example");
  const bob = await client(server.service, server.baseUrl, other);
  expect((await bob.get(`${path}/large`)).status).toBe(404);
  expect((await bob.post(`${path}/focus`, { focus: "0.5 0.5" })).status).toBe(404);
});

test("where nobody stands out in a photo that came by an address, its file is asked for, so that a face can be clicked on", async () => {
  const form = new FormData();
  form.set("file", new File([twins()], "twins.png"));
  const headers = { "X-API-Key": own.liveKey };
  const sent = await fetch(`${server.baseUrl}/v1/photos`, { method: "POST", headers, body: form });
  const { data } = (await sent.json()) as { data: { url: string } };
  const check = await checkPage({}, data.url);
  const card = async (): Promise<string> => {
    const fragment = await (await ana.get(check.replace(/check$/, "cards/0"))).text();
    return fragment.includes("Being drawn") ? Bun.sleep(50).then(card) : fragment;
  };
  expect(await card()).toMatch(/Drop this photo.s file in under <a href="[^"]+\/photos">Photos<\/a>/);
});
