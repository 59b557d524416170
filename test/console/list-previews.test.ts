import { afterAll, beforeAll, expect, spyOn, test } from "bun:test";
import { findAccount } from "../../src/store/people/accounts.ts";
import { type TestAccount, type TestServer, testAccount, testServer } from "../harness.ts";
import { type TestBrowser, testBrowser } from "./browser.ts";
import { type Client, client, signIn, submit, testMember, textOf } from "./sessions.ts";

let server: TestServer;
let browser: TestBrowser;
let own: TestAccount;
let ana: Client;

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

/** The columns of the lists below, in their order. */
const KEYS = ["external_id", "name", "position", "number", "skill_level", "source_image_url"];
const COLUMNS = Object.fromEntries(KEYS.map((key, at) => [`col_${key}`, String(at)]));
const next = (answer: Response) => answer.headers.get("location") ?? "";

test("of a club's list all cards are drawn by themselves, small and marked and free, and whose photo is refused is said above", async () => {
  const photo = (at: number) => server.photos.url(at === 2 ? "brick.png" : "yoga.jpg");
  const rows = Array.from({ length: 6 }, (_, at) => `p${at};Player ${at};ST;${at + 1};80;${photo(at)}`);
  const list = next(
    await ana.upload(
      "/console/lists",
      new File([`id;name;pos;no;ovr;photo\r\n${rows.join("\r\n")}`], "a.csv"),
    ),
  );
  const check = next(await ana.post(list, { ...COLUMNS, size: "1024x1280", format: "webp" }));
  const { page, complaints } = await browser.open();
  await signIn(page, server.baseUrl, "ana@rovers.example");
  await page.goto(server.baseUrl + check);
  // Nobody asked for it: beside the three large ones, the others are drawn.
  await page.waitForFunction(() => document.querySelectorAll(".previews-all img").length === 2);
  expect(await textOf(page, ".photo-problems")).toMatch(/would fail.*Player 2: No player was found/s);
  await page.waitForFunction(() => document.querySelectorAll(".previews img").length === 5);
  await page.goto(`${server.baseUrl}${check}?previews=all`);
  // In the answer, before any script: two are drawn, and the others wait for them.
  const answer = await (await ana.get(`${check}?previews=all`)).text();
  expect(answer.match(/hx-get="[^"]+\/cards\/\d\?small=1"/g)).toHaveLength(2);
  await page.waitForFunction(() => document.querySelectorAll(".previews-all img").length === 5);
  expect(await page.$eval("#card-2", (figure) => figure.textContent)).toMatch(
    /No player was found.*Change the photo/,
  );
  // The way to another photo ends at the form for it, open.
  await submit(page, "#card-2 figcaption a");
  await page.waitForSelector('input[aria-label="Photo of Player 2"]', { visible: true });
  await page.goto(`${server.baseUrl}${check}?previews=all`);
  await page.waitForFunction(() => document.querySelectorAll(".previews-all img").length === 5);
  // Said once for all cards, too, above the button that makes them.
  expect(await textOf(page, ".photo-problems")).toMatch(
    /would fail, and cost nothing.*Player 2: No player was found/s,
  );
  const sizes = await page.$$eval(".previews-all img", async (images) =>
    Promise.all(
      images.map(async (image) => {
        await (image as HTMLImageElement).decode();
        return (image as HTMLImageElement).naturalWidth;
      }),
    ),
  );
  expect(sizes).toEqual([240, 240, 240, 240, 240]);
  const account = await findAccount(server.service.store.read, own.account.id);
  expect([account?.creditsPlan, account?.creditsHeld]).toEqual([10, 0]);
  await submit(page, '.card-head a[href$="/check"]');
  expect(await page.$$(".previews figure")).toHaveLength(6);
  expect(await page.$$(".previews-all figure")).toHaveLength(3);
  expect(complaints).toEqual([]);
  // However often a page asks for them, the list is not worked out anew.
  const works = spyOn(server.service.templates, "current");
  const polled = check.replace(/check$/, "cards/0");
  for (const part of ["", "?small=1", "/picture?small=1", "?small=1"])
    expect((await ana.get(polled + part)).status).toBe(200);
  expect(works).not.toHaveBeenCalled();
  await ana.get(check);
  expect(works).toHaveBeenCalled();
  works.mockRestore();
  // The large ones stay the three that show most.
  const path = check.replace(/check$/, "cards");
  expect((await ana.get(`${path}/4`)).status).toBe(404);
  expect((await ana.get(`${path}/4/picture`)).status).toBe(404);
  expect((await ana.get(`${path}/6?small=1`)).status).toBe(404);
});

test("of a list too long to be drawn unasked, all are offered beside how many were looked at", async () => {
  const rows = Array.from(
    { length: 61 },
    (_, at) => `p${at};Player ${at};ST;9;80;https://photos.example/${at}.jpg`,
  );
  const file = new File([`id;name;pos;no;ovr;photo\r\n${rows.join("\r\n")}`], "a.csv");
  const list = next(await ana.upload("/console/lists", file));
  const check = next(await ana.post(list, { ...COLUMNS, size: "1024x1280", format: "webp" }));
  const looked = async (address: string) =>
    /<div class="looked".*?<\/div>/s.exec(await (await ana.get(address)).text())?.[0];
  expect(await looked(check)).toMatch(/previews=all"[^>]*>Preview all 61</);
  expect(await looked(`${check}?previews=all`)).not.toContain("Preview all");
});
