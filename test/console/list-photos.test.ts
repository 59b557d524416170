import { afterAll, beforeAll, expect, test } from "bun:test";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { zipSync } from "fflate";
import type { Page } from "puppeteer-core";
import { listBatches } from "../../src/store/images/batches.ts";
import { type TestAccount, type TestServer, testAccount, testFolder, testServer } from "../harness.ts";
import { type TestBrowser, testBrowser } from "./browser.ts";
import { type Client, client, signIn, submit, testMember, textOf } from "./sessions.ts";

let server: TestServer;
let browser: TestBrowser;
let own: TestAccount;
let ana: Client;
const files = testFolder();
const photo = await Bun.file("test/photos/yoga.jpg").bytes();
const other = await Bun.file("test/photos/unsplash_man.jpg").bytes();

beforeAll(async () => {
  [server, browser] = await Promise.all([testServer({ renders: false }), testBrowser()]);
  own = await testAccount(server.service, { credits: 10 });
  ana = await client(
    server.service,
    server.baseUrl,
    await testMember(server.service, own.account.id, "ana@rovers.example"),
  );
});
afterAll(async () => {
  await Promise.all([server?.close(), browser?.close()]);
  await files.remove();
});

const LIST =
  "id;name;pos;no;ovr\r\np-1;Eileen Collins;ST;9;87\r\np-2;María Núñez;GK;1;82\r\np-3;Kim Andersson;LW;11;74\r\n";
const next = (answer: Response) => {
  expect(answer.status).toBe(303);
  return answer.headers.get("location") ?? "";
};

let uploaded = "/console/lists/none";
/** A list without addresses; the page on which its photos are added. */
async function photosPage(who = ana): Promise<string> {
  // A few lists may wait at a time.
  await who.post(`${uploaded}/discard`);
  const list = next(await who.upload("/console/lists", new File([LIST], "First team.csv")));
  uploaded = list;
  const columns = {
    col_external_id: "0",
    col_name: "1",
    col_position: "2",
    col_number: "3",
    col_skill_level: "4",
  };
  return next(await who.post(list, { ...columns, size: "1024x1280", format: "webp" }));
}

test("photos added one by one make a list complete: by name, by row, by hand, and a card is made of each", async () => {
  const page = await photosPage();
  expect(page).toEndWith("/photos");
  expect(await (await ana.get(page)).text()).toContain("0 of 3 players have a photo");
  const check = page.replace(/photos$/, "check");
  const html = await (await ana.get(check)).text();
  expect(html).toContain("is missing: add a photo under Photos, or write its address into the list.");
  expect(next(await ana.upload(page, new File([photo], "collins_eileen.jpg")))).toBe(page);
  expect(next(await ana.upload(page, new File([other], "IMG_1.jpg"), { row: "1" }))).toBe(page);
  expect(next(await ana.upload(page, new File([other], "unknown.jpg")))).toBe(page);
  const table = await (await ana.get(page)).text();
  expect(table).toMatch(/Eileen Collins.*?By name.*?María Núñez.*?Chosen by hand.*?Kim Andersson.*?Missing/s);
  expect(table).toContain("2 matched, 1 missing, 1 unsure");
  const [, unsure = ""] = /<select id="(pho_\w+)"/.exec(table) ?? [];
  const thumb = await ana.get(`${page}/${unsure}/thumb`);
  expect(thumb.headers.get("content-type")).toBe("image/webp");
  await ana.post(`${page}/choose`, { [unsure]: "2" });
  expect(await (await ana.get(page)).text()).toContain("All 3 players have a photo.");
  // The same folder again: what was chosen holds, and no file counts twice.
  await ana.upload(page, new File([other], "unknown.jpg"));
  const again = await (await ana.get(page)).text();
  expect(again).toContain("3 matched, 0 missing, 0 unsure");
  expect(again).toContain(`/photos/${unsure}/thumb`);
  // Another shot under the same name, too.
  await ana.upload(page, new File([photo], "unknown.jpg"));
  const newer = await (await ana.get(page)).text();
  expect(newer).toContain("3 matched, 0 missing, 0 unsure");
  expect(newer).not.toContain(`/photos/${unsure}/thumb`);
  const [, shot = ""] = /Kim Andersson.*?name="(pho_\w+)" value="open"/s.exec(newer) ?? [];
  // Taken away, it is asked about again.
  await ana.post(`${page}/choose`, { [shot]: "open" });
  expect(await (await ana.get(page)).text()).toContain("2 matched, 1 missing, 1 unsure");
  await ana.post(`${page}/choose`, { [shot]: "2" });
  const broken = await ana.upload(page, new File(["%PDF"], "collins.jpg"));
  expect(broken.status).toBe(422);
  expect(await broken.text()).toContain("cannot be used");
  next(await ana.post(check.replace(/check$/, "make"), { environment: "test", name: "Team" }));
  const scope = { accountId: own.account.id, environment: "test", limit: 1 } as const;
  expect((await listBatches(server.service.store.read, scope))[0]?.total).toBe(3);
});

test("another person sees neither the list nor its photos, and adds none", async () => {
  const page = await photosPage();
  await ana.upload(page, new File([photo], "p-1.jpg"));
  const [, thumb = ""] = /src="([^"]+\/thumb)"/.exec(await (await ana.get(page)).text()) ?? [];
  const bob = await client(
    server.service,
    server.baseUrl,
    await testMember(server.service, own.account.id, "bob@rovers.example"),
  );
  for (const path of [page, thumb]) expect((await bob.get(path)).status).toBe(404);
  expect((await bob.upload(page, new File([photo], "p-1.jpg"))).status).toBe(404);
});

test("names in a ZIP that Windows made, in the letters of DOS, are read", async () => {
  const path = await photosPage();
  const { page } = await browser.open();
  await signIn(page, server.baseUrl, "ana@rovers.example");
  await page.goto(server.baseUrl + path);
  const bytes = Buffer.from(zipSync({ "MarXa NYZez.jpg": [photo, { level: 0 }] }));
  for (let at = bytes.indexOf("MarXa"); at >= 0; at = bytes.indexOf("MarXa"))
    for (const [place, code] of [
      [3, 0xa1],
      [7, 0xa3],
      [8, 0xa4],
    ] as const)
      bytes[at + place] = code;
  const zip = join(files.dir, "windows.zip");
  await Bun.write(zip, bytes);
  await choose(page, [zip]);
  expect(await textOf(page, "#photo-table")).toContain("María Núñez.jpg");
  expect(await textOf(page, "#photo-table")).toContain("1 matched, 2 missing, 0 unsure");
});

test("pictures are seen at their width once every player has one, on a desk and on a phone", async () => {
  const path = await photosPage();
  for (const row of ["0", "1", "2"]) await ana.upload(path, new File([photo], `${row}.jpg`), { row });
  const { page } = await browser.open(1280);
  await signIn(page, server.baseUrl, "ana@rovers.example");
  for (const width of [1280, 390]) {
    await page.setViewport({ width, height: 900 });
    await page.goto(server.baseUrl + path);
    const widths = await page.$$eval("img.thumb", (all) => all.map((one) => one.clientWidth));
    expect(widths).toEqual([56, 56, 56]);
  }
});

test("files that are not sent are named, each with its own reason, and many are counted", async () => {
  const path = await photosPage();
  const { page } = await browser.open();
  await signIn(page, server.baseUrl, "ana@rovers.example");
  await page.goto(server.baseUrl + path);
  await page.$eval("[data-photo-drop]", (form) => form.setAttribute("data-max-files", "1"));
  // What the form says is read as the script starts.
  const script = await page.$eval('script[src*="/photos.js"]', (one) => (one as HTMLScriptElement).src);
  await page.$eval("#photos", (input) => input.replaceWith(input.cloneNode(true)));
  await page.addScriptTag({ url: script });
  const zip = join(files.dir, "many.zip");
  const notes = Object.fromEntries([1, 2, 3, 4, 5, 6, 7].map((n) => [`n${n}.txt`, new Uint8Array(1)]));
  await Bun.write(zip, zipSync({ "p-1.jpg": [photo, { level: 0 }], "p-2.jpg": photo, ...notes }));
  await choose(page, [zip]);
  expect(await textOf(page, "[data-photo-problems]")).toMatch(
    /^n1\.txt is left out: no JPEG, PNG or WebP\..*n5\.txt is.*2 more are left out: no JPEG, PNG or WebP\.\s*p-2\.jpg is left out: a list takes at most 1 photos\.$/s,
  );
});

/** Chooses files as a person would, and waits until all are sent. */
async function choose(page: Page, paths: string[]): Promise<void> {
  const input = await page.waitForSelector("#photos");
  const before = await page.$("#photo-table");
  // biome-ignore lint/suspicious/noExplicitAny: the element is an input for files.
  await (input as any).uploadFile(...paths);
  await page.waitForFunction((table) => !table?.isConnected, {}, before);
}

test("a ZIP of a folder is unpacked in the browser and matched, what is no photo is named, and a bomb goes no further than a photo's size", async () => {
  const path = await photosPage();
  const { page, complaints } = await browser.open();
  await signIn(page, server.baseUrl, "ana@rovers.example");
  await page.goto(server.baseUrl + path);
  const zip = join(files.dir, "photos.zip");
  await Bun.write(
    zip,
    zipSync({
      "team/p-1.jpg": [photo, { level: 0 }],
      "team/Nunez Maria.jpg": photo,
      "team/andersson.png": new Uint8Array(40 * 1024 * 1024),
      "team/IMG_0011.HEIC": new Uint8Array(9),
      "team/notes.txt": new Uint8Array(9),
      "__MACOSX/team/._p-1.jpg": new Uint8Array(9),
      "team/11.jpg": new TextEncoder().encode("no picture"),
    }),
  );
  await choose(page, [zip]);
  expect(await textOf(page, "[data-photo-problems]")).toMatch(
    /1 in HEIC.*team\/notes\.txt is left out: no JPEG, PNG or WebP\..*andersson\.png has more than 15 MB\..*11\.jpg .*JPEG, PNG or WebP/s,
  );
  expect(await textOf(page, "#photo-table")).toContain("2 matched, 1 missing, 0 unsure");
  expect(await textOf(page, "#photo-head")).toContain("2 of 3 players have a photo.");
  // A damaged ZIP, and one photo later for the last.
  const damaged = join(files.dir, "damaged.zip");
  await Bun.write(damaged, (await Bun.file(zip).bytes()).slice(0, 5_000));
  await choose(page, [damaged]);
  expect(await textOf(page, "[data-photo-problems]")).toContain("damaged.zip is not a whole ZIP file");
  const last = join(files.dir, "11.jpg");
  await Bun.write(last, other);
  await choose(page, [last]);
  expect(await textOf(page, "[data-photo-problems]")).toBe("");
  await page.reload();
  expect(await textOf(page)).toContain("All 3 players have a photo.");
  await submit(page, ".page-head a.button-primary");
  expect(page.url()).toEndWith("/check");
  // The two refused photos are answered 422, which the browser logs.
  expect(complaints.filter((text) => !text.includes("422"))).toEqual([]);
  await rm(zip);
});
