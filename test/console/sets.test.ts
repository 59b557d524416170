import { afterAll, beforeAll, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { audit } from "../../src/app/operations/audit/audit.ts";
import { listSets } from "../../src/store/sets/card-sets.ts";
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
import { type TestBrowser, testBrowser } from "./browser.ts";
import { type Client, client, signIn, submit, testMember, textOf } from "./sessions.ts";

let server: TestServer;
let browser: TestBrowser;
let own: TestAccount;
let ana: Client;
beforeAll(async () => {
  [server, browser] = await Promise.all([testServer({ knowsPhotos: true }), testBrowser()]);
  own = await testAccount(server.service, { credits: 10 });
  const member = await testMember(server.service, own.account.id, "ana@rovers.example");
  ana = await client(server.service, server.baseUrl, member);
});
afterAll(() => Promise.all([server?.close(), browser?.close()]));

const SENT = {
  name: "Rovers 2026/27",
  season: "2026/27",
  environment: "test",
  parallel_1: "base",
  parallel_2: "first edition",
  size_2: "3",
  parallel_4: "last day",
  until_4: "2999-12-31T18:30",
  players: "player-1, Maya Okafor, 9\r\nplayer-2\r\n",
};
const sets = () =>
  listSets(server.service.store.read, { accountId: own.account.id, environment: "test", limit: 9 });
const text = async (path: string) => (await ana.get(path)).text();

test("a page without sets leads to how a website shows a gallery, and phones fold the times of open editions", async () => {
  const { page } = await browser.open(390);
  await signIn(page, server.baseUrl, "ana@rovers.example");
  await page.goto(`${server.baseUrl}/console/sets`);
  await page.waitForSelector("[name=until_1]", { hidden: true });
  await page.click(".open-editions input");
  await page.waitForSelector("[name=until_1]", { visible: true });
  await submit(page, '.empty a[href*="#"]');
  expect(await textOf(page, `[id="${new URL(page.url()).hash.slice(1)}"]`)).toBe("A gallery");
});

test("a set is made from a form, shows its cards, and gives manifest and packs; an empty one can be deleted", async () => {
  expect(await text("/console/sets")).toContain("No live sets yet");
  const made = await ana.post("/console/sets", SENT);
  const [set] = await sets();
  expect([made.status, made.headers.get("location")]).toEqual([303, `/console/sets/${set?.id}`]);
  expect(set?.parallels).toEqual([
    { name: "base", size: null },
    { name: "first edition", size: 3 },
    { name: "last day", size: null, closesAt: Date.parse("2999-12-31T18:30:00Z") },
  ]);
  const path = `/console/sets/${set?.id}`;
  expect(await text("/console/sets?environment=test")).toContain(path);
  expect(await text(path)).toContain("No cards yet");
  expect(await text(path)).not.toContain("manifest.csv");
  for (const external_id of ["player-1", "player-2"]) {
    const card = {
      ...imageRequest({ player: { external_id } }),
      set: { id: set?.id, parallel: "first edition" },
    };
    const { data } = (await (await post(server.baseUrl, own.testKey, card)).json()) as {
      data: { image_id: string };
    };
    await untilEnded(server.baseUrl, own.testKey, data.image_id);
  }
  const page = await text(path);
  expect(page).toContain("1 of 3");
  expect(page).toContain("last day until 2999-12-31 18:30 UTC");
  expect(page).toContain("0 so far");
  expect(page).toContain("Maya Okafor");
  expect(page).not.toContain("delete-set");
  const manifest = await (await ana.get(`${path}/manifest.csv`)).text();
  expect(manifest).toContain("Rovers 2026/27,2026/27,player-1,Maya Okafor,9,first edition,1,3,img_");
  const files = [
    await ana.get(`${path}/album.pdf?sheet=letter&size=49x65`),
    await ana.get(`${path}/checklist.pdf?sheet=a4&size=49x65`),
    await get(server.baseUrl, own.testKey, `/v1/sets/${set?.id}/album.pdf/?size=49x65`),
    await get(server.baseUrl, own.testKey, `/v1/sets/${set?.id}/checklist.pdf`),
  ];
  for (const [at, file] of files.entries()) {
    expect([file.status, file.headers.get("content-type")]).toEqual([200, "application/pdf"]);
    const name = `Rovers 2026-27 ${at % 2 === 0 ? "album" : "checklist"}`;
    expect(file.headers.get("content-disposition")).toContain(`filename="${name}.pdf"`);
    expect((await file.text()).slice(0, 5)).toBe("%PDF-");
  }
  const unknown = await ana.get(`${path}/album.pdf?sheet=a5`);
  expect([unknown.status, (await unknown.text()).includes("sheet must be one of a4, letter")]).toEqual([
    422,
    true,
  ]);
  const packs = await (await ana.get(`${path}/packs.csv?seed=final&packs=1&cards=2&copies=1`)).text();
  expect(packs.split("\r\n").filter((line) => line.startsWith("1,player-"))).toHaveLength(2);
  const refused = await ana.get(`${path}/packs.csv?seed=final&packs=9&cards=2&copies=1`);
  expect([refused.status, (await refused.text()).includes("cannot be filled")]).toEqual([422, true]);
  await ana.post(`${path}/delete`);
  expect(await sets()).toHaveLength(1);
  const other = await ana.post("/console/sets", { ...SENT, name: "Cup" });
  await ana.post(`${other.headers.get("location")}/delete`);
  expect((await sets()).map(({ name }) => name)).toEqual(["Rovers 2026/27"]);
  expect(await text("/console/activity")).toContain("Cup");
});

test("a set's gallery is opened, embedded and withdrawn on its page", async () => {
  const [set] = await sets();
  const path = `/console/sets/${set?.id}`;
  expect(await text(path)).toContain("Open a gallery");
  await ana.post(`${path}/gallery`, { gallery: "open" });
  const page = await text(path);
  const address = /id="gallery-url"[^>]*value="([^"]+)"/.exec(page)?.[1] ?? "";
  expect(page).toContain(`&lt;iframe src=&quot;${address}&quot;`);
  const gallery = await fetch(address);
  expect(gallery.headers.get("content-security-policy")).toContain("frame-ancestors *");
  expect(await gallery.text()).toContain("first edition 1/3");
  await ana.post(`${path}/gallery`, {});
  expect((await fetch(address)).status).toBe(404);
  expect(await text(path)).toContain("Open a gallery");
});

test("each card of a run is shown with its place: on its batch, its contact sheet and its own page", async () => {
  const [set] = await sets();
  const card = {
    ...imageRequest({ player: { external_id: "player-1" } }),
    set: { id: set?.id, parallel: "first edition", count: 2 },
  };
  const sent = await fetch(`${server.baseUrl}/v1/batches`, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-API-Key": own.testKey },
    body: JSON.stringify({ cards: [card] }),
  });
  const { data } = (await sent.json()) as { data: { batch_id: string; images: { image_id: string }[] } };
  for (const { image_id } of data.images) await untilEnded(server.baseUrl, own.testKey, image_id);
  const ids = data.images.map(({ image_id }) => image_id);
  const path = `/console/batches/${data.batch_id}`;
  expect(await text(path)).toMatch(/first edition 2\/3.*first edition 3\/3/s);
  // A newer card of the player does not stand for one with a number.
  const sheet = await text(`${path}/sheet`);
  expect([...sheet.matchAll(/images\/(img_\w+)\/thumb/g)].map(([, id]) => id as string)).toEqual(ids);
  const page = await text(`/console/images/${ids[1]}`);
  expect(page).toContain(`<a href="/console/sets/${set?.id}">`);
  expect(page).toMatch(/first edition 3\/(<wbr ?\/?>)?3/);
  expect(page).toContain('download="09 Maya Okafor_first edition_3.');
});

test("cards of a set keep their numbers for print and take none, in a batch and alone, and made again", async () => {
  const [set] = await sets();
  const numbers = async (path: string) =>
    [...(await text(path)).matchAll(/first edition (\d)\/3/g)].map(([, serial]) => serial).sort();
  const { batches } = server.service.store.read.t;
  const [batch] = (await server.service.store.read.db.select().from(batches)).filter(
    ({ total }) => total === 2,
  );
  const forScreens = `/console/batches/${batch?.id}`;
  expect(await text(`${forScreens}/print`)).toContain("Cards of a set keep their numbers");
  const manifest = async () => (await text(`/console/sets/${set?.id}/manifest.csv`)).split("\r\n").sort();
  const [before, had] = [await manifest(), await numbers(forScreens)];
  expect(had).toEqual(["2", "3"]);
  const order = async (path: string, values: Record<string, string>) =>
    (await ana.post(path, values)).headers.get("location") ?? "";
  const forPrint = await order(`${forScreens}/for-print`, { size: "63x88" });
  expect(forPrint).not.toBe(forScreens);
  expect(await order(`${forScreens}/for-print`, { size: "63x88" })).toBe(forPrint);
  for (let page = ""; !page.includes("2 cards of 63 x 88 mm"); ) page = await text(`${forPrint}/print`);
  expect(await numbers(forPrint)).toEqual(had);
  const [, image = ""] = /\/console\/images\/(img_\w+)/.exec(await text(forScreens)) ?? [];
  const form = await text(`/console/images/${image}/again?print=59x91`);
  expect(form).toContain('type="hidden" name="for_print"');
  const sent = { for_print: "yes", width: "815", height: "1110" };
  const made = await ana.upload(`/console/images/${image}/again`, new File([], ""), sent);
  const alone = made.headers.get("location") ?? "";
  const madeAgain = async (id: string) => {
    const sent = await fetch(`${server.baseUrl}/v1/images/${id}/remake`, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        "X-API-Key": own.testKey,
        "Idempotency-Key": `again-${id}`,
      },
      body: JSON.stringify({ style: { background_theme: "rain" } }),
    });
    return ((await sent.json()) as { data: { set: unknown } }).data.set;
  };
  const card = async (id = "") =>
    (await get(server.baseUrl, own.testKey, `/v1/images/${id}`)).json() as Promise<{
      data: { set: unknown };
    }>;
  const place = (await card(image)).data.set;
  const printed = alone.split("/").at(-1) ?? "";
  expect((await card(printed)).data.set).toEqual(place);
  await untilEnded(server.baseUrl, own.testKey, printed);
  expect(await madeAgain(printed)).toEqual(place);
  expect(await manifest()).toEqual(before);
  expect((await audit(server.service.store, Date.now())).findings.filter(({ ok }) => !ok)).toEqual([]);
});

test("a closed edition is offered to be made no more, and its page says why", async () => {
  await ana.post("/console/sets", { ...SENT, name: "Past" });
  const set = (await sets()).find(({ name }) => name === "Past");
  const path = `/console/sets/${set?.id}`;
  const fill = `${path}/fill?parallel=last+day`;
  expect(await text(path)).toContain("Make last day");
  expect(await text(fill)).not.toContain("It is closed");
  await server.service.store.write("close", ({ db, t }) =>
    db
      .update(t.cardSets)
      .set({ parallels: [{ name: "last day", size: null, closesAt: 1 }] })
      .where(eq(t.cardSets.id, set?.id ?? "")),
  );
  expect(await text(path)).not.toContain("Make last day");
  expect(await text(fill)).toContain("It is closed: no card of it can be made any more.");
});

test("what is wrong with a new set is said by its line, beside what was sent", async () => {
  const sent = { ...SENT, players: "player-1, Maya, 9\nplayer-2, Bo, 900" };
  const answer = await ana.post("/console/sets", sent);
  const page = await answer.text();
  expect(answer.status).toBe(422);
  expect(page).toContain("Line 2 of the checklist: number must be a whole number from 1 to 99; got 900.");
  expect(page).toContain("player-2, Bo, 900");
});

test("a batch becomes a numbered set: its players are the checklist, and its cards make each parallel once", async () => {
  const requests = ["m1", "m2", "m3"].map((external_id) =>
    imageRequest({ player: { external_id, name: `Player ${external_id}`, number: 4 } }),
  );
  const sent = await fetch(`${server.baseUrl}/v1/batches`, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-API-Key": own.testKey },
    body: JSON.stringify({ cards: requests, name: "Last week" }),
  });
  const { data } = (await sent.json()) as { data: { batch_id: string; images: { image_id: string }[] } };
  for (const { image_id } of data.images) await untilEnded(server.baseUrl, own.testKey, image_id);
  expect(await text(`/console/batches/${data.batch_id}`)).toContain(`/console/sets?from=${data.batch_id}`);
  const form = await text(`/console/sets?from=${data.batch_id}`);
  expect(form).toContain("m1, Player m1, 4\nm2, Player m2, 4\nm3, Player m3, 4");
  const made = await ana.post("/console/sets", {
    name: "Week",
    season: "2026/27",
    environment: "test",
    parallel_1: "base",
    parallel_2: "gold",
    size_2: "3",
    parallel_3: "silver",
    size_3: "9000",
    players: "m1, Player m1, 4\nm2, Player m2, 4\nm3, Player m3, 4\nm9, Nobody",
    from: data.batch_id,
  });
  const first = made.headers.get("location") ?? "";
  expect(first).toContain(`/fill?parallel=base&from=${data.batch_id}`);
  expect(await text(first)).toContain("Make 3 cards");
  const id = /set_\w+/.exec(first)?.[0] ?? "";
  const gold = `/console/sets/${id}/fill?parallel=gold`;
  const page = await text(gold);
  expect(page).toContain("Make 9 cards");
  expect(page).toContain("1 player of the checklist has no card here.");
  // No more than may be in the making at a time.
  const many = await text(gold.replace("gold", "silver"));
  expect(many).toContain("Make 20,000 cards");
  expect(many).toContain("7,000 more cards can be made once these are");
  const fields = Object.fromEntries(
    [...page.matchAll(/<input type="hidden" name="(parallel|from|cards|once)" value="([^"]*)"/g)].map(
      ([, name, value]) => [name ?? "", value ?? ""],
    ),
  );
  // A double click orders them once.
  const orders = [
    await ana.post(`/console/sets/${id}/fill`, fields),
    await ana.post(`/console/sets/${id}/fill`, fields),
  ];
  const [batch, again] = orders.map(({ headers }) => headers.get("location"));
  expect(batch).toMatch(/^\/console\/batches\/bat_/);
  expect(again).toBe(batch ?? "");
  expect(await text(batch ?? "")).toContain("Week gold");
  expect(await text(gold)).toContain("There is nothing left to make of it.");
  // An order of what was shown before is none any more.
  const late = await ana.post(`/console/sets/${id}/fill`, { ...fields, once: "form_other" });
  expect(late.headers.get("location")).toBe(gold);
  expect(await text(gold)).toContain("have changed meanwhile");
  expect(await text(`/console/sets/${id}`)).toContain("9 of 12 cards made");
});

test("a card that is still to be published says from when its page is seen", async () => {
  const card = { ...imageRequest({}), publish_at: new Date(Date.now() + 3_600_000).toISOString() };
  const { data } = (await (await post(server.baseUrl, own.testKey, card)).json()) as {
    data: { image_id: string };
  };
  await untilEnded(server.baseUrl, own.testKey, data.image_id);
  const page = await text(`/console/images/${data.image_id}`);
  expect(page).toMatch(new RegExp(`sees it from <time[^>]*datetime="${card.publish_at}"`, "i"));
});
