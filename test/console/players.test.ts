import { afterAll, beforeAll, expect, test } from "bun:test";
import { unzipSync } from "fflate";
import { imagesOfBatch } from "../../src/store/images/batches.ts";
import {
  imageRequest,
  post,
  type TestAccount,
  type TestServer,
  testAccount,
  testServer,
  untilEnded,
} from "../harness.ts";
import { type TestBrowser, testBrowser } from "./browser.ts";
import { type Client, client, signIn, testMember } from "./sessions.ts";

let server: TestServer;
let browser: TestBrowser;
let own: TestAccount;
let ana: Client;
let batch: string;
let ids: string[];

beforeAll(async () => {
  [server, browser] = await Promise.all([testServer({ knowsPhotos: true }), testBrowser()]);
  own = await testAccount(server.service, { credits: 10 });
  ana = await client(
    server.service,
    server.baseUrl,
    await testMember(server.service, own.account.id, "ana@rovers.example"),
  );
  const request = (external_id: string) =>
    imageRequest({ player: { external_id, name: `Player ${external_id}` }, style: { format: "webp" } });
  const accepted = await server.service.acceptBatch({
    account: own.account,
    environment: "test",
    idempotencyKey: null,
    name: "Team",
    requests: ["p/1", "p2", "test_fail_no_player"].map(request),
  });
  batch = accepted.batch.id;
  const images = await imagesOfBatch(server.service.store.read, batch);
  ids = images.map(({ id }) => id);
  for (const id of ids) await untilEnded(server.baseUrl, own.testKey, id);
});
afterAll(() => Promise.all([server?.close(), browser?.close()]));

/** Where the page's previous and next images are. */
const stepsOf = async (path: string) => {
  const text = await (await ana.get(path)).text();
  const to = (rel: string) =>
    new RegExp(`rel="${rel}" href="/console/images/(img_\\w+)`).exec(text)?.[1] ?? null;
  return { text, previous: to("prev"), next: to("next") };
};

test("images of a batch are walked in its order, others in the order of the list, and the way through a batch is kept", async () => {
  const [first = "", second = "", last = ""] = ids;
  const of = (id: string) => stepsOf(`/console/images/${id}?batch=${batch}`);
  expect(await of(first)).toMatchObject({ previous: null, next: second });
  const middle = await of(second);
  expect(middle).toMatchObject({ previous: first, next: last });
  expect(middle.text).toContain(`/console/images/${second}/again?batch=${batch}`);
  expect(await of(last)).toMatchObject({ previous: second, next: null });
  const listed = await Promise.all(ids.map((id) => stepsOf(`/console/images/${id}`)));
  const newest = listed.findIndex(({ previous }) => previous === null);
  const walked: string[] = [];
  for (let id: string | null = ids[newest] ?? null; id; id = (await stepsOf(`/console/images/${id}`)).next)
    walked.push(id);
  expect(walked.toSorted()).toEqual(ids.toSorted());
});

test("a player's history has every card, and the sheet and ZIP of a batch have the newest one, whatever made it", async () => {
  const answer = await post(
    server.baseUrl,
    own.testKey,
    imageRequest({ player: { external_id: "p/1", name: "Player newer" }, style: { format: "webp" } }),
  );
  const { data } = (await answer.json()) as { data: { image_id: string } };
  await untilEnded(server.baseUrl, own.testKey, data.image_id);
  const history = await (await ana.get("/console/players?id=p%2F1&environment=test")).text();
  expect([...(history.match(/href="\/console\/images\/img_\w+"/g) ?? [])]).toEqual(
    [data.image_id, ids[0]].map((id) => `href="/console/images/${id}"`),
  );
  expect(await (await ana.get(`/console/images/${data.image_id}`)).text()).toContain(
    'href="/console/players?id=p%2F1&amp;environment=test"',
  );
  const sheet = await (await ana.get(`/console/batches/${batch}/sheet`)).text();
  expect(sheet).toMatch(/Player newer.*?Newer card.*?Player p2/s);
  expect(sheet).not.toContain("Player p/1");
  const asMade = await (await ana.get(`/console/batches/${batch}/sheet?show=batch`)).text();
  expect(asMade).not.toContain("Player newer");
  const zip = await ana.get(`/console/batches/${batch}/current.zip`);
  expect(zip.headers.get("content-disposition")).toContain('filename="Team current.zip"');
  const files = unzipSync(await zip.bytes());
  expect(Object.keys(files).sort()).toEqual(["09 Player newer.webp", "09 Player p2.webp", "cards.csv"]);
  expect(Buffer.from(files["cards.csv"] ?? []).toString()).toContain(data.image_id);
  // Another account's batch has none.
  const other = await testAccount(server.service);
  const eve = await client(
    server.service,
    server.baseUrl,
    await testMember(server.service, other.account.id, "eve@united.example"),
  );
  for (const path of ["sheet", "current.zip"])
    expect((await eve.get(`/console/batches/${batch}/${path}`)).status).toBe(404);
  expect(await (await eve.get("/console/players?id=p%2F1&environment=test")).text()).toContain(
    "No cards of this player",
  );
});

test("on paper a contact sheet is its cards, five in a row, without the console around them", async () => {
  const { page, complaints } = await browser.open();
  await signIn(page, server.baseUrl, "ana@rovers.example");
  await page.goto(`${server.baseUrl}/console/batches/${batch}/sheet`);
  expect(await page.$eval("[data-prints]", (button) => (button as HTMLElement).hidden)).toBe(false);
  await page.emulateMediaType("print");
  const shown = await page.evaluate(() => {
    const isSeen = (selector: string) => document.querySelector(selector)?.checkVisibility() ?? false;
    const columns = getComputedStyle(document.querySelector(".contact") as Element).gridTemplateColumns.split(
      " ",
    );
    return {
      around: [".topbar", ".sidebar", ".page-head .actions", ".toolbar"].filter(isSeen),
      columns: columns.length,
      title: isSeen("h1"),
    };
  });
  expect(shown).toEqual({ around: [], columns: 5, title: true });
  expect(complaints).toEqual([]);
});

test("an image's page says what is on the card in the forms' own words, and keeps request and answer folded below", async () => {
  const text = await (await ana.get(`/console/images/${ids[1]}`)).text();
  const [shown = "", folded = ""] = text.split('<details class="card fold"><summary>For developers');
  expect(shown).toMatch(
    />Name<\/dt><dd>Player p2<.*>Position<\/dt><dd>Striker \(ST\)<.*>Shirt number<\/dt>/s,
  );
  expect(shown).not.toContain("POST /v1/images");
  expect(folded).toContain("POST /v1/images");
  expect(folded).toContain("GET /v1/images/{image_id}");
});
