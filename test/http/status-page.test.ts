import { afterAll, beforeAll, expect, test } from "bun:test";
import axe from "axe-core";
import { postNotice } from "../../src/app/operations/status.ts";
import { dayOf } from "../../src/core/time.ts";
import { type TestBrowser, testBrowser } from "../console/browser.ts";
import { type TestServer, testServer } from "../harness.ts";

let server: TestServer;
let browser: TestBrowser;
beforeAll(async () => {
  [server, browser] = await Promise.all([
    testServer({ env: { CARDPRESS_STATUS_PAGE: "on" }, renders: false }),
    testBrowser(),
  ]);
  const { service } = server;
  const now = service.clock.now();
  // Eighty days, one of them with an hour missing and one without any record.
  await service.store.write("test", async ({ db, t }) => {
    for (let ago = 80; ago > 0; ago--) {
      if (ago === 40) continue;
      const minutes = ago === 20 ? `${"f".repeat(345)}${"0".repeat(15)}` : "f".repeat(360);
      await db.insert(t.statusDays).values({ day: dayOf(now - ago * 86_400_000), minutes });
    }
  });
  const message =
    "Between 22:00 and 22:15 UTC the service is upgraded. Requests are refused with 503 meanwhile: send them again.";
  await postNotice(service, { title: "Upgrade tonight", message, by: null });
});
afterAll(async () => {
  await browser.close();
  await server.close();
});

for (const scheme of ["light", "dark"])
  for (const width of [1280, 390])
    test(`the status page keeps to its policy and WCAG 2.2 AA and scrolls one way: ${scheme}, ${width} px`, async () => {
      const { page, complaints } = await browser.open(width);
      await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
      await page.goto(`${server.baseUrl}/status`);
      await page.evaluate(axe.source);
      const violations = await page.evaluate(async () => {
        const { violations } = await axe.run({
          runOnly: ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa", "best-practice"],
        });
        return violations.map(({ id, nodes }: { id: string; nodes: { html: string }[] }) => [
          id,
          nodes[0]?.html,
        ]);
      });
      expect(violations).toEqual([]);
      expect(complaints).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
      await page.close();
    });
