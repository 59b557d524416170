import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import puppeteer, { type Browser, type CDPSession, type HTTPRequest, type Page } from "puppeteer-core";
import type { Chromium } from "./chromium.ts";

/** The only origin a sealed page can load from; `.invalid` never resolves (RFC 2606). */
export const PAGE_ORIGIN = "https://card.invalid";

/** One file a sealed page may load, by its path on PAGE_ORIGIN. */
export interface PageFile {
  body: Uint8Array | string;
  contentType: string;
  headers?: Record<string, string>;
}

/** Answers a path such as "/card.css", or undefined to refuse it. */
export type PageFiles = (path: string) => PageFile | undefined;

/** How much of a blob is asked for at once: all of most. */
const BLOB_PART_BYTES = 16 * 1024 * 1024;

/** A page and its scripts come from this process: 50 ms, and two seconds on a busy machine. */
const LOAD_TIMEOUT_MS = 10_000;
/** Longer than any step of a photo or a card may take. */
const ANSWER_TIMEOUT_MS = 25_000;

export interface LaunchOptions {
  chromium: Chromium;
  /** A folder for the browser's profile; removed when the browser closes. */
  profilesDir: string;
  /** Run without Chromium's sandbox, which is the only way to run it as root. */
  noSandbox: boolean;
}

// Four independent locks on the network: each alone stops most outbound requests, none alone stops all.
const NO_NETWORK = [
  "--proxy-server=127.0.0.1:9",
  "--proxy-bypass-list=<-loopback>",
  "--host-resolver-rules=MAP * ~NOTFOUND",
  "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-quic",
  "--disable-sync",
  "--dns-prefetch-disable",
  "--no-pings",
];

// Measured: 100 ms -> 87 ms for one 1024x1280 PNG capture; nothing on a card moves.
const STILL_PICTURES = [
  "--disable-frame-rate-limit",
  "--disable-new-content-rendering-timeout",
  "--disable-threaded-animation",
  "--disable-threaded-scrolling",
  "--disable-checker-imaging",
  "--disable-image-animation-resync",
];

// The same pixels on every machine: no hinting, no subpixel text, one colour space.
const SAME_PIXELS = [
  "--font-render-hinting=none",
  "--disable-lcd-text",
  "--disable-font-subpixel-positioning",
  "--force-color-profile=srgb",
  "--hide-scrollbars",
  "--disable-gpu",
  "--disable-webgl",
];

// Elements drawn into a canvas, where the browser knows how: pixels without a screenshot.
const CANVAS_OF_ELEMENTS = [
  "--enable-features=CanvasDrawElement",
  "--enable-blink-features=CanvasDrawElement",
];

const profiles = new WeakMap<Browser, string>();

/** The folder of a launched browser's profile, in which its pages' own files lie. */
export function profileOf(browser: Browser): string | undefined {
  return profiles.get(browser);
}

/** Launches one headless Chromium over a pipe: it ends with this process, even when this process is killed. */
export async function launchBrowser(options: LaunchOptions): Promise<Browser> {
  const userDataDir = mkdtempSync(join(options.profilesDir, "profile-"));
  const browser = await puppeteer.launch({
    executablePath: options.chromium.path,
    headless: "shell",
    pipe: true,
    userDataDir,
    // One answer of the browser, such as to its first question after it was launched. The steps of a card have limits of
    // their own, all shorter; without this one, what forgets to have one waits for three minutes.
    protocolTimeout: ANSWER_TIMEOUT_MS,
    waitForInitialPage: false,
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
    // The worker's way with memory is not the browser's, which has its own.
    env: { ...process.env, GLIBC_TUNABLES: undefined, ...options.chromium.env },
    args: [
      ...NO_NETWORK,
      ...STILL_PICTURES,
      ...SAME_PIXELS,
      ...CANVAS_OF_ELEMENTS,
      "--disable-dev-shm-usage",
      "--no-first-run",
      "--mute-audio",
      ...(options.noSandbox ? ["--no-sandbox"] : []),
    ],
  });
  profiles.set(browser, userDataDir);
  browser.once("disconnected", () => void rm(userDataDir, { recursive: true, force: true }).catch(() => {}));
  return browser;
}

/**
 * Opens a page that can load nothing but what `files` answers: offline, every request intercepted.
 * The page is at `PAGE_ORIGIN + path` when this resolves.
 */
export async function openSealedPage(browser: Browser, files: PageFiles, path: string): Promise<Page> {
  const page = await browser.newPage();
  const load = async () => {
    await page.setRequestInterception(true);
    page.on("request", (request) => void answer(request, files).catch(() => {}));
    await page.setOfflineMode(true);
    await page.goto(`${PAGE_ORIGIN}${path}`, { waitUntil: "load", timeout: LOAD_TIMEOUT_MS });
  };
  await Promise.race([load(), crashOf(page)]);
  return page;
}

async function answer(request: HTTPRequest, files: PageFiles): Promise<void> {
  const url = new URL(request.url());
  const file = url.origin === PAGE_ORIGIN && request.method() === "GET" ? files(url.pathname) : undefined;
  if (!file) return request.abort("blockedbyclient");
  await request.respond({
    status: 200,
    contentType: file.contentType,
    headers: { "Access-Control-Allow-Origin": PAGE_ORIGIN, ...file.headers },
    body: file.body,
  });
}

/**
 * A way to hand a page files of this machine: puts the file at a path into the page's `<input type="file">`. The page
 * reads it itself; bytes that cross the pipe between this process and the browser take 20 ms a megabyte.
 * @param input an expression that gives the element
 */
export async function fileSlot(page: Page, input: string): Promise<(path: string) => Promise<void>> {
  const session = await page.createCDPSession();
  const objectId = await objectOf(session, input);
  return (path) => session.send("DOM.setFileInputFiles", { files: [path], objectId });
}

/**
 * A way to get a blob's bytes out of a page: answers with those of the blob that an expression gives. The browser reads
 * it itself; as a data address, a text that passes through the page's script, it would take twice as long.
 */
export async function blobReader(page: Page): Promise<(expression: string) => Promise<Uint8Array>> {
  const session = await page.createCDPSession();
  return async (expression) => {
    const objectId = await objectOf(session, expression);
    const { uuid } = await session.send("IO.resolveBlob", { objectId });
    const handle = `blob:${uuid}`;
    try {
      const parts: Uint8Array[] = [];
      for (let ended = false; !ended; ) {
        const { data, eof } = await session.send("IO.read", { handle, size: BLOB_PART_BYTES });
        parts.push(Uint8Array.fromBase64(data));
        ended = eof;
      }
      return Buffer.concat(parts);
    } finally {
      await session.send("IO.close", { handle });
      await session.send("Runtime.releaseObject", { objectId });
    }
  };
}

/** The handle of the page's object that an expression gives. */
async function objectOf(session: CDPSession, expression: string): Promise<string> {
  const { result } = await session.send("Runtime.evaluate", { expression });
  if (!result.objectId) throw new Error(`the page has no ${expression}`);
  return result.objectId;
}

/** Rejects when the page's process ends: nothing answers in it any more, and what was asked would wait for ever. */
export function crashOf(page: Page): Promise<never> {
  const crash = new Promise<never>((_, reject) => {
    page.once("error", (cause) => reject(new Error("the page crashed", { cause })));
  });
  crash.catch(() => {}); // Crashing between two jobs is nobody's rejection.
  return crash;
}
