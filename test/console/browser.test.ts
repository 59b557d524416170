import { afterAll, expect, test } from "bun:test";
import { testBrowser } from "./browser.ts";

const site = Bun.serve({
  port: 0,
  fetch: () => new Response("<p>hello</p>", { headers: { "content-type": "text/html" } }),
});
afterAll(() => site.stop(true));

test("files of tests share one browser, and none finds the cookies, the storage or the pages of another", async () => {
  const first = await testBrowser();
  const { page } = await first.open();
  await page.goto(site.url.href);
  await page.evaluate(() => {
    // biome-ignore lint/suspicious/noDocumentCookie: a page's own way to keep one.
    document.cookie = "seen=yes";
    localStorage.setItem("seen", "yes");
  });
  const browser = page.browser();
  await first.close();
  expect(page.isClosed()).toBe(true);

  const second = await testBrowser();
  const { page: next } = await second.open();
  expect(next.browser()).toBe(browser);
  await next.goto(site.url.href);
  expect(await next.evaluate(() => document.cookie + localStorage.length)).toBe("0");
  await second.close();
});
