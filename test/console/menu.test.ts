import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "puppeteer-core";
import { type TestServer, testAccount, testServer } from "../harness.ts";
import { type TestBrowser, testBrowser } from "./browser.ts";
import { signIn, submit, testMember, testOperator } from "./sessions.ts";

// Below 900 px the menu is the only way to another page, and out.

let server: TestServer;
let browser: TestBrowser;
beforeAll(async () => {
  [server, browser] = await Promise.all([testServer({ renders: false }), testBrowser()]);
  const { account } = await testAccount(server.service, { name: "Pocket FC" });
  await testMember(server.service, account.id, "ana@pocket.example");
  await testOperator(server.service, "boss@pocket.example");
});
afterAll(async () => {
  await Promise.all([server?.close(), browser?.close()]);
});

const isOpen = (page: Page) => page.$eval(".menu", (menu) => (menu as HTMLDetailsElement).open);

/** Taps where a finger would: what lies over it takes the tap. */
async function tap(page: Page, selector: string): Promise<void> {
  const { x, y } = await page.$eval(selector, (element) => {
    element.scrollIntoView({ block: "nearest" });
    const box = element.getBoundingClientRect();
    const at = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
    if (!element.contains(document.elementFromPoint(at.x, at.y))) throw new Error("something lies over it");
    return at;
  });
  await page.touchscreen.tap(x, y);
}

const ANA = { email: "ana@pocket.example", home: "/console", to: "/console/members", title: "Members" };
const OPERATOR = {
  email: "boss@pocket.example",
  home: "/console/operator",
  to: "/console/operator/accounts",
  title: "Accounts",
};
const CASES = [
  { ...ANA, width: 390, height: 780 },
  { ...ANA, width: 820, height: 1180 },
  // A phone held sideways and the longest menu: it does not fit the window, and scrolls.
  { ...OPERATOR, width: 740, height: 360 },
];

for (const { email, home, to, title, width, height } of CASES)
  test(`at ${width} px the menu takes ${email} to a page, lets go at Escape, and signs out`, async () => {
    const { page, complaints } = await browser.open();
    await signIn(page, server.baseUrl, email);
    await page.setViewport({ width, height, hasTouch: true, isMobile: true });
    await page.goto(server.baseUrl + home);
    await tap(page, ".menu summary");
    expect(await isOpen(page)).toBe(true);
    const covers = await page.$eval(".menu-body", (body) => {
      const { left, top, right, bottom } = body.getBoundingClientRect();
      return { left, top, right, bottom };
    });
    expect(covers).toEqual({ left: 0, top: 56, right: width, bottom: height });

    await page.keyboard.press("Escape");
    expect(await isOpen(page)).toBe(false);
    const focused = () =>
      page.evaluate(
        () => document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.tagName,
      );
    expect(await focused()).toBe("Menu");

    await page.keyboard.press("Enter");
    expect(await isOpen(page)).toBe(true);
    // Tab goes through the menu, and never to the page that lies behind it.
    const main = () => page.$eval("#main", (element) => element.contains(document.activeElement));
    for (let n = 0; n < 25; n++) {
      await page.keyboard.press("Tab");
      expect(await main()).toBe(false);
    }
    await Promise.all([page.waitForNavigation(), tap(page, `.menu-body a[href="${to}"]`)]);
    expect(new URL(page.url()).pathname).toBe(to);
    expect(await page.title()).toStartWith(title);
    expect(await isOpen(page)).toBe(false);

    await tap(page, ".menu summary");
    await Promise.all([page.waitForNavigation(), tap(page, ".menu-body form[action$=sign-out] button")]);
    expect(page.url()).toContain("/console/sign-in?out=1");
    expect(complaints).toEqual([]);
    await page.browserContext().close();
  });

test("a window that grows while the menu is open gives the page back", async () => {
  const { page } = await browser.open(820);
  await signIn(page, server.baseUrl, "ana@pocket.example");
  await page.click(".menu summary");
  // The script's event comes a moment after the menu has opened.
  await page.waitForFunction(() => (document.querySelector("#main") as HTMLElement).inert);
  await page.setViewport({ width: 1280, height: 900 });
  await page.waitForFunction(() => !(document.querySelector("#main") as HTMLElement).inert);
  await submit(page, ".sidebar .nav-button");
  expect(page.url()).toContain("out=1");
});

test("wide and narrow pages begin at the same left edge", async () => {
  const { page } = await browser.open(1680);
  await signIn(page, server.baseUrl, "ana@pocket.example");
  const edges = [];
  for (const path of ["/console", "/console/keys", "/console/images", "/console/playground"]) {
    await page.goto(server.baseUrl + path);
    edges.push(await page.$eval("#main h1", (title) => title.getBoundingClientRect().left));
  }
  expect(new Set(edges).size).toBe(1);
});

test("what only developers need is folded for a club, is found again as it was left, and is open on its own pages", async () => {
  const { page, complaints } = await browser.open(1280);
  await signIn(page, server.baseUrl, "ana@pocket.example");
  const isFolded = () => page.$eval(".sidebar .nav-fold", (fold) => !(fold as HTMLDetailsElement).open);
  const click = async (state: string) => {
    await page.click(".sidebar .nav-fold summary");
    await page.waitForFunction((kept) => Object.values(localStorage).includes(kept), {}, state);
  };
  expect(await isFolded()).toBe(true);
  await click("open");
  await page.goto(`${server.baseUrl}/console/images`);
  expect(await isFolded()).toBe(false);
  await click("folded");
  await page.goto(`${server.baseUrl}/console`);
  expect(await isFolded()).toBe(true);
  await page.goto(`${server.baseUrl}/console/keys`);
  expect(await isFolded()).toBe(false);
  await page.goto(`${server.baseUrl}/console`);
  expect(await isFolded()).toBe(true);
  await page.browserContext().close();
  const { account } = await testAccount(server.service, { name: "Coders FC" });
  await testMember(server.service, account.id, "dev@pocket.example", "developer");
  const { page: other } = await browser.open(1280);
  await signIn(other, server.baseUrl, "dev@pocket.example");
  expect(await other.$eval(".sidebar .nav-fold", (fold) => (fold as HTMLDetailsElement).open)).toBe(true);
  expect(complaints).toEqual([]);
});
