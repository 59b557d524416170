import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import axe from "axe-core";
import type { Page } from "puppeteer-core";
import { saveKit } from "../../src/app/people/brand-kits.ts";
import { addMember } from "../../src/app/people/manage-users.ts";
import { makeSet } from "../../src/app/sets/manage-sets.ts";
import { getDelivery, sendTest } from "../../src/app/webhooks/manage-deliveries.ts";
import { createEndpoint } from "../../src/app/webhooks/manage-webhooks.ts";
import { consoleRoutes } from "../../src/console/routes.ts";
import type { Access, ConsoleRoute } from "../../src/console/visit.ts";
import { freePort } from "../../src/service/free-port.ts";
import { findBatch } from "../../src/store/images/batches.ts";
import type { Account } from "../../src/store/people/accounts.ts";
import { listKeys } from "../../src/store/people/keys.ts";
import { insertPasskey } from "../../src/store/people/passkeys.ts";
import type { User } from "../../src/store/people/users.ts";
import { imageRequest, post, type TestServer, testAccount, testServer, untilEnded } from "../harness.ts";
import { type TestBrowser, testBrowser } from "./browser.ts";
import { addressOf, client, signIn, submit, testMember, testOperator } from "./sessions.ts";

// Bounds a browser that hangs: axe looks at every page, which takes a minute, and many on a busy machine.
setDefaultTimeout(15 * 60_000);

let server: TestServer;
let browser: TestBrowser;
let page: Page;
let complaints: string[];
/** Words without a gap for a line to break at. */
const LONG = "Llanfairpwllgwyngyll".repeat(20);
/** A receiver whose answer is a line longer than any window. */
const receiver = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: () => new Response(`upstream failed ${"x".repeat(400)}`, { status: 503 }),
});
/** What the pages show, by the part of the address that says which page it is. */
const ids: Record<string, string> = {};

/** Who looks at a page; the last is an operator with the view of a member. */
type Reader = "anyone" | "member" | "operator" | "viewing operator";

const BY: Record<Reader, string> = {
  anyone: "anyone",
  member: "a member",
  operator: "an operator",
  "viewing operator": "an operator with a member's view",
};
const READERS = Object.keys(BY);

/** What is not a page: files, pictures, and parts that a page asks for itself. */
const NOT_A_PAGE =
  /\.(csv|zip|pdf)$|\/(photo|thumb|badge|attempts|pulse)$|^\/console\/find$|\/cards\/|\/:layout$|^\/console\/playground\/:id$|^\/console\/documentation$/;

interface Listed {
  reader: Reader;
  /** How it is named: its route, or a view of one. */
  name: string;
  path: () => string;
}

const routeOf = (route: ConsoleRoute): Listed => ({
  reader: readerOf(route.access),
  name: route.path,
  path: () => addressOf(route, ids),
});

/** `:failed` and `:setup` among them are in `ids` too. */
const viewOf = (reader: Reader, name: string): Listed => ({
  reader,
  name,
  path: () => name.replace(/:(\w+)/g, (_, id) => ids[id] ?? "none"),
});

/** Every page, by who may see it, so that each signs in once. */
const PAGES: readonly Listed[] = [
  ...consoleRoutes.filter(({ method, path }) => method === "GET" && !NOT_A_PAGE.test(path)).map(routeOf),
  ...["/console/setup/:setup", "/console/sign-in?ended=1", "/status"].map((name) => viewOf("anyone", name)),
  ...[
    "/console/images?environment=test",
    "/console/images?environment=test&view=table",
    "/console/images?search=nobody",
    "/console/batches?environment=test",
    "/console/batches/:batches?show=failed",
    "/console/images/:failed",
    "/console/match?player=:images",
    "/console/match/:images?clip=:failed",
    "/console/usage?environment=test",
    "/console/credits?show=grants",
    "/console/profile?check=passkeys",
    "/console/no-such-page",
  ].map((name) => viewOf("member", name)),
  ...["/console", "/console/keys"].map((name) => viewOf("viewing operator", name)),
].toSorted((a, b) => READERS.indexOf(a.reader) - READERS.indexOf(b.reader));

beforeAll(async () => {
  const port = String(await freePort("127.0.0.1"));
  const env = {
    CARDPRESS_WEBHOOK_ALLOWED_ORIGINS: receiver.url.origin,
    // With several there is something to choose.
    CARDPRESS_PRESETS: "club_card,action_card",
    CARDPRESS_STATUS_PAGE: "on",
    // Under a name there are passkeys.
    CARDPRESS_PORT: port,
    CARDPRESS_BASE_URL: `http://localhost:${port}`,
  };
  [server, browser] = await Promise.all([testServer({ env, knowsPhotos: true }), testBrowser()]);
  const { service, baseUrl } = server;
  const { account, testKey } = await testAccount(service, { name: LONG.slice(0, 110) });
  const member = await testMember(service, account.id, "axe@united.example");
  const passkey = { publicKey: "AAAA", counter: 0, createdAt: service.clock.now(), lastUsedAt: null };
  for (const name of [LONG.slice(0, 60), "Key ring"])
    await service.store.write("test", (tx) =>
      insertPasskey(tx, { ...passkey, id: `pk_${name}`, userId: member.id, credentialId: name, name }),
    );
  const owner = await testOperator(service, "op@united.example");
  const images: string[] = [];
  for (const external_id of [LONG.slice(0, 255), "test_fail_no_player"]) {
    const player = { external_id, name: LONG.slice(0, 100) };
    const accepted = await post(baseUrl, testKey, imageRequest({ player }));
    const { data } = (await accepted.json()) as { data: { image_id: string } };
    await untilEnded(baseUrl, testKey, data.image_id);
    images.push(data.image_id);
  }
  const scope = { accountId: account.id, environment: "test" } as const;
  const { endpoint } = await createEndpoint(service, { ...scope, url: `${receiver.url}${LONG}` });
  const delivery = await sendTest(service, { endpointId: endpoint.id });
  while ((await getDelivery(service, { deliveryId: delivery.id })).attempts === 0) await Bun.sleep(10);
  const invite = {
    accountId: account.id,
    email: "kim@united.example",
    role: "developer",
    vouched: true,
  } as const;
  const { setupUrl } = await addMember(service, invite);
  const [key] = await listKeys(service.store.read, account.id);
  Object.assign(ids, {
    images: images[0] ?? "",
    make: images[0] ?? "",
    match: images[0] ?? "",
    keys: key?.id ?? "",
    members: member.id,
    webhooks: endpoint.id,
    deliveries: delivery.id,
    accounts: account.id,
    operators: owner.id,
    failed: images[1] ?? "",
    setup: setupUrl?.split("/").pop() ?? "",
  });
  const { batches, lists } = await squads(member, account, images.length);
  const look = { preset: "club_card", composition: "auto", backgroundTheme: LONG, badgeUrl: "" };
  const style = { ...look, name: LONG.slice(0, 100), primaryColor: "#112233", secondaryColor: "" };
  const { id: kits } = await saveKit(service, { accountId: account.id, by: member.id, style });
  const players = [{ externalId: LONG.slice(0, 255), name: LONG.slice(0, 100), number: 9 }];
  const set = {
    name: LONG.slice(0, 100),
    season: "2026/27",
    parallels: [{ name: "gold", size: 50 }],
    players,
  };
  const {
    set: { id: sets },
  } = await makeSet(service, scope, set);
  Object.assign(ids, { batches, lists, kits, sets });
  ({ page, complaints } = await browser.open());
});
afterAll(async () => {
  await Promise.all([server?.close(), browser?.close(), receiver.stop(true)]);
});

/** A batch with a failed card, and a list with faults on its way to one. */
async function squads(member: User, account: Account, cards: number) {
  const { service, baseUrl } = server;
  const requests = Array.from({ length: cards + 1 }, (_, n) =>
    imageRequest({ player: { external_id: n === 0 ? "test_fail_no_player" : `${LONG.slice(0, 200)}${n}` } }),
  );
  const name = LONG.slice(0, 120);
  const order = { account, environment: "test", idempotencyKey: null, name, requests } as const;
  const { batch } = await service.acceptBatch({ ...order, requests: [...requests] });
  while ((await findBatch(service.store.read, { ...batch }))?.completedAt === null) await Bun.sleep(10);
  const somebody = await client(service, baseUrl, member);
  const row = (id: string, number: string) =>
    `${id},${LONG.slice(0, 90)},ST,${number},80,${server.photos.url("yoga.jpg")}`;
  const text = ["id,name,position,number,rating,photo", row("a", "1"), row("b", LONG), row("c", "3")].join(
    "\n",
  );
  const answer = await somebody.upload("/console/lists", new File([text], `${name}.csv`));
  const lists = answer.headers.get("location") ?? "";
  const columns = { external_id: 0, name: 1, position: 2, number: 3, skill_level: 4, source_image_url: 5 };
  const fields = Object.entries(columns).map(([key, at]) => [`col_${key}`, String(at)]);
  await somebody.post(lists, { ...Object.fromEntries(fields), size: "1024x1280", format: "png" });
  return { batches: batch.id, lists: lists.split("/").pop() ?? "" };
}

function readerOf(access: Access): Reader {
  return access === "anyone" || access === "operator" ? access : "member";
}

const THEMES: readonly ("light" | "dark")[] = ["light", "dark"];
/** axe looks at pages in a wide and in a small window, in one theme each. */
const WIDTH_OF = { light: 1280, dark: 360 };

const showAs = async (theme: "light" | "dark", width = 1280) => {
  await page.emulateMediaFeatures([
    { name: "prefers-color-scheme", value: theme },
    // Colours would be on their way from one theme to the other.
    { name: "prefers-reduced-motion", value: "reduce" },
  ]);
  await page.setViewport({ width, height: 800 });
};

/** The page's own policy forbids injected scripts; the debugger may still evaluate axe's source. */
const giveAxe = () => page.evaluate(axe.source);

/** Everything axe finds on the page that is open, however small. */
async function findings(): Promise<string[]> {
  const result = await page.evaluate(() =>
    // biome-ignore lint/suspicious/noExplicitAny: axe is there by its own script.
    (globalThis as any).axe.run(document, { resultTypes: ["violations"] }),
  );
  const { violations, passes } = result as import("axe-core").AxeResults;
  // A page on which axe could not look at anything would look flawless.
  expect(passes.length).toBeGreaterThan(10);
  return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 160)}`);
}

/**
 * The usual window, one where tables just still fit, one where the sidebar just does, a small phone; in
 * pixels.
 */
const WIDTHS = [1280, 1020, 905, 360];

/** Words of ours in tables that are broken over two lines; people's own may have to be. */
function brokenWords(): string[] {
  const cells = [...document.querySelectorAll(".table tbody td:not(.name, .long)")];
  return cells.flatMap((cell) => {
    const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    const broken: string[] = [];
    for (let node = walker.nextNode(); node; node = walker.nextNode())
      for (const { 0: word, index } of (node.textContent ?? "").matchAll(/[\w,:]+/g)) {
        const range = document.createRange();
        range.setStart(node, index);
        range.setEnd(node, index + word.length);
        const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
        if (lines.size > 1) broken.push(word);
      }
    return broken;
  });
}

/** Where the page reaches beyond the window, or a card cuts off what it holds. */
async function excess(): Promise<string[]> {
  const found: string[] = [];
  for (const width of WIDTHS) {
    await page.setViewport({ width, height: 800 });
    const { wide, cut } = await page.evaluate(() => ({
      wide: document.documentElement.scrollWidth - innerWidth,
      cut: [...document.querySelectorAll(".card")]
        .filter((card) => card.scrollWidth > card.clientWidth)
        .map((card) => `${card.scrollWidth - card.clientWidth} px of ${card.textContent?.slice(0, 40)}`),
    }));
    for (const word of await page.evaluate(brokenWords)) found.push(`${word} is broken at ${width} px`);
    if (wide > 0) found.push(`${wide} px wider than a window of ${width} px`);
    for (const what of cut) found.push(`cut off at ${width} px: ${what}`);
  }
  return found;
}

/** What is wrong with the page that is open, in any theme, and at any width. */
async function faults(widthOf: Record<"light" | "dark", number>): Promise<string[]> {
  await giveAxe();
  const found: string[] = [];
  for (const theme of THEMES) {
    await showAs(theme, widthOf[theme]);
    for (const what of await findings()) found.push(`${theme}: ${what}`);
  }
  // No theme changes what is how wide.
  return [...found, ...(await excess())];
}

/** Who is signed in on the page. */
let signedIn: Reader = "anyone";

async function readAs(reader: Reader): Promise<void> {
  if (reader === signedIn) return;
  signedIn = "anyone";
  if (reader === "anyone") await page.deleteCookie({ name: "cardpress", url: server.baseUrl });
  else await signIn(page, server.baseUrl, reader === "member" ? "axe@united.example" : "op@united.example");
  if (reader === "viewing operator") {
    await page.goto(`${server.baseUrl}/console/operator/accounts/${ids.accounts}`);
    await submit(page, '.page-head form[action$="/view"] button');
  }
  signedIn = reader;
}

describe("axe finds nothing, light or dark, and nothing is lost at any width, on", () => {
  for (const { reader, name, path } of PAGES)
    test(`${name}, read by ${BY[reader]}`, async () => {
      await showAs("light");
      await readAs(reader);
      complaints.length = 0;
      const answer = await page.goto(server.baseUrl + path());
      expect(answer?.headers()["content-type"]).toContain("text/html");
      if (reader === "viewing operator") expect(await page.$(".banner")).not.toBeNull();
      expect(await faults(WIDTH_OF)).toEqual([]);
      // Missing pages and used links answer with an error status, which browsers report on the console.
      expect(complaints.filter((text) => !text.includes("404"))).toEqual([]);
    });

  test("every page of the list, which is all of the console's", () => {
    expect(PAGES.filter(({ reader }) => reader !== "anyone").length).toBeGreaterThan(25);
  });
});

test("secrets that were just made and open dialogs are as clean", async () => {
  await showAs("light");
  await signIn(page, server.baseUrl, "axe@united.example");
  await page.goto(`${server.baseUrl}/console/keys`);
  await page.type("#name", "A key");
  await submit(page, "main .row-form button[type=submit]");
  await page.waitForSelector("#fresh-key");
  expect(await faults({ light: 1280, dark: 1280 })).toEqual([]);
  await showAs("light");
  await page.click('[data-opens^="revoke-"]');
  expect(await faults({ light: 1280, dark: 1280 })).toEqual([]);
});

test("the open menu of a phone is as clean", async () => {
  for (const email of ["axe@united.example", "op@united.example"]) {
    await showAs("light", 390);
    await signIn(page, server.baseUrl, email);
    await page.click(".menu summary");
    await giveAxe();
    for (const theme of THEMES) {
      await showAs(theme, 390);
      expect(await findings()).toEqual([]);
    }
  }
});

/** What has the focus, in a few words, and whether the eye can see that it has. */
function focused() {
  return page.evaluate(() => {
    const element = document.activeElement as HTMLElement;
    const { outlineStyle, outlineWidth } = getComputedStyle(element);
    return {
      name: (element.getAttribute("aria-label") ?? element.textContent ?? "").trim(),
      visible: outlineStyle !== "none" && Number.parseFloat(outlineWidth) >= 2,
      inDialog: element.closest("dialog")?.open ?? false,
    };
  });
}

test("the keyboard skips to the content, sees where it is, and opens and leaves dialogs", async () => {
  await page.setViewport({ width: 1280, height: 800 });
  await signIn(page, server.baseUrl, "axe@united.example");
  await page.goto(`${server.baseUrl}/console/keys`);
  await page.keyboard.press("Tab");
  expect((await focused()).name).toBe("Skip to the content");
  await page.keyboard.press("Enter");
  expect(await page.evaluate(() => document.activeElement?.id)).toBe("main");

  const names: string[] = [];
  for (let i = 0; i < 6; i++) {
    await page.keyboard.press("Tab");
    const { name, visible } = await focused();
    expect({ name, visible }).toEqual({ name, visible: true });
    names.push(name);
  }
  expect(names).toContain("Regenerate");
  while ((await focused()).name !== "Revoke") await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  expect((await focused()).inDialog).toBe(true);
  // The page behind is out of reach while the dialog asks.
  for (let i = 0; i < 8; i++) {
    await page.keyboard.press("Tab");
    const { inDialog, name } = await focused();
    expect(
      inDialog || name === "" || (await page.evaluate(() => document.activeElement === document.body)),
    ).toBe(true);
  }
  await page.keyboard.press("Escape");
  expect(await focused()).toMatchObject({ name: "Revoke", inDialog: false });
});
