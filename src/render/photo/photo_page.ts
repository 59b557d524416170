import { readFileSync } from "node:fs";
import { extname } from "node:path";
import type { Browser, Page } from "puppeteer-core";
import { blobReader, crashOf, fileSlot, openSealedPage, type PageFile } from "../browser/browser.ts";
import { ASSET_PATHS, PAGE_MODULES } from "./assets.ts";
import type { PhotoPage } from "./page/studio.js";

/** Where the bare module names in the page's imports are found. */
const IMPORT_MAP = JSON.stringify({
  imports: {
    "@litertjs/core": "/litert/index.js",
    "@litertjs/wasm-utils": "/litert/utils.js",
    "onnxruntime-web/wasm": "/onnx/ort.js",
  },
});

const HTML = `<!doctype html><meta charset="utf-8"><script type="importmap">${IMPORT_MAP}</script><script type="module" src="/page/studio.js"></script><body><input type="file"></body>`;

// The page decodes strangers' bytes: it may run its own scripts and WebAssembly, and fetch what is answered below.
const CSP = [
  "default-src 'none'",
  `script-src 'self' 'wasm-unsafe-eval' 'sha256-${new Bun.CryptoHasher("sha256").update(IMPORT_MAP).digest("base64")}'`,
  "connect-src 'self'",
].join("; ");

const CONTENT_TYPES: Record<string, string> = { ".js": "text/javascript", ".wasm": "application/wasm" };

/** A longer step means a hung or starved browser: the slowest step measured took two seconds on a busy machine. */
const STEP_LIMIT_MS = 20_000;

/** The page that does the work on pixels, and what it may fetch of the photo in hand. */
export interface OpenPhotoPage {
  /** Bytes under `/job/<name>`; the caller sets and clears them. */
  job: Map<string, Uint8Array>;
  /** Hands the page the photo that the next "decode" reads. */
  givePhoto(path: string): Promise<void>;
  /** The PNG that the last "cutOut" made. */
  takeCutout(): Promise<Uint8Array>;
  /** Whether its process has crashed: nothing answers in it any more. */
  hasCrashed(): boolean;
  call<Step extends keyof PhotoPage>(step: Step): Promise<Awaited<ReturnType<PhotoPage[Step]>>>;
  close(): Promise<void>;
}

/** Opens the sealed page and loads every network into it: one to several seconds. */
export async function openPhotoPage(browser: Browser): Promise<OpenPhotoPage> {
  const job = new Map<string, Uint8Array>();
  const page = await openSealedPage(browser, (path) => answer(path, job), "/photo.html");
  let crashed = false;
  const crash = crashOf(page);
  crash.catch(() => {
    crashed = true;
  });
  const give = await fileSlot(page, "document.querySelector('input')");
  const read = await blobReader(page);
  const guarded = <T>(work: Promise<T>, step: string) => withinLimit(Promise.race([work, crash]), step);
  const opened: OpenPhotoPage = {
    job,
    givePhoto: (path) => guarded(give(path), "give"),
    takeCutout: () => guarded(read("globalThis.photoPage.cutout()"), "take"),
    hasCrashed: () => crashed,
    call: (step) => guarded(callPage(page, step), step),
    close: () => page.close(),
  };
  try {
    await opened.call("load");
    return opened;
  } catch (cause) {
    await page.close().catch(() => {});
    throw new Error("The photo page did not start.", { cause });
  }
}

function answer(path: string, job: Map<string, Uint8Array>): PageFile | undefined {
  if (path === "/photo.html") {
    return { body: HTML, contentType: "text/html", headers: { "Content-Security-Policy": CSP } };
  }
  const contentType = CONTENT_TYPES[extname(path)] ?? "application/octet-stream";
  const [, folder, name = ""] = path.split("/");
  const body = folder === "job" ? job.get(name) : folder === "page" ? PAGE_MODULES[name] : readAsset(path);
  return body === undefined ? undefined : { body, contentType };
}

/** Read at each opening and not kept: the networks are 40 MB, which the page holds already. */
function readAsset(path: string): Uint8Array | undefined {
  const file = ASSET_PATHS[path];
  return file === undefined ? undefined : readFileSync(file);
}

function callPage<Step extends keyof PhotoPage>(page: Page, step: Step) {
  return page.evaluate(
    (name: keyof PhotoPage) => (globalThis as unknown as { photoPage: PhotoPage }).photoPage[name](),
    step as keyof PhotoPage,
  ) as Promise<Awaited<ReturnType<PhotoPage[Step]>>>;
}

async function withinLimit<T>(work: Promise<T>, step: string): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`The step "${step}" took over ${STEP_LIMIT_MS} ms.`)),
      STEP_LIMIT_MS,
    );
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}
