/**
 * Renders the README's pictures into docs/: card.webp, one card as the command line makes it; the same in
 * motion, moving-card.webp; cards.webp, several on one sheet; templates.webp, the accepted pictures of what
 * else comes with the service, on one sheet; the card on the documentation's first page; and the pictures by
 * which the console says what a page is for. Run `bun scripts/readme.ts` after changing the template.
 */

import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "puppeteer-core";
import { openSealedPage, type PageFile } from "../src/render/browser/browser.ts";
import { launchCardBrowser } from "../test/render/card/cards.ts";
import { offerHelp } from "./help.ts";

offerHelp(import.meta);

const ROOT = join(import.meta.dir, "..");
/** Twice the size at which the README displays the card. */
const CARD_PX = { width: 640, height: 800 };
/** Of the card in motion, of which each frame counts: at this size it stays below a megabyte. */
const MOVING_CARD_PX = { width: 528, height: 660 };
const SHEET_WIDTH_PX = 1160;
const GAP_PX = 12;
/** Pixels of the sheet for each that is displayed. */
const SHEET_SCALE = 1.5;

interface Sample {
  photo: string;
  badge: "shield" | "round";
  player: { name: string; position: string; number: number; skill_level: number };
  size: { width: number; height: number };
  theme?: string;
  composition?: "cutout" | "photo";
  branding?: { primary_color: string; secondary_color: string };
  /** Height on the sheet. */
  heightPx: number;
}

const portrait = { width: 800, height: 1000 };
/** What cards usually are, in the photo itself, with one player cut out: the same photo both ways. */
const SAMPLES: Sample[] = [
  {
    photo: "unsplash_man.jpg",
    badge: "round",
    player: { name: "Tom Ryder", position: "CB", number: 4, skill_level: 91 },
    size: portrait,
    composition: "photo",
    branding: { primary_color: "#0B3D91", secondary_color: "#FFCC00" },
    heightPx: 350,
  },
  {
    photo: "yoga.jpg",
    badge: "shield",
    player: { name: "रवि मेनन", position: "LW", number: 11, skill_level: 87 },
    size: portrait,
    composition: "photo",
    branding: { primary_color: "#C8102E", secondary_color: "#FFFFFF" },
    heightPx: 350,
  },
  {
    photo: "skier.jpg",
    badge: "shield",
    player: { name: "Jonas Berg", position: "CAM", number: 8, skill_level: 72 },
    size: portrait,
    composition: "photo",
    heightPx: 350,
  },
  {
    photo: "skier.jpg",
    badge: "shield",
    player: { name: "Jonas Berg", position: "CAM", number: 8, skill_level: 72 },
    size: portrait,
    theme: "stadium",
    composition: "cutout",
    heightPx: 350,
  },
  {
    photo: "astronaut.png",
    badge: "round",
    player: { name: "Eileen Collins", position: "ST", number: 9, skill_level: 95 },
    size: { width: 1440, height: 810 },
    theme: "galaxy",
    heightPx: 316,
  },
  {
    photo: "camera.png",
    badge: "round",
    player: { name: "李伟", position: "GK", number: 1, skill_level: 66 },
    size: { width: 900, height: 900 },
    theme: "forest",
    branding: { primary_color: "#00843D", secondary_color: "#FFD100" },
    heightPx: 316,
  },
  {
    photo: "astronaut.png",
    badge: "shield",
    player: { name: "Eileen Collins", position: "CM", number: 6, skill_level: 58 },
    size: { width: 815, height: 1110 },
    heightPx: 316,
  },
];

/** Must match the documentation's alternative text. */
const DOCS_CARD: Sample = {
  photo: "astronaut.png",
  badge: "round",
  player: { name: "Eileen Collins", position: "ST", number: 9, skill_level: 93 },
  size: portrait,
  heightPx: 600,
};

const HOME = {
  badge: "round",
  theme: "stadium",
  branding: { primary_color: "#0B3D91", secondary_color: "#FFCC00" },
} as const;
const AWAY = {
  badge: "shield",
  theme: "fire",
  branding: { primary_color: "#C8102E", secondary_color: "#FFFFFF" },
} as const;
const CONSOLE_CARD = { size: { width: 640, height: 800 }, composition: "photo", heightPx: 300 } as const;
const JONAS = {
  ...CONSOLE_CARD,
  photo: "skier.jpg",
  player: { name: "Jonas Berg", position: "CAM", number: 8, skill_level: 91 },
} as const;
const LUKA = {
  ...CONSOLE_CARD,
  photo: "yoga.jpg",
  player: { name: "Luka Kovač", position: "RW", number: 7, skill_level: 84 },
} as const;
const TOM = {
  ...CONSOLE_CARD,
  photo: "unsplash_man.jpg",
  player: { name: "Tom Ryder", position: "CB", number: 4, skill_level: 72 },
} as const;
/** What the console's pages show: cards side by side, each over a part of the one before. */
const CONSOLE_PICTURES: Record<string, { cards: Sample[]; overlapPx: number }> = {
  "one-card": { cards: [{ ...TOM, ...HOME }], overlapPx: 0 },
  squad: { cards: [JONAS, LUKA, TOM].map((card) => ({ ...card, ...HOME })), overlapPx: 84 },
  kits: {
    cards: [
      { ...TOM, ...HOME },
      { ...TOM, ...AWAY },
    ],
    overlapPx: -16,
  },
};

/** Accepted pictures of templates with a look of their own, and of backs. */
const ACCEPTED = [
  "retro_sticker/golden/album@sticker",
  "full_bleed/golden/season@print",
  "full_bleed/golden/season@print.back",
  "club_card/golden/branded@print.back",
  "team_sheet/golden/cup@post",
  "holiday_card/golden/greeting@card",
].map((name) => ({ path: join(ROOT, `templates/${name}.webp`), heightPx: 240 }));

const STAR = "l13 27 30 4-22 21 6 30-27-15-27 15 6-30-22-21 30-4z";
const BADGES = {
  shield: `<svg xmlns="http://www.w3.org/2000/svg" width="420" height="480" viewBox="0 0 210 240"><path d="M105 6 196 34v92c0 52-44 84-91 106C58 210 14 178 14 126V34Z" fill="#7d0a1c" stroke="#fff" stroke-width="9" stroke-linejoin="round"/><path d="M105 16 186 41v84c0 45-38 74-81 95Z" fill="#a30f28"/><circle cx="105" cy="112" r="50" fill="#fff"/><path d="M105 68${STAR}" fill="#7d0a1c"/></svg>`,
  round: `<svg xmlns="http://www.w3.org/2000/svg" width="440" height="440" viewBox="0 0 220 220"><circle cx="110" cy="110" r="102" fill="#0b3d91" stroke="#ffd447" stroke-width="10"/><path d="M110 12a98 98 0 0 1 0 196Z" fill="#08307a"/><circle cx="110" cy="110" r="58" fill="#ffd447"/><path d="M110 62${STAR}" fill="#0b3d91"/></svg>`,
};

/** A badge file for each drawing; the service takes no SVG. */
async function drawBadges(browser: Browser, folder: string): Promise<void> {
  for (const [name, svg] of Object.entries(BADGES)) {
    const files = new Map<string, PageFile>([
      ["/", { body: `<body style="margin:0"><img src="/badge"></body>`, contentType: "text/html" }],
      ["/badge", { body: svg, contentType: "image/svg+xml" }],
    ]);
    const page = await openSealedPage(browser, (path) => files.get(path), "/");
    const image = await page.$("img");
    await image?.screenshot({ path: join(folder, `${name}.png`) as `${string}.png`, omitBackground: true });
    await page.close();
  }
}

async function renderCard(
  sample: Sample,
  folder: string,
  out: string,
  options: string[] = [],
): Promise<void> {
  const { photo, badge, player, size, theme, composition, branding } = sample;
  const input = join(folder, "card.json");
  const body = {
    type: "player_card",
    player: { external_id: photo, source_image_url: "https://images.example.com/player.jpg", ...player },
    style: {
      preset: "club_card",
      ...size,
      ...(theme ? { background_theme: theme } : {}),
      ...(composition ? { composition } : {}),
    },
    ...(branding ? { branding } : {}),
  };
  await writeFile(input, JSON.stringify(body));
  const files = ["--input", input, "--photo", join(ROOT, "test/photos", photo), "--out", out];
  const badgeFile = join(folder, `${badge}.png`);
  await Bun.$`bun ${join(ROOT, "src/main.ts")} render ${files} --badge ${badgeFile} ${options}`.quiet();
}

/** The first of the sample cards, still and in motion. */
async function writeFirstCard(folder: string): Promise<void> {
  const [first] = SAMPLES as [Sample];
  const still = join(folder, "card.png");
  await renderCard({ ...first, size: CARD_PX }, folder, still);
  await writeWebp("docs/card.webp", await Bun.file(still).bytes(), 88);
  const moving = join(folder, "moving.webp");
  await renderCard({ ...first, size: MOVING_CARD_PX }, folder, moving, ["--motion", "foil"]);
  await writePicture("docs/moving-card.webp", await Bun.file(moving).bytes());
}

/** As WebP: a fifth of the PNG, and the repository keeps every one. */
async function writeWebp(path: string, png: Uint8Array, quality: number): Promise<void> {
  await writePicture(path, await new Bun.Image(png).webp({ quality }).bytes());
}

async function writePicture(path: string, webp: Uint8Array): Promise<void> {
  await writeFile(join(ROOT, path), webp);
  console.log(`${path}: ${Math.round(webp.length / 1024)} KB`);
}

/** Two pixels of the documentation's card for each displayed pixel. */
async function writeDocsCard(png: Uint8Array): Promise<void> {
  const webp = await new Bun.Image(png).resize(480, 600).webp({ quality: 84 }).bytes();
  await writeFile(join(ROOT, "src/http/docs/client/card.webp"), webp);
}

/** Pictures side by side, in as many rows as they need. */
async function drawSheet(
  browser: Browser,
  pictures: { path: string; heightPx: number }[],
): Promise<Uint8Array> {
  const files = new Map<string, PageFile>();
  for (const [i, { path }] of pictures.entries()) {
    const body = await Bun.file(path).bytes();
    files.set(`/${i}`, { body, contentType: Bun.file(path).type });
  }
  const cells = pictures.map(({ heightPx }, i) => `<img src="/${i}" height="${heightPx}">`);
  const style = `margin:0;display:flex;flex-wrap:wrap;gap:${GAP_PX}px;justify-content:center`;
  files.set("/", { body: `<body style="${style}">${cells.join("")}`, contentType: "text/html" });
  const page = await openSealedPage(browser, (path) => files.get(path), "/");
  await page.setViewport({ width: SHEET_WIDTH_PX, height: 100, deviceScaleFactor: SHEET_SCALE });
  await page.evaluate("Promise.all([...document.images].map((image) => image.decode()))");
  const picture = await page.screenshot({ omitBackground: true, fullPage: true });
  await page.close();
  return picture;
}

async function drawConsolePicture(browser: Browser, folder: string, name: string): Promise<void> {
  const { cards = [], overlapPx = 0 } = CONSOLE_PICTURES[name] ?? {};
  const files = new Map<string, PageFile>();
  for (const [i, card] of cards.entries()) {
    const path = join(folder, `${name}-${i}.png`);
    await renderCard(card, folder, path);
    files.set(`/${i}`, { body: await Bun.file(path).bytes(), contentType: "image/png" });
  }
  const images = cards.map(
    ({ heightPx }, i) =>
      `<img src="/${i}" height="${heightPx}"${i > 0 ? ` style="margin-left:${-overlapPx}px"` : ""}>`,
  );
  files.set("/", {
    body: `<body style="margin:0;width:max-content;display:flex">${images.join("")}`,
    contentType: "text/html",
  });
  const page = await openSealedPage(browser, (path) => files.get(path), "/");
  await page.setViewport({ width: SHEET_WIDTH_PX, height: 100, deviceScaleFactor: SHEET_SCALE });
  await page.evaluate("Promise.all([...document.images].map((image) => image.decode()))");
  const width = Number(await page.evaluate("document.body.offsetWidth"));
  await page.setViewport({ width, height: 100, deviceScaleFactor: SHEET_SCALE });
  const picture = await page.screenshot({ omitBackground: true, fullPage: true });
  await page.close();
  await writeWebp(`src/console/assets/${name}.webp`, picture, 80);
}

const folder = await mkdtemp(join(tmpdir(), "cardpress-readme-"));
const browser = await launchCardBrowser();
try {
  await mkdir(join(ROOT, "docs"), { recursive: true });
  await drawBadges(browser, folder);
  for (const name of Object.keys(CONSOLE_PICTURES)) await drawConsolePicture(browser, folder, name);
  await writeFirstCard(folder);
  for (const [i, sample] of SAMPLES.entries()) await renderCard(sample, folder, join(folder, `${i}.png`));
  const docsCard = { ...DOCS_CARD, size: { width: 960, height: 1200 } };
  await renderCard(docsCard, folder, join(folder, "docs.png"));
  await writeDocsCard(await Bun.file(join(folder, "docs.png")).bytes());
  const cards = SAMPLES.map(({ heightPx }, i) => ({ path: join(folder, `${i}.png`), heightPx }));
  await writeWebp("docs/cards.webp", await drawSheet(browser, cards), 84);
  await writeWebp("docs/templates.webp", await drawSheet(browser, ACCEPTED), 80);
} finally {
  await browser.close();
  await rm(folder, { recursive: true, force: true });
}
