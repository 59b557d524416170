import type { Browser, Page } from "puppeteer-core";
import type { LoadedTemplate } from "../../templates/load.ts";
import { crashOf, fileSlot, openSealedPage, type PageFile } from "../browser/browser.ts";
import { capture } from "./capture.ts";
import { type CardJob, composeFill } from "./card-fill.ts";
import type { CardFill, FillResult } from "./fill.js";
import { templateFile } from "./page-files.ts";
import { withTimeout } from "./within-time.ts";

export interface CardPicture {
  bytes: Uint8Array;
  contentType: string;
  timingsMs: Record<string, number>;
}

/** One warm page: template, fonts and styles are loaded once, a card changes data only. Renders one card at a time. */
export interface CardPage {
  /** Fills and photographs a card; throws when fonts or pictures are not ready in time or cannot be decoded. */
  render(job: CardJob, onStage?: (stage: "compose" | "capture") => void): Promise<CardPicture>;
  /** Whether its process has ended: nothing answers in it any more. */
  hasCrashed(): boolean;
  close(): Promise<void>;
}

export interface CardPageOptions {
  /** Prints "TEST" across every card. */
  watermark?: boolean;
}

/** The page itself gives up after 8 s; this catches a page that no longer answers at all. */
const FILL_TIMEOUT_MS = 12_000;

/** Opens a page in `browser` with the template's files and the bundled fonts behind it. Throws when it can draw no text. */
export async function openCardPage(
  browser: Browser,
  template: LoadedTemplate,
  options: CardPageOptions = {},
): Promise<CardPage> {
  const media = new Map<string, PageFile>();
  const page = await openSealedPage(browser, (path) => templateFile(template, path) ?? media.get(path), "/");
  const crash = crashOf(page);
  let crashed = false;
  crash.catch(() => {
    crashed = true;
  });
  await page.waitForFunction("globalThis.cardpress !== undefined", { timeout: FILL_TIMEOUT_MS });
  await page.evaluate("globalThis.cardpress.checkFonts()");
  const session = await page.createCDPSession();
  await session.send("Emulation.setDefaultBackgroundColorOverride", { color: { r: 0, g: 0, b: 0, a: 0 } });
  const grain = (await page.evaluate("globalThis.cardpress.makeGrain()")) as string;
  const giveCutout = await fileSlot(page, "globalThis.cardpress.cutoutInput");
  let size = { width: 0, height: 0 };

  return {
    async render(job, onStage) {
      const { style } = job.card;
      const started = performance.now();
      onStage?.("compose");
      const fill = composeFill(job, template, grain, media);
      if (options.watermark) fill.attributes.watermark = "test";
      if (size.width !== style.width || size.height !== style.height) {
        size = { width: style.width, height: style.height };
        await page.setViewport({ ...size, deviceScaleFactor: 1 });
      }
      // A page opened later would lie before this one, which then draws no frames.
      const front = session.send("Page.bringToFront");
      await Promise.race([Promise.all([front, job.cutout && giveCutout(job.cutout.path)]), crash]);
      const filled = await Promise.race([fillPage(page, fill), crash]);
      const composed = performance.now();
      onStage?.("capture");
      const bytes = await Promise.race([capture(session, style.format), crash]);
      const done = performance.now();
      return {
        bytes,
        contentType: `image/${style.format}`,
        timingsMs: {
          ...filled.timingsMs,
          compose: composed - started,
          capture: done - composed,
          total: done - started,
        },
      };
    },
    hasCrashed: () => crashed,
    close: () => page.close(),
  };
}

async function fillPage(page: Page, fill: CardFill): Promise<FillResult> {
  const work = page.evaluate(
    (data) => (globalThis as unknown as { cardpress: typeof import("./fill.js") }).cardpress.fillCard(data),
    fill,
  );
  return withTimeout(work, FILL_TIMEOUT_MS, "filling the card");
}
