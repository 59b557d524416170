import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Browser } from "puppeteer-core";
import { openCardPage } from "../../../src/render/card/page.ts";
import { pageCache } from "../../../src/render/card/page-cache.ts";
import { backOf, templateOf } from "../../../src/templates/load.ts";
import type { TemplateRegistry } from "../../../src/templates/registry.ts";
import { BACK, sampleTemplate } from "../../templates/sample-template.ts";
import { openPixelLab, type PixelLab } from "../pixels.ts";
import { cardInput, closePages, openBrowser } from "./cards.ts";

// A template's other side is shown by a page of its own, with the same data.

let browser: Browser;
let lab: PixelLab;
beforeAll(async () => {
  browser = await openBrowser();
  lab = await openPixelLab(browser);
});
afterAll(closePages);

const card = {
  ...cardInput({ width: 600, height: 800, primary: "#0b3d91", secondary: "#ffcc00" }),
  fields: { club: "Rovers FC" },
};
const job = { card, cutout: null, badge: null };

const colourAt = async (picture: Uint8Array) =>
  Buffer.from((await lab.pixelsAt(picture, [[4, 4]]))[0] ?? []).toString("hex");

test("front and back show the same card by sheets of their own, from one digest", async () => {
  const template = templateOf(sampleTemplate(BACK));
  expect(template.digest).not.toBe(templateOf(sampleTemplate()).digest);
  const registry = { current: async () => template } as unknown as TemplateRegistry;
  const pages = pageCache(browser, registry, () => {});
  const { page: front } = await pages.get("test_card");
  const { page: back } = await pages.back(template);
  expect(await colourAt((await front.render(job)).bytes)).toBe("0b3d91ff");
  expect(await colourAt((await back.render(job)).bytes)).toBe("ffcc00ff");
  expect(await back.page.$eval(".club", (club) => club.textContent)).toBe("Rovers FC");
  expect((await pages.back(template)).page).toBe(back);
});

test("a back follows a designer's edit of its own sheet on the warm page", async () => {
  const page = await openCardPage(browser, backOf(templateOf(sampleTemplate(BACK))), {
    captureMethod: "canvas",
  });
  await page.render(job);
  const edited = { ...BACK, "back.css": `${BACK["back.css"]}.card { background: #ff0000 }` };
  await page.remake(backOf(templateOf(sampleTemplate(edited))));
  expect(await colourAt((await page.render(job)).bytes)).toBe("ff0000ff");
});

test("a template without a back has none to show", () => {
  expect(() => backOf(templateOf(sampleTemplate()))).toThrow("test_card has no back.html");
});
