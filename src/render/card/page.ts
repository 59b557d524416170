import type { Browser, CDPSession, Page } from "puppeteer-core";
import type { Composition } from "../../core/card.ts";
import { isMoving } from "../../core/moving-pictures.ts";
import { PICTURE_FORMATS } from "../../core/picture-formats.ts";
import type { LoadedTemplate } from "../../templates/load.ts";
import { compositionsOf } from "../../templates/manifest.ts";
import { crashOf, fileSlot, freeMemory, openSealedPage, type PageFile } from "../browser/browser.ts";
import { readHeader } from "../photo/header.ts";
import {
  type Camera,
  type CameraOptions,
  type CaptureMethod,
  openCamera,
  type Photograph,
  type Size,
} from "./capture.ts";
import { type CardJob, composeFill, type Setting, settingOf } from "./card-fill.ts";
import { packedPlate, withFoilPlate } from "./formats/foil-plate.ts";
import { withLayers } from "./formats/layer-files.ts";
import type { CardFill, FillResult } from "./page/messages.ts";
import { templateFile } from "./page-files.ts";
import { DEFAULT_ZONES, type Part, type ZonesOf } from "./placement/template-layout.ts";
import { withTimeout } from "./within-time.ts";

export interface CardPicture {
  bytes: Uint8Array;
  contentType: string;
  width: number;
  height: number;
  composition: Composition;
  timingsMs: Record<string, number>;
}

/**
 * One warm page: template, fonts and styles load once, and each card only changes data. Renders one card at a
 * time.
 */
export interface CardPage {
  /**
   * Fills in and captures a card; throws when fonts or pictures are not ready in time or cannot be decoded.
   */
  render(job: CardJob, onStage?: (stage: "compose" | "capture") => void): Promise<CardPicture>;
  /** Fills in a card without capturing it, for what its layout alone tells. */
  set(job: CardJob): Promise<void>;
  /** Where the template places face, body, frame and safe area on this card, in each composition. */
  zones(job: CardJob): Promise<ZonesOf>;
  /**
   * Switches to a template that differs only in its texts (card.html, card.css, template.json), without
   * opening a new page: the case for most of a designer's saves. Throws when only a new page can show it.
   */
  remake(template: LoadedTemplate): Promise<void>;
  /** For inspecting the card set last. */
  readonly page: Page;
  /** Whether its process has ended, so that nothing will answer any more. */
  hasCrashed(): boolean;
  /** How its pictures leave the browser. */
  readonly captureMethod: CaptureMethod;
  close(): Promise<void>;
}

export interface CardPageOptions extends CameraOptions {
  /** Called with each address that the page asked for and did not get. */
  onRefused?: (url: string) => void;
}

/** The page itself gives up after 8 s; this catches a page that no longer answers at all. */
const FILL_TIMEOUT_MS = 12_000;
/**
 * Each card's scene is a document of its own in the browser, 1.5 MB in all, while the page's own heap is too
 * small to trigger garbage collection; so it is triggered after this many cards, and decoded pictures are
 * dropped with it.
 */
const CARDS_PER_CLEANING = 16;
/** How many sizes and sets of contents a page remembers the zones of. */
const MAX_MEASURED = 500;

/**
 * Opens a page in `browser` with the template's files and the bundled fonts. Throws when it can draw no text.
 */
export async function openCardPage(
  browser: Browser,
  opened: LoadedTemplate,
  options: CardPageOptions = {},
): Promise<CardPage> {
  let template = opened;
  let html = opened.html;
  const media = new Map<string, PageFile>();
  const files = (path: string) => templateFile(template, path) ?? media.get(path);
  const page = await openSealedPage(browser, files, "/", options.onRefused);
  const { crash, hasCrashed } = crashWatch(page);
  // Calls to a crashed page would wait for ever: it never answers, and puppeteer does not report it.
  const orCrash = <T>(work: Promise<T>) => Promise.race([work, crash]);
  const session = await orCrash(startedSession(page));
  const grain = (await orCrash(page.evaluate("globalThis.cardpress.makeGrain()"))) as string;
  const camera = await orCrash(openCamera(page, session, options));
  const giveFiles = await orCrash(slotsOf(page));
  const supplies = { grain, media, keepsPlates: camera.captureMethod === "canvas" };
  const cleanUp = cleaner(browser, session);
  const resize = resizer(page);
  let measure = zonesOnce(page, template);

  const set = async (job: CardJob) => {
    await orCrash(resize(job.card.style));
    const setting = settingOf(job, template);
    const zones = await orCrash(measure(job.card.style, setting));
    const { fill, composition, showsCutout } = composeFill(job, template, setting, zones, supplies);
    // A page opened later may cover this one, which then draws no frames.
    const front = session.send("Page.bringToFront");
    const header = fill.backdrop && job.photo ? readHeader(job.photo) : null;
    const [dieCutMs, read] = await orCrash(Promise.all([giveFiles(job, showsCutout), header, front]));
    fill.header = read;
    return { filled: await orCrash(fillPage(page, fill)), composition, dieCutMs };
  };

  return {
    set: async (job) => void (await set(job)),
    async render(job, onStage) {
      const { style } = job.card;
      const started = performance.now();
      onStage?.("compose");
      const { filled, composition, dieCutMs } = await set(job);
      const composed = performance.now();
      onStage?.("capture");
      const shot = await orCrash(shoot(camera, job, template.markup.hasFoil));
      const done = performance.now();
      cleanUp();
      const timingsMs = {
        ...filled.timingsMs,
        ...shot.timingsMs,
        ...(dieCutMs > 0 && { die_cut: dieCutMs }),
        compose: composed - started - dieCutMs,
        capture: done - composed,
        total: done - started,
      };
      return { ...shot, contentType: PICTURE_FORMATS[style.format].contentType, composition, timingsMs };
    },
    async zones(job) {
      await orCrash(resize(job.card.style));
      return orCrash(measure(job.card.style, settingOf(job, template)));
    },
    async remake(changed) {
      template = changed;
      measure = zonesOnce(page, template);
      await orCrash(swapTexts(page, html, changed));
      html = changed.html;
    },
    page,
    hasCrashed,
    captureMethod: camera.captureMethod,
    close: async () => {
      await camera.close();
      await page.close();
    },
  };
}

/** A still of the card, or the card in motion. */
async function shoot(
  camera: Camera,
  { card, encoding }: CardJob,
  hasFoil: boolean,
): Promise<Photograph & Size> {
  const { style } = card;
  const { width, height, format, motion = "foil", layers, foil } = style;
  if (isMoving(format)) return camera.film({ width, height }, { format, motion, hasFoil });
  const { bytes, ...still } = await camera.shoot(style, format, encoding);
  const plate = foil && hasFoil ? await foilPlate(camera, style) : null;
  const withPlate = plate ? withFoilPlate(bytes, plate) : bytes;
  const whole = layers ? withLayers(withPlate, await camera.shootLayers(style)) : withPlate;
  return { ...still, bytes: whole, width, height };
}

async function foilPlate(camera: Camera, { width, height }: Size): Promise<Uint8Array | null> {
  const coverage = await camera.shootFoil({ width, height });
  return coverage && packedPlate(coverage, width, height);
}

/** A promise that rejects when the page's process ends, and a function that tells whether it has. */
function crashWatch(page: Page): { crash: Promise<never>; hasCrashed: () => boolean } {
  const crash = crashOf(page);
  let crashed = false;
  crash.catch(() => {
    crashed = true;
  });
  return { crash, hasCrashed: () => crashed };
}

function resizer(page: Page): (size: Size) => Promise<void> {
  let last: Size = { width: 0, height: 0 };
  return async ({ width, height }) => {
    if (last.width === width && last.height === height) return;
    last = { width, height };
    await page.setViewport({ width, height, deviceScaleFactor: 1 });
  };
}

/**
 * Returns a function to call after each card: its picture is done, and the page can clean up while it is
 * stored.
 */
function cleaner(browser: Browser, session: CDPSession): () => void {
  let cards = 0;
  const clean = async () => {
    await session.send("HeapProfiler.collectGarbage");
    await freeMemory(browser);
  };
  return () => {
    // If this fails, the next card reports why.
    if (++cards % CARDS_PER_CLEANING === 0) void clean().catch(() => {});
  };
}

/**
 * Measures the zones of a setting and size once, for each composition that the template declares. One that a
 * composition hides lies where the other shows it.
 */
function zonesOnce(page: Page, { manifest }: LoadedTemplate) {
  const measured = new Map<string, ZonesOf>();
  const compositions = compositionsOf(manifest);
  return async ({ width, height }: Size, setting: Setting): Promise<ZonesOf> => {
    const key = JSON.stringify([width, height, setting.attributes]);
    const known = measured.get(key);
    if (known) return known;
    const own = await measureZones(page, setting, compositions);
    const { cutout, photo } = own;
    const zones = {
      cutout: { ...DEFAULT_ZONES, ...photo, ...cutout },
      photo: { ...DEFAULT_ZONES, ...cutout, ...photo },
    };
    if (measured.size >= MAX_MEASURED) measured.clear();
    measured.set(key, zones);
    return zones;
  };
}

/**
 * Waits for the page's own code, and returns a session whose captures are transparent where nothing is drawn.
 */
async function startedSession(page: Page): Promise<CDPSession> {
  await page.waitForFunction(
    "globalThis.cardpress && globalThis.cardpressFilm && globalThis.cardpressLayers",
    {
      timeout: FILL_TIMEOUT_MS,
    },
  );
  await page.evaluate("globalThis.cardpress.checkFonts()");
  await loadNamedPictures(page);
  const session = await page.createCDPSession();
  await session.send("Emulation.setDefaultBackgroundColorOverride", { color: { r: 0, g: 0, b: 0, a: 0 } });
  return session;
}

const loadNamedPictures = (page: Page) =>
  withTimeout(
    page.evaluate("globalThis.cardpress.loadNamed()"),
    FILL_TIMEOUT_MS,
    "loading the style sheet's pictures",
  );

/**
 * Returns a function that hands a card's files to the page: the photo, and the cutout if it is shown, which
 * is made first where it has to be. It returns the milliseconds that took.
 */
async function slotsOf(page: Page): Promise<(job: CardJob, showsCutout: boolean) => Promise<number>> {
  const [giveCutout, givePhoto] = await Promise.all([
    fileSlot(page, "globalThis.cardpress.cutoutInput"),
    fileSlot(page, "globalThis.cardpress.photoInput"),
  ]);
  return async ({ cutout, makeCutout, photo }, showsCutout) => {
    const cutoutGiven = async (): Promise<number> => {
      if (!showsCutout) return 0;
      const started = performance.now();
      await makeCutout?.();
      const took = performance.now() - started;
      if (cutout) await giveCutout(cutout.path);
      return took;
    };
    const [dieCutMs] = await Promise.all([cutoutGiven(), photo && givePhoto(photo)]);
    return dieCutMs;
  };
}

const swapSheet = (page: Page, digest: string) => page.evaluate(swapSheetInPage, digest);

/**
 * Runs in the page: the new sheet applies before the old one is removed, so that no card is ever set without
 * one.
 */
async function swapSheetInPage(digest: string): Promise<void> {
  const [old] = [...document.querySelectorAll<HTMLLinkElement>('link[rel="stylesheet"]')].filter((link) =>
    /(^|\/)(card|back)\.css(\?|$)/.test(link.getAttribute("href") ?? ""),
  );
  if (!old) throw new Error("the page has no link to its style sheet");
  const next = old.cloneNode() as HTMLLinkElement;
  const loaded = new Promise<void>((resolve, reject) => {
    next.onload = () => resolve();
    next.onerror = () => reject(new Error("the style sheet could not be loaded"));
  });
  next.href = `/${(/(?:card|back)\.css/.exec(next.href) ?? [])[0]}?${digest}`;
  old.after(next);
  await loaded;
  old.remove();
}

/** @param shown the HTML that the page shows */
async function swapTexts(page: Page, shown: string, { digest, html }: LoadedTemplate): Promise<void> {
  await swapSheet(page, digest);
  await loadNamedPictures(page);
  if (html !== shown)
    await page.evaluate((text) => (globalThis as unknown as InPage).cardpress.remake(text), html);
}

/** What the page's own code provides. */
type InPage = { cardpress: typeof import("./page/fill.ts") };

function measureZones(
  page: Page,
  { variables, attributes }: Setting,
  compositions: readonly Composition[],
): Promise<Record<string, Record<string, Part>>> {
  const work = page.evaluate(
    (...given) => (globalThis as unknown as InPage).cardpress.measureZones(...given),
    variables,
    attributes,
    [...compositions],
  );
  return withTimeout(work, FILL_TIMEOUT_MS, "measuring the zones");
}

async function fillPage(page: Page, fill: CardFill): Promise<FillResult> {
  const work = page.evaluate((data) => (globalThis as unknown as InPage).cardpress.fillCard(data), fill);
  return withTimeout(work, FILL_TIMEOUT_MS, "filling the card");
}
