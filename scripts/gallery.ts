/**
 * Renders what a designer has to look at into ./gallery: contact sheets, single cards and an index page.
 *
 *     bun run gallery                  # all sheets, which takes minutes
 *     bun run gallery themes badges    # those that are named
 *
 * Sheets: photos, thumbnails, layouts, names, themes, themes_branded, colours, badges, sizes, formats. A card
 * that cannot be drawn is named, the others are written all the same, and the exit code is 1.
 */

import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser } from "puppeteer-core";
import { type Badge, type CutoutFile, POSITIONS, type Position } from "../src/core/card.ts";
import { openSealedPage, type PageFile } from "../src/render/browser/browser.ts";
import { type CardPage, openCardPage } from "../src/render/card/page.ts";
import { THEMES } from "../src/render/card/scenes/themes.ts";
import { saveCutout } from "../src/render/card-renderer.ts";
import { openPhotoCutter } from "../src/render/photo/photo.ts";
import { tidying } from "../src/render/tidying.ts";
import { loadTemplate } from "../src/templates/load.ts";
import manifest from "../test/photos/manifest.json" with { type: "json" };
import {
  type CardSpec,
  CUTOUT_NAMES,
  cardInput,
  cutout,
  launchCardBrowser,
  NAMES,
} from "../test/render/card/cards.ts";
import { namesFrom, offerHelp } from "./help.ts";

offerHelp(import.meta);

const OUT = join(import.meta.dir, "../gallery");
const PHOTOS = join(import.meta.dir, "../test/photos");
const LAYOUTS = [
  [1024, 1280],
  [1100, 1100],
  [1600, 900],
] as const;
const CLUBS: [string, string | undefined][] = [
  ["#c8102e", "#ffffff"],
  ["#0b3d91", "#ffcc00"],
  ["#ffffff", "#111111"],
  ["#111111", "#ffffff"],
  ["#00843d", undefined],
  ["#6cabdd", "#1c2c5b"],
  ["#ffd100", "#000000"],
  ["#7a1fa2", "#ff8f00"],
  ["#808080", "#7f7f7f"],
  ["#ff0000", "#00ff00"],
  ["#f4c2c2", undefined],
  ["#002b2b", "#003333"],
  ["#ffffff", "#ffffff"],
  ["#000000", "#000000"],
  ["#ffe600", "#ffffff"],
  ["#39ff14", "#ff00ff"],
  ["#c8102e", undefined],
  ["#f6eb61", undefined],
];

interface Picture {
  label: string;
  bytes: Uint8Array;
  contentType: string;
}
type Photo = (typeof CUTOUT_NAMES)[number] | CutoutFile | null;
type Shot = { label: string; spec: CardSpec; photo: Photo; badge?: Badge };

async function take(page: CardPage, name: string, shots: Shot[]): Promise<Picture[]> {
  const pictures: Picture[] = [];
  for (const shot of shots) {
    try {
      const picture = await page.render({
        card: cardInput({ width: 1024, height: 1280, ...shot.spec }),
        cutout: typeof shot.photo === "string" ? await cutout(shot.photo) : shot.photo,
        badge: shot.badge ?? null,
      });
      pictures.push({ label: shot.label, ...picture });
    } catch (error) {
      console.error(`${name}, ${shot.label}: ${error instanceof Error ? error.message : error}`);
      process.exitCode = 1;
    }
  }
  return pictures;
}

/** Arranges pictures on one sheet and writes it as PNG. */
async function sheet(
  browser: Browser,
  name: string,
  pictures: Picture[],
  columns: number,
  cellPx: number,
): Promise<void> {
  const files = new Map<string, PageFile>();
  const cells = pictures.map((picture, i) => {
    files.set(`/${i}`, { body: picture.bytes, contentType: picture.contentType });
    return `<figure><img src="/${i}"><figcaption>${Bun.escapeHTML(picture.label)}</figcaption></figure>`;
  });
  const html = `<style>body{margin:16px;background:#8b8e93;display:grid;grid-template-columns:repeat(${columns},${cellPx}px);gap:14px;align-items:end}figure{margin:0}img{width:100%;display:block}figcaption{font:13px sans-serif;text-align:center;padding-top:4px}</style>${cells.join("")}`;
  files.set("/", { body: html, contentType: "text/html; charset=utf-8" });
  const page = await openSealedPage(browser, (path) => files.get(path), "/");
  await page.setViewport({ width: columns * (cellPx + 14) + 18, height: 200 });
  await page.evaluate("Promise.all([...document.images].map((image) => image.decode()))");
  await page.screenshot({ path: join(OUT, `${name}.png`) as `${string}.png`, fullPage: true });
  await page.close();
  console.log(`gallery/${name}.png`);
}

/** Every sample photo that shows a player, cut out as a render worker would. */
async function sampleCutouts(browser: Browser): Promise<[string, CutoutFile][]> {
  const cutter = await openPhotoCutter(browser);
  const tidied = tidying(() => void cutter.tidy());
  const made: [string, CutoutFile][] = [];
  for (const { file, expect } of manifest) {
    if (expect !== "cutout") continue;
    const result = await tidied(() => cutter.cutOut(join(PHOTOS, file)));
    if (result.ok) made.push([file, await saveCutout(join(OUT, "cutouts", file), result.cutout)]);
    else console.error(`${file}: ${result.message}`);
  }
  await cutter.close();
  return made;
}

/** Badges of every awkward kind, drawn by the given browser. */
async function badges(browser: Browser): Promise<[string, Badge][]> {
  const shield = (fill: string, line: string) =>
    `<svg width="300" height="340" viewBox="0 0 300 340"><path d="M20 20H280V180C280 260 210 310 150 330C90 310 20 260 20 180Z" fill="${fill}" stroke="${line}" stroke-width="16"/><path d="M150 70l24 60h64l-52 40 20 64-56-40-56 40 20-64-52-40h64z" fill="${line}"/></svg>`;
  const kinds: [string, string, number, number, "png" | "jpeg"][] = [
    ["shield", shield("#c8102e", "#ffd700"), 300, 340, "png"],
    ["dark", shield("#111111", "#2a2a2a"), 300, 340, "png"],
    ["light", shield("#ffffff", "#e8e8e8"), 300, 340, "png"],
    ["wide", `<div style="height:120px;background:#093"></div>`, 600, 120, "png"],
    ["tall", `<div style="height:400px;background:#fc0"></div>`, 100, 400, "png"],
    [
      "opaque",
      `<body style="background:#fff"><div style="width:160px;height:160px;margin:20px;border-radius:50%;background:#06c">`,
      200,
      200,
      "jpeg",
    ],
    [
      "huge",
      `<svg width="2000" height="2000" viewBox="0 0 100 100"><circle cx="50" cy="50" r="46" fill="#034694" stroke="#fff" stroke-width="5"/><path d="M50 15l9 25h26L64 56l8 27-22-16-22 16 8-27-21-16h26z" fill="#dba111"/></svg>`,
      2000,
      2000,
      "png",
    ],
    ["tiny", `<div style="height:16px;background:red;border-radius:8px"></div>`, 16, 16, "png"],
  ];
  const page = await browser.newPage();
  const made: [string, Badge][] = [];
  for (const [label, html, width, height, type] of kinds) {
    await page.setViewport({ width, height });
    await page.setContent(`<style>body{margin:0}</style>${html}`);
    made.push([
      label,
      {
        bytes: await page.screenshot({ type, omitBackground: type === "png" }),
        contentType: `image/${type}`,
      },
    ]);
  }
  await page.close();
  return made;
}

const SIZES = [
  [512, 512],
  [1024, 1280],
  [1280, 1024],
  [1080, 1920],
  [1920, 1080],
] as const;
/** A different club for each sample photo, so that the sheet shows many colours. */
const clubOf = (i: number): CardSpec => {
  if (i % 3 === 0) return { skill: [95, 83, 68, 52][(i / 3) % 4] as number };
  const [primary, secondary] = CLUBS[i % 7] as [string, string | undefined];
  return { primary, ...(secondary ? { secondary } : {}), skill: 60 + ((i * 7) % 39) };
};

function shotLists(
  crests: [string, Badge][],
  samples: [string, CutoutFile][],
): Record<string, { columns: number; cellPx: number; shots: Shot[] }> {
  const photos = [...CUTOUT_NAMES, null];
  const skills = [93, 84, 71, 58, 79];
  return {
    photos: {
      columns: samples.length,
      cellPx: 240,
      shots: SIZES.flatMap(([width, height]) =>
        samples.map(([file, photo], i) => ({
          label: `${file} ${width}x${height}`,
          photo,
          ...(i % 2 ? { badge: crests[0]?.[1] as Badge } : {}),
          spec: { width, height, position: POSITIONS[i] as Position, number: 1 + i * 9, ...clubOf(i) },
        })),
      ),
    },
    thumbnails: {
      columns: samples.length,
      cellPx: 205,
      shots: samples.map(([file, photo], i) => ({
        label: file,
        photo,
        badge: crests[i % crests.length]?.[1] as Badge,
        spec: { width: 512, height: 640, theme: THEMES[i * 2] as string, ...clubOf(i) },
      })),
    },
    layouts: {
      columns: 5,
      cellPx: 380,
      shots: LAYOUTS.flatMap(([width, height]) =>
        photos.map((photo, i) => ({
          label: `${photo ?? "silhouette"} ${width}x${height}`,
          photo,
          spec: { width, height, skill: skills[i] as number },
        })),
      ),
    },
    names: {
      columns: 6,
      cellPx: 300,
      shots: Object.entries(NAMES).map(([label, name]) => ({
        label,
        photo: "yoga" as const,
        spec: { name, primary: "#0b3d91", secondary: "#ffcc00" },
      })),
    },
    themes: {
      columns: 7,
      cellPx: 270,
      shots: [undefined, ...THEMES, "bananas", "quokka", "zz top"].map((theme) => ({
        label: theme ?? "none",
        photo: "skier" as const,
        spec: theme ? { theme } : {},
      })),
    },
    themes_branded: {
      columns: 7,
      cellPx: 270,
      shots: THEMES.map((theme) => ({
        label: theme,
        photo: "yoga" as const,
        spec: { theme, primary: "#0b3d91", secondary: "#ffcc00" },
      })),
    },
    colours: {
      columns: 6,
      cellPx: 320,
      shots: CLUBS.map(([primary, secondary]) => ({
        label: `${primary} ${secondary ?? ""}`,
        photo: "man" as const,
        spec: { primary, ...(secondary ? { secondary } : {}) },
      })),
    },
    badges: {
      columns: 4,
      cellPx: 400,
      shots: crests.flatMap(([label, badge], i) => [
        { label, badge, photo: "astronaut" as const, spec: { primary: CLUBS[i]?.[0] as string } },
      ]),
    },
    sizes: {
      columns: 6,
      cellPx: 320,
      shots: (
        [
          [512, 512],
          [512, 640],
          [512, 2048],
          [2048, 512],
          [1280, 720],
          [700, 900],
          [2048, 2048],
          [900, 1000],
          [1500, 1250],
          [1080, 1920],
          [1200, 628],
          [2048, 1024],
        ] as const
      ).map(([width, height]) => ({
        label: `${width}x${height}`,
        photo: "man" as const,
        badge: crests[0]?.[1] as Badge,
        spec: { width, height, primary: "#00843d", secondary: "#ffffff" },
      })),
    },
    formats: {
      columns: 3,
      cellPx: 420,
      shots: (["png", "webp", "jpeg"] as const).map((format) => ({
        label: format,
        photo: "astronaut" as const,
        spec: { format },
      })),
    },
  };
}

await mkdir(OUT, { recursive: true });
const wanted = namesFrom(process.argv.slice(2), Object.keys(shotLists([], [])));
const browser = await launchCardBrowser();
try {
  const page = await openCardPage(browser, await loadTemplate("club_card"));
  const needsPhotos = wanted.includes("photos") || wanted.includes("thumbnails");
  const samples = needsPhotos ? await sampleCutouts(browser) : [];
  const lists = Object.entries(shotLists(await badges(browser), samples)).filter(([name]) =>
    wanted.includes(name),
  );
  for (const [name, { columns, cellPx, shots }] of lists) {
    const pictures = await take(page, name, shots);
    await sheet(browser, name, pictures, columns, cellPx);
    const [first] = pictures;
    if (first) await writeFile(join(OUT, `${name}-1.${first.contentType.split("/")[1]}`), first.bytes);
  }
  const index = lists
    .map(([name]) => `<h2>${name}</h2><img src="${name}.png" style="max-width:100%">`)
    .join("\n");
  await writeFile(
    join(OUT, "index.html"),
    `<!doctype html><title>cardpress gallery</title><body style="font-family:sans-serif">${index}`,
  );
} finally {
  await browser.close();
}
