import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import type { Browser } from "puppeteer-core";
import type { CardJob } from "../../../src/render/card/card-fill.ts";
import { openCardPage } from "../../../src/render/card/page.ts";
import { loadTemplate } from "../../../src/templates/load.ts";
import { cardInput, closePages, cutout, openBrowser } from "./cards.ts";

/** The photo whose cutout is the `man`. */
const PHOTO = join(import.meta.dir, "../../photos/unsplash_man.jpg");

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(closePages);

const FIGURES = ["PAC", "SHO", "PAS", "DRI", "DEF", "PHY"].map((label) => ({ label, value: 99 }));
const MATCH = {
  home: "Harbour Rovers",
  away: "Internazionale Westmarken",
  competition: "Premier Division",
  date: "Sat 14 March",
  kick_off: "15:00",
  venue: "The Old Racecourse at Harbour Park",
};
const CARDS = {
  action_card: {
    sizes: [
      [815, 1110],
      [1024, 1394],
      [700, 1060],
      [820, 1000],
    ],
    contents: [
      {},
      { stats: FIGURES.slice(0, 3) },
      {
        club: "Harbour Rovers of the Northern Islands",
        nation: "Norway",
        season: "2026/27",
        serial: "027/250",
        stats: FIGURES,
      },
    ],
  },
  match_day: {
    sizes: [
      [1080, 1920],
      [1024, 2048],
      [1024, 1280],
      [1000, 1120],
      [1080, 1080],
      [1280, 1000],
      [1600, 900],
      [1330, 1000],
      [1520, 800],
    ],
    contents: [{}, { home: "Rovers", kick_off: "15:00" }, MATCH],
  },
} as const;
const NAMES = ["Jo", "Ana Li", "Pierre-Emerick Emiliano François Aubameyang", "Nguyễn Thị Ánh"];

/** What is seen of the card set last, in fractions of its box: its zones, and all that is read. */
interface Seen {
  zones: Record<string, { left: number; top: number; right: number; bottom: number }>;
  texts: { text: string; left: number; top: number; right: number; bottom: number }[];
}

function seenInPage(): Seen {
  const card = document.querySelector(".card") as HTMLElement;
  const box = card.getBoundingClientRect();
  const part = (rect: DOMRect) => ({
    left: (rect.left - box.left) / box.width,
    top: (rect.top - box.top) / box.height,
    right: (rect.right - box.left) / box.width,
    bottom: (rect.bottom - box.top) / box.height,
  });
  const zones: Seen["zones"] = {};
  for (const zone of card.querySelectorAll<HTMLElement>("[data-zone]")) {
    zone.style.display = "block";
    zones[zone.dataset.zone ?? ""] = part(zone.getBoundingClientRect());
    zone.style.display = "";
  }
  const texts: Seen["texts"] = [];
  const walker = document.createTreeWalker(card, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement as HTMLElement;
    const text = node.textContent?.trim();
    if (!text || parent.closest("[data-plate]") || parent.getClientRects().length === 0) continue;
    // A face's own line is higher than the line it is set in, and an ellipsis takes away what reaches beyond
    // its box.
    let block = parent;
    while (getComputedStyle(block).display === "inline") block = block.parentElement as HTMLElement;
    const within = part(block.getBoundingClientRect());
    const range = document.createRange();
    range.selectNodeContents(node);
    const ink = part(range.getBoundingClientRect());
    const isClipped = getComputedStyle(parent).textOverflow === "ellipsis";
    texts.push({
      text,
      left: ink.left,
      top: Math.max(ink.top, within.top),
      right: isClipped ? Math.min(ink.right, within.right) : ink.right,
      bottom: Math.min(ink.bottom, within.bottom),
    });
  }
  return { zones, texts };
}

for (const [name, { sizes, contents }] of Object.entries(CARDS))
  for (const composition of ["cutout", "photo"] as const)
    test(`whatever the shape of a ${name} and its contents, nothing that is read stands before the player, as ${composition}`, async () => {
      const page = await openCardPage(browser, await loadTemplate(name));
      const player = { ...(await cutout("man")), inPhoto: { x: 0, y: 0, width: 1, height: 1 } };
      let at = 0;
      for (const [width, height] of sizes)
        for (const fields of contents) {
          const card = {
            ...cardInput({
              width,
              height,
              composition,
              name: NAMES[at++ % NAMES.length] as string,
            }),
            fields,
          };
          const job: CardJob = { card, cutout: player, badge: null, photo: PHOTO };
          await page.set(job);
          const { zones, texts } = await page.page.evaluate(seenInPage);
          const { body, safe, stage } = zones;
          if (!body || !safe || !stage) throw new Error("no zones");
          expect(texts.length).toBeGreaterThan(1);
          const before = texts.filter(
            (one) => one.top < body.bottom - 0.001 && one.right > stage.left + 0.001,
          );
          const outside = texts.filter(
            (one) =>
              one.left < safe.left - 0.005 ||
              one.right > safe.right + 0.005 ||
              one.bottom > safe.bottom + 0.005,
          );
          expect({ width, height, fields, before, outside }).toEqual({
            width,
            height,
            fields,
            before: [],
            outside: [],
          });
        }
      await page.close();
    });

test("what an action_card or a match_day does not say leaves its room to the player", async () => {
  for (const [name, { sizes, contents }] of Object.entries(CARDS)) {
    const page = await openCardPage(browser, await loadTemplate(name));
    const [[width, height]] = sizes;
    const heights: number[] = [];
    for (const fields of contents) {
      const card = { ...cardInput({ width, height }), fields };
      const { body } = (await page.zones({ card, cutout: await cutout("man"), badge: null })).cutout;
      heights.push(body.height);
    }
    expect(heights).toEqual(heights.toSorted((a, b) => b - a));
    expect((heights[0] as number) - (heights.at(-1) as number)).toBeGreaterThan(0.1);
    await page.close();
  }
});
