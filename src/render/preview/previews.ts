import type { Browser, Page } from "puppeteer-core";
import type { Badge, CardInput, CutoutFile } from "../../core/card.ts";
import { BUILT_IN } from "../../templates/built-in.ts";
import { digestOf, folderStamp, readTemplateFolder, type TemplateFiles } from "../../templates/files.ts";
import { backOf, type LoadedTemplate, loadTemplate } from "../../templates/load.ts";
import type { TemplateManifest } from "../../templates/manifest.ts";
import type { CaptureMethod } from "../card/capture.ts";
import { type CardPage, openCardPage } from "../card/page.ts";
import type { PreviewJob } from "../protocol.ts";
import { inspectCard } from "./inspect-card.ts";
import type { Previewed } from "./messages.ts";

/** Renders cards of template folders as their files are now, one at a time. */
export interface Previews {
  make(job: PreviewJob): Promise<Previewed>;
  /** For each declaration, whether this Chromium supports the property and value. */
  supports(declarations: readonly { property: string; value: string }[]): Promise<boolean[]>;
}

export interface PreviewSources {
  cutOut(
    path: string,
    sha256: string,
    card: CardInput,
    manifest: TemplateManifest,
  ): Promise<{ cutout: CutoutFile; makeCutout: () => Promise<void> }>;
  readPicture(path: string): Promise<Badge>;
  /** By the fields' names. */
  readPictures(paths?: Record<string, string>): Promise<Record<string, Badge>>;
}

interface Shown {
  page: CardPage;
  template: LoadedTemplate;
  stamp: string;
  /** Addresses the page requested in vain. */
  refused: Set<string>;
}

/** The folder being edited and one to compare it with, each side drawn by both methods. */
const MAX_PAGES = 8;

/** What of a template a page can change without being opened anew. */
const TEXTS = ["card.html", "card.css", "back.html", "back.css", "template.json"];

/**
 * Keeps a page for each folder that is looked at. Changed texts are swapped in the warm page; for anything
 * else the next page is opened before the one before it closes, so that files that make no page leave the
 * last good one.
 */
export function openPreviews(browser: Browser, sources: PreviewSources): Previews {
  const opened = new Map<string, Shown>();
  return {
    async make(job) {
      const started = performance.now();
      const { shown, did } = await show(browser, opened, job, captureMethodOf(job));
      const [player, badge, pictures] = await Promise.all([
        job.photo && sources.cutOut(job.photo.path, job.photo.sha256, job.card, shown.template.manifest),
        job.badgePath === null ? null : sources.readPicture(job.badgePath),
        sources.readPictures(job.picturePaths),
      ]);
      const ready = performance.now();
      const photo = job.photo?.path ?? null;
      const { cutout, makeCutout } = player ?? { cutout: null };
      const card = { card: job.card, cutout, makeCutout, badge, pictures, photo, encoding: job.encoding };
      const picture = await shown.page.render(card).catch(async (error) => {
        opened.delete(keyOf(job, captureMethodOf(job)));
        await close(shown);
        throw error;
      });
      // The caller reads it once, right away, so there is no need to sync it to disk.
      await Bun.write(job.outputPath, picture.bytes);
      const written = performance.now();
      const wanted = { cutout, contrast: job.inspect === "contrast" };
      const inspection = job.inspect === "no" ? null : await inspectCard(shown, wanted);
      return {
        contentType: picture.contentType,
        width: job.card.style.width,
        height: job.card.style.height,
        bytes: picture.bytes.length,
        digest: shown.template.digest,
        page: did,
        inspection,
        timingsMs: {
          ...picture.timingsMs,
          page: ready - started,
          inspect: performance.now() - written,
          total: performance.now() - started,
        },
      };
    },
    supports: (declarations) => {
      const warm = [...opened.values()].find(({ page }) => !page.hasCrashed());
      return askForSupport(browser, warm?.page.page, declarations);
    },
  };
}

/**
 * A picture for the screen, and one whose contrasts are measured, leaves as a production card does, in half
 * the time of a screenshot. The rest are screenshots: accepted pictures are WebP of the browser's own
 * encoder.
 */
function captureMethodOf({ inspect, card }: PreviewJob): CaptureMethod | undefined {
  const isPainted = inspect === "contrast" || (inspect === "no" && card.style.format === "png");
  return isPainted ? undefined : "screenshot";
}

type Shows = Pick<PreviewJob, "dir" | "side">;

const keyOf = ({ dir, side }: Shows, captureMethod: CaptureMethod | undefined) =>
  `${captureMethod ?? "best"} ${side} ${dir}`;

/** The page of a folder as its files are now. */
async function show(
  browser: Browser,
  opened: Map<string, Shown>,
  { dir, side }: Shows,
  captureMethod: CaptureMethod | undefined,
): Promise<{ shown: Shown; did: Previewed["page"] }> {
  const key = keyOf({ dir, side }, captureMethod);
  const shownSide = side === "back" ? backOf : (whole: LoadedTemplate) => whole;
  const kept = opened.get(key);
  const alive = kept && !kept.page.hasCrashed() ? kept : undefined;
  const stamp = await folderStamp(dir);
  if (alive?.stamp === stamp) return { shown: alive, did: "same" };
  const template = await readAgain(dir, alive?.template);
  if (alive?.template.digest === template.digest) {
    alive.stamp = stamp;
    return { shown: alive, did: "same" };
  }
  if (alive && differOnlyIn(TEXTS, alive.template.files, template.files)) {
    alive.refused.clear();
    const { page } = alive;
    // First to the front, as for every card: the browser spares work on a page that lies behind another.
    const remade = page.page.bringToFront().then(() => page.remake(shownSide(template)));
    const isRemade = await remade.then(
      () => true,
      () => false,
    );
    if (isRemade) {
      Object.assign(alive, { template, stamp });
      return { shown: alive, did: "restyled" };
    }
  }
  const refused = new Set<string>();
  const page = await openCardPage(browser, shownSide(template), {
    captureMethod,
    onRefused: (url) => refused.add(url),
  });
  const shown: Shown = { page, template, stamp, refused };
  opened.delete(key);
  opened.set(key, shown);
  if (kept) await close(kept);
  const [eldest] = opened;
  if (eldest && opened.size > MAX_PAGES) {
    opened.delete(eldest[0]);
    await close(eldest[1]);
  }
  return { shown, did: "opened" };
}

async function close({ page }: Shown): Promise<void> {
  await page.close().catch(() => {});
}

/** @param warm a page to ask; without one a page is opened */
async function askForSupport(
  browser: Browser,
  warm: Page | undefined,
  declarations: readonly { property: string; value: string }[],
): Promise<boolean[]> {
  const page = warm ?? (await browser.newPage());
  try {
    return await page.evaluate(
      (all) => all.map(({ property, value }) => CSS.supports(property, value)),
      [...declarations],
    );
  } finally {
    if (page !== warm) await page.close();
  }
}

/**
 * The template of a folder as it is now. When only style sheets have changed, nothing else is checked again:
 * a designer waits for every millisecond here, and the files are checked elsewhere before a preview is
 * requested.
 */
async function readAgain(dir: string, before: LoadedTemplate | undefined): Promise<LoadedTemplate> {
  if (!before || BUILT_IN.has(dir)) return loadTemplate(dir);
  const files = await readTemplateFolder(dir);
  const sheets = ["card.css", "back.css"].filter((name) => before.files.has(name) && files.has(name));
  if (!differOnlyIn(sheets, before.files, files)) return loadTemplate(dir);
  const text = (name: string) => new TextDecoder().decode(files.get(name));
  const back = before.back && { ...before.back, css: text("back.css") };
  return { ...before, css: text("card.css"), back, files, digest: digestOf(files) };
}

/** Whether two states of a folder have everything but these files in common. */
function differOnlyIn(texts: string[], before: TemplateFiles, after: TemplateFiles): boolean {
  const names = (files: TemplateFiles) => [...files.keys()].filter((name) => !texts.includes(name)).sort();
  const [old, now] = [names(before), names(after)];
  const same = (name: string) =>
    Buffer.compare(before.get(name) ?? new Uint8Array(), after.get(name) ?? new Uint8Array()) === 0;
  return old.length === now.length && old.every((name, i) => name === now[i] && same(name));
}
