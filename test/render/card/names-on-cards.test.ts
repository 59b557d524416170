import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, CDPSession, Page } from "puppeteer-core";
import { type CardPage, openCardPage } from "../../../src/render/card/page.ts";
import { loadTemplate } from "../../../src/templates/load.ts";
import { openPixelLab, type PixelLab } from "../pixels.ts";
import { cardInput, closePages, NAMES, openBrowser } from "./cards.ts";

let browser: Browser;
let card: CardPage;
let page: Page;
let session: CDPSession;
let lab: PixelLab;

beforeAll(async () => {
  browser = await openBrowser();
  // Of a page in a canvas there is no screenshot, which some of these tests take.
  card = await openCardPage(browser, await loadTemplate("club_card"), { captureMethod: "screenshot" });
  page = (await browser.pages()).at(-1) as Page;
  // The ink of the name is looked for, and nothing else need be painted.
  await page.addStyleTag({
    content: ".card * { visibility: hidden } .card .name * { visibility: visible }",
  });
  lab = await openPixelLab(browser);
  session = await page.createCDPSession();
  await session.send("DOM.enable");
  await session.send("CSS.enable");
});
afterAll(closePages);

/** The fonts that really drew the name; a system font means that no bundled one had the character. */
async function fontsOfName() {
  const { root } = await session.send("DOM.getDocument");
  const { nodeId } = await session.send("DOM.querySelector", { nodeId: root.nodeId, selector: ".name" });
  return (await session.send("CSS.getPlatformFontsForNode", { nodeId })).fonts;
}

/** Where the name's ink is, and the room it has between the ribbon's hairlines, in pixels of the picture. */
async function inkAndRoom() {
  const picture = await page.screenshot({ omitBackground: true, optimizeForSpeed: true });
  const boxes = await page.evaluate(() => {
    const span = document.querySelector(".name span") as HTMLElement;
    const name = (document.querySelector(".name") as HTMLElement).getBoundingClientRect();
    return {
      room: { left: name.left, right: name.right, top: name.top, bottom: name.bottom },
      children: span.childElementCount,
      shown: span.textContent ?? "",
    };
  });
  return { ...boxes, ink: await lab.inkBox(picture) };
}

/** Characters that look exactly like a character no font has. */
async function emptyBoxes(text: string): Promise<string[]> {
  return page.evaluate((name) => {
    const style = getComputedStyle(document.querySelector(".name") as HTMLElement);
    const draw = (character: string) => {
      const context = new OffscreenCanvas(80, 80).getContext("2d", {
        willReadFrequently: true,
      }) as OffscreenCanvasRenderingContext2D;
      context.font = `${style.fontStyle} ${style.fontWeight} 40px ${style.fontFamily}`;
      context.fillText(character, 10, 55);
      return context.getImageData(0, 0, 80, 80).data.join();
    };
    const missing = draw("\u{10fffe}");
    return [...new Set(name)].filter(
      (character) => /[\p{L}\p{N}\p{So}]/u.test(character) && draw(character) === missing,
    );
  }, text);
}

const shapes: [number, number][] = [
  [512, 640],
  [600, 600],
  [960, 540],
];

describe("every name", () => {
  for (const [label, name] of Object.entries(NAMES)) {
    test(`${label}: drawn by bundled fonts only, inside its plate`, async () => {
      let read = "";
      for (const [width, height] of shapes) {
        await card.set({ card: cardInput({ name, width, height }), cutout: null, badge: null });
        const { ink, room, children, shown } = await inkAndRoom();
        read = shown;
        expect(children).toBe(0);
        expect(ink.right - ink.left).toBeGreaterThan(4);
        // A slanted letter may lean out of its box by half a stroke.
        const lean = width / 100;
        expect(ink.left).toBeGreaterThanOrEqual(room.left - lean);
        expect(ink.right).toBeLessThanOrEqual(room.right + lean);
        // Accents may rise over the hairline, but not over the ribbon.
        expect(ink.top).toBeGreaterThanOrEqual(room.top - lean);
        expect(ink.bottom).toBeLessThanOrEqual(room.bottom);
      }
      const fonts = await fontsOfName();
      expect(fonts.filter((font) => !font.isCustomFont).map((font) => font.familyName)).toEqual([]);
      expect(await emptyBoxes(read)).toEqual([]);
    });
  }

  test("a name of HTML is shown as text and makes no element", async () => {
    await card.set({
      card: cardInput({ name: `<img src=x onerror="document.title='owned'">` }),
      cutout: null,
      badge: null,
    });
    const { shown, children } = await inkAndRoom();
    expect(shown).toBe(`<img src=x onerror="document.title='owned'">`);
    expect(children).toBe(0);
    expect(await page.title()).toBe("club_card");
  });

  test("gets smaller before it takes two lines, and is cut only when it is long", async () => {
    const lines = async (name: string) => {
      await card.set({ card: cardInput({ name }), cutout: null, badge: null });
      return page.evaluate(() => {
        const span = document.querySelector(".name span") as HTMLElement;
        const size = Number.parseFloat(getComputedStyle(span).fontSize);
        return {
          size,
          lines: Math.round(span.offsetHeight / (size * 0.94)),
          cut: span.textContent?.endsWith("…"),
        };
      });
    };
    const [short, medium, long, longest] = [
      await lines("Xi"),
      await lines("Marcus Alexander Rashford"),
      await lines("Pierre-Emerick Emiliano François Aubameyang"),
      await lines(NAMES.unbroken as string),
    ];
    expect(medium.size).toBeLessThan(short.size);
    expect(medium.lines).toBe(1);
    expect(long.lines).toBe(2);
    expect(long.cut).toBe(false);
    expect(longest.cut).toBe(true);
  });
});
