import { closeSync, readSync } from "node:fs";
import type { Browser, Page } from "puppeteer-core";
import { crashOf, fileSlot, openSealedPage, type PageFile } from "../browser/browser.ts";
import { openSharedFile } from "../browser/shared-file.ts";
import { withinGivenTime } from "../browser/withheld.ts";
import type { Pixels } from "../card/formats/pixels.ts";
import { bridgeNetworks } from "./network-bridge.ts";
import type { Networks } from "./networks.ts";
import type { PhotoPage } from "./page/steps.ts";
import { PAGE_MODULES } from "./page-modules.ts";

/** The longer side of the largest cutout: the largest card is 2,048 px high, and its player a little less. */
const MAX_CUTOUT_PX = 2048;

/** @param mattePixels how many pixels the operator's matte network works on */
const html = (mattePixels: number | null) =>
  `<!doctype html><html data-cutout-px="${MAX_CUTOUT_PX}" data-matte-pixels="${mattePixels ?? ""}"><meta charset="utf-8"><script type="module" src="/page/steps.ts"></script><body><input type="file"></body>`;

// The page decodes untrusted bytes: it may run its own scripts and nothing else.
const CSP = "default-src 'none'; script-src 'self'; worker-src 'self'";

/**
 * A longer step means a hung browser, since time without a processor is not counted; the slowest measured
 * took two seconds.
 */
const STEP_LIMIT_MS = 20_000;
/** The operator's matte network may take longer, but still less than a whole render may. */
const OWN_MATTE_LIMIT_MS = 40_000;

/** The steps the page performs on request. */
type PageStep = Exclude<keyof PhotoPage, "answered">;

interface Size {
  width: number;
  height: number;
}

/** The page that does the pixel work. */
export interface OpenPhotoPage {
  /** Gives the page the photo that the next "decode" reads. */
  givePhoto(path: string): Promise<void>;
  /** What the last "pixels" wrote, of the size that "cutOut" returned. */
  takeCutout(size: Size): Pixels;
  /** Whether its process has crashed, so that nothing will answer any more. */
  hasCrashed(): boolean;
  call<Step extends PageStep>(
    step: Step,
    ...input: Parameters<PhotoPage[Step]>
  ): Promise<Awaited<ReturnType<PhotoPage[Step]>>>;
  close(): Promise<void>;
}

/** Opens the sealed page and connects it to the networks of this process. */
export async function openPhotoPage(browser: Browser, networks: Networks): Promise<OpenPhotoPage> {
  const mattePixels = await networks.mattePixels();
  const page = await openSealedPage(browser, (path) => answer(path, mattePixels), "/photo.html");
  let crashed = false;
  const crash = crashOf(page);
  crash.catch(() => {
    crashed = true;
  });
  const give = await fileSlot(page, "document.querySelector('input')");
  const limitMs = mattePixels === null ? STEP_LIMIT_MS : OWN_MATTE_LIMIT_MS;
  const guarded = <T>(work: Promise<T>, step: string) =>
    withinLimit(Promise.race([work, crash]), step, limitMs);
  let file: number | undefined;
  let endBridge = () => {};
  const opened: OpenPhotoPage = {
    givePhoto: (path) => guarded(give(path), "give"),
    takeCutout: (size) => readPixels(file, size),
    hasCrashed: () => crashed,
    call: (step, ...input) => guarded(callPage(page, step, input), step),
    async close() {
      endBridge();
      if (file !== undefined) closeSync(file);
      file = undefined;
      await page.close();
    },
  };
  try {
    file = openSharedFile(browser, await opened.call("load"));
    endBridge = await bridgeNetworks(page, networks, file);
    return opened;
  } catch (cause) {
    await opened.close().catch(() => {});
    throw new Error("The photo page did not start.", { cause });
  }
}

function answer(path: string, mattePixels: number | null): PageFile | undefined {
  if (path === "/photo.html") {
    return { body: html(mattePixels), contentType: "text/html", headers: { "Content-Security-Policy": CSP } };
  }
  const body = PAGE_MODULES[path.replace("/page/", "")];
  return body === undefined ? undefined : { body, contentType: "text/javascript" };
}

function callPage<Step extends PageStep>(page: Page, step: Step, input: Parameters<PhotoPage[Step]>) {
  return page.evaluate(
    (name, given) => {
      const { photoPage } = globalThis as unknown as {
        photoPage: Record<string, (...given: unknown[]) => unknown>;
      };
      return photoPage[name]?.(...given);
    },
    step as string,
    input as unknown[],
  ) as Promise<Awaited<ReturnType<PhotoPage[Step]>>>;
}

/** The page decodes untrusted bytes, so what it says of its cutout is validated. */
function readPixels(file: number | undefined, { width, height }: Size): Pixels {
  const isSide = (side: number) => Number.isInteger(side) && side > 0 && side <= MAX_CUTOUT_PX;
  if (file === undefined || !isSide(width) || !isSide(height))
    throw new Error(`The page has no cutout of ${width} x ${height} pixels.`);
  const rgba = new Uint8Array(4 * width * height);
  if (readSync(file, rgba, 0, rgba.length, 0) !== rgba.length) throw new Error("The cutout is not whole.");
  return { rgba, width, height };
}

function withinLimit<T>(work: Promise<T>, step: string, limitMs: number): Promise<T> {
  return withinGivenTime(work, limitMs, `The step "${step}" took over ${limitMs} ms.`);
}
