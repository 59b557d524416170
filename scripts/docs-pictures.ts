/**
 * Draws the documentation's sheets of cards: every theme, tier and shape. A new theme wants the first.
 *
 *     bun scripts/docs-pictures.ts            # themes, tiers and shapes
 *     bun scripts/docs-pictures.ts themes     # those that are named
 */

import { join } from "node:path";
import type { Browser } from "puppeteer-core";
import { openSealedPage, type PageFile } from "../src/render/browser/browser.ts";
import { openCardPage } from "../src/render/card/page.ts";
import { THEMES } from "../src/render/card/scenes/themes.ts";
import { loadTemplate } from "../src/templates/load.ts";
import {
  type CardSpec,
  CUTOUT_NAMES,
  cardInput,
  cutout,
  launchCardBrowser,
} from "../test/render/card/cards.ts";
import { namesFrom, offerHelp } from "./help.ts";

offerHelp(import.meta);

const OUT = join(import.meta.dir, "../src/http/docs/client/sheets");
/** What is on the sheet of themes: a test compares it with the themes there are. */
const THEMES_DRAWN = join(import.meta.dir, "../test/fixtures/themes-drawn.json");

type Player = (typeof CUTOUT_NAMES)[number];

/** The players' photos and names, for cards that show a player in the photo. */
const PLAYERS: Record<Player, { file: string; name: string }> = {
  astronaut: { file: "astronaut.png", name: "Eileen Collins" },
  man: { file: "unsplash_man.jpg", name: "Tom Ryder" },
  yoga: { file: "yoga.jpg", name: "Luka Kovač" },
  skier: { file: "skier.jpg", name: "Jonas Berg" },
};

interface Sheet {
  columns: number;
  /** Width of a card on the sheet, in CSS pixels; the file has twice as many. */
  cellPx: number;
  cards: { label: string; spec: CardSpec; photo: Player; inPhoto?: boolean }[];
}

const BRAND = { primary: "#0b3d91", secondary: "#ffcc00" };

const SHEETS: Record<string, Sheet> = {
  themes: {
    columns: 6,
    cellPx: 120,
    cards: THEMES.map((theme, i) => ({
      label: theme,
      photo: CUTOUT_NAMES[i % CUTOUT_NAMES.length] ?? "yoga",
      spec: { theme, ...BRAND, skill: 78 },
    })),
  },
  tiers: {
    columns: 4,
    cellPx: 180,
    cards: (
      [
        ["to 59", 54, "skier"],
        ["60 to 74", 68, "astronaut"],
        ["75 to 89", 83, "man"],
        ["from 90", 94, "yoga"],
      ] as const
    ).map(([label, skill, photo]) => ({ label, photo, inPhoto: true, spec: { skill, ...BRAND } })),
  },
  shapes: {
    columns: 4,
    cellPx: 180,
    cards: (
      [
        [1024, 1280, "man"],
        [1080, 1080, "astronaut"],
        [1080, 1920, "man"],
        [1600, 900, "yoga"],
      ] as const
    ).map(([width, height, photo]) => ({
      label: `${width} × ${height}`,
      photo,
      inPhoto: true,
      spec: { width, height, ...BRAND },
    })),
  },
};

async function draw(browser: Browser, name: string, { columns, cellPx, cards }: Sheet): Promise<void> {
  const page = await openCardPage(browser, await loadTemplate("club_card"));
  const files = new Map<string, PageFile>();
  const figures: string[] = [];
  for (const [i, { label, spec, photo, inPhoto }] of cards.entries()) {
    const { file, name } = PLAYERS[photo];
    const card = cardInput({ width: 1024, height: 1280, ...(inPhoto && { name }), ...spec });
    const path = inPhoto ? join(import.meta.dir, "../test/photos", file) : null;
    const picture = await page.render({ card, cutout: await cutout(photo), badge: null, photo: path });
    files.set(`/${i}`, { body: picture.bytes, contentType: picture.contentType });
    figures.push(`<figure><img src="/${i}"><figcaption>${Bun.escapeHTML(label)}</figcaption></figure>`);
  }
  await page.close();
  // The grey of the labels is read on the light pages and on the dark ones.
  const style = `body{margin:0;display:grid;grid-template-columns:repeat(${columns},${cellPx}px);gap:12px;align-items:end}figure{margin:0}img{width:100%;display:block}figcaption{font:12px "Inter",sans-serif;color:#7d8985;text-align:center;padding-top:6px}`;
  files.set("/", {
    body: `<style>${style}</style>${figures.join("")}`,
    contentType: "text/html; charset=utf-8",
  });
  const sheet = await openSealedPage(browser, (path) => files.get(path), "/");
  const width = columns * (cellPx + 12) - 12;
  await sheet.setViewport({ width, height: 100, deviceScaleFactor: 2 });
  await sheet.evaluate("Promise.all([...document.images].map((image) => image.decode()))");
  const height = Number(await sheet.evaluate("document.documentElement.scrollHeight"));
  const bytes = await sheet.screenshot({ type: "webp", quality: 70, omitBackground: true, fullPage: true });
  await Bun.write(join(OUT, `${name}.webp`), bytes);
  await sheet.close();
  console.log(`${name}.webp: ${width} x ${height} CSS pixels, ${Math.round(bytes.length / 1024)} KB`);
}

const wanted = namesFrom(process.argv.slice(2), Object.keys(SHEETS));
const browser = await launchCardBrowser();
try {
  for (const [name, sheet] of Object.entries(SHEETS))
    if (wanted.includes(name)) await draw(browser, name, sheet);
} finally {
  await browser.close();
}
if (wanted.includes("themes")) await Bun.write(THEMES_DRAWN, `${JSON.stringify(THEMES, null, 2)}\n`);
