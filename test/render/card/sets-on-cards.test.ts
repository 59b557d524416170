import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Browser, Page } from "puppeteer-core";
import type { Badge } from "../../../src/core/card.ts";
import type { ShownSet } from "../../../src/core/card-set.ts";
import { cardTexts } from "../../../src/render/card/card-texts.ts";
import { type CardPage, openCardPage } from "../../../src/render/card/page.ts";
import { loadTemplate } from "../../../src/templates/load.ts";
import { type CardSpec, cardInput, closePages, openBrowser } from "./cards.ts";
import { badge } from "./goldens.ts";

let browser: Browser;
let card: CardPage;
let page: Page;
let crest: Badge;
beforeAll(async () => {
  browser = await openBrowser();
  card = await openCardPage(browser, await loadTemplate("club_card"));
  page = (await browser.pages()).at(-1) as Page;
  crest = await badge(browser);
});
afterAll(closePages);

const SET: ShownSet = { name: "Rovers", season: "2026/27", parallel: "gold", serial: 12, size: 50 };

const draw = async (set: ShownSet | undefined, spec: CardSpec = {}, hasBadge = false) =>
  card.render({
    card: { ...cardInput(spec), ...(set && { set }) },
    cutout: null,
    badge: hasBadge ? crest : null,
  });

test("a card of a set says its name, season, parallel and number, and one outside of sets nothing", () => {
  const said = (set?: ShownSet) => {
    const { texts } = cardTexts({ ...cardInput(), ...(set && { set }) });
    const paths = ["set.name", "set.season", "set.parallel", "serial"];
    return paths.map((path) => texts[path]?.text);
  };
  expect(said(SET)).toEqual(["Rovers", "2026/27", "gold", "12/50"]);
  expect(said({ name: "Rovers", parallel: "base" })).toEqual(["Rovers", undefined, "base", undefined]);
  expect(said()).toEqual([undefined, undefined, undefined, undefined]);
});

test("the number stands in the strip of a card of a set, and leaves nothing on the next card", async () => {
  const before = await draw(undefined);
  await draw(SET);
  expect(await page.$eval(".serial", (box) => box.textContent)).toBe("12/50");
  const after = await draw(undefined);
  expect(Buffer.from(after.bytes).equals(Buffer.from(before.bytes))).toBe(true);
  expect(await page.$eval(".serial", (box) => getComputedStyle(box).display)).toBe("none");
});

test.each([
  ["portrait", 1024, 1280],
  ["square", 1080, 1080],
  ["landscape", 1600, 900],
  ["print", 815, 1110],
] as const)("the longest number meets nothing else in the strip: %s", async (_, width, height) => {
  const set = { ...SET, serial: 10_000, size: 10_000 };
  for (const hasBadge of [false, true])
    for (const skill of [45, 99]) {
      await draw(set, { width, height, skill, number: 88 }, hasBadge);
      const [strip, tier, serial, no] = (await page.evaluate(() =>
        [".strip", ".tier", ".serial i", ".no"].map((one) => {
          const { left, right } = (document.querySelector(one) as Element).getBoundingClientRect();
          return [left, right];
        }),
      )) as [number, number][];
      expect(tier?.[1]).toBeLessThan(serial?.[0] ?? 0);
      expect(serial?.[1]).toBeLessThan(no?.[0] ?? 0);
      expect(no?.[1]).toBeLessThan((strip?.[1] ?? 0) + 1);
    }
});
