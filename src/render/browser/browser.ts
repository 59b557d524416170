import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import puppeteer, {
  type Browser,
  type CDPSession,
  type LaunchOptions as LaunchSettings,
  type Page,
} from "puppeteer-core";
import { OperatorError } from "../../core/errors.ts";
import { MOST_RENDER_MS } from "../../core/limits.ts";
import { SECOND_MS } from "../../core/time.ts";
import type { Chromium } from "./chromium.ts";
import { whyNotLaunched } from "./launch-failure.ts";

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

/**
 * A page and its scripts come from this process: 50 ms; a machine that is busy with others makes it seconds.
 */
const LOAD_TIMEOUT_MS = 30_000;
/**
 * How long Chromium may take to start; half a second on a quiet machine. A worker's start is ended sooner, by
 * the time that a processor was given.
 */
const LAUNCH_TIMEOUT_MS = 60_000;
/**
 * Longer than any step of a photo or a card may take: its caller ends it sooner, by the time that a processor
 * was given.
 */
const ANSWER_TIMEOUT_MS = MOST_RENDER_MS - 3 * SECOND_MS;

export interface LaunchOptions {
  chromium: Chromium;
  /** A folder for the browser's profile; removed when the browser closes. */
  profilesDir: string;
  /** Run without Chromium's sandbox, which is the only way to run it as root. */
  noSandbox: boolean;
}

// Four independent barriers to the network: each alone stops most outbound requests, together they stop all.
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

// Makes the pixels equal on every machine: no hinting, no subpixel text, one colour space.
const SAME_PIXELS = [
  "--font-render-hinting=none",
  "--disable-lcd-text",
  "--disable-font-subpixel-positioning",
  "--force-color-profile=srgb",
  "--hide-scrollbars",
  "--disable-gpu",
  "--disable-webgl",
];

// Drawing elements into a canvas, in browsers that support it: pixels without a screenshot.
const CANVAS_OF_ELEMENTS = [
  "--enable-features=CanvasDrawElement",
  "--enable-blink-features=CanvasDrawElement",
];

const profiles = new WeakMap<Browser, string>();

/** The profile folder of a launched browser, which holds the files its pages write. */
export function profileOf(browser: Browser): string | undefined {
  return profiles.get(browser);
}

/**
 * Launches one headless Chromium over a pipe, so that it ends with this process even when this process is
 * killed. Throws an OperatorError where the browser itself says why it cannot start.
 */
export async function launchBrowser(options: LaunchOptions): Promise<Browser> {
  const userDataDir = mkdtempSync(join(options.profilesDir, "profile-"));
  const { path } = options.chromium;
  const args = [
    ...NO_NETWORK,
    ...STILL_PICTURES,
    ...SAME_PIXELS,
    ...CANVAS_OF_ELEMENTS,
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--mute-audio",
    ...(options.noSandbox ? ["--no-sandbox"] : []),
  ];
  // The malloc tuning is for the worker; Chromium has its own allocator.
  const env = { ...process.env, GLIBC_TUNABLES: undefined, ...options.chromium.env };
  const settings: LaunchSettings = {
    executablePath: path,
    headless: "shell",
    pipe: true,
    userDataDir,
    // The limit for one browser answer, such as the first after launch. The steps of a card have shorter
    // limits of their own; without this one, any call that lacks a limit would wait for puppeteer's default
    // of three minutes.
    protocolTimeout: ANSWER_TIMEOUT_MS,
    timeout: LAUNCH_TIMEOUT_MS,
    waitForInitialPage: false,
    // Told of a page's loads, its engine keeps what it loaded in case somebody asks, base64 too: up to 200 MB
    // a page.
    networkEnabled: false,
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
    env,
    args,
  };
  const browser = await puppeteer.launch(settings).catch(async (error) => {
    await rm(userDataDir, { recursive: true, force: true });
    const { profilesDir } = options;
    const reason = await whyNotLaunched({ path, args, env, profilesDir });
    throw reason === undefined ? error : new OperatorError(reason);
  });
  profiles.set(browser, userDataDir);
  browser.once("disconnected", () => void rm(userDataDir, { recursive: true, force: true }).catch(() => {}));
  return browser;
}

/**
 * Opens a page that can load only what `files` answers: offline, every request intercepted. The page is at
 * `PAGE_ORIGIN + path` when this resolves.
 * @param onRefused called with each address that the page asked for and did not get
 */
export async function openSealedPage(
  browser: Browser,
  files: PageFiles,
  path: string,
  onRefused: (url: string) => void = () => {},
): Promise<Page> {
  const page = await browser.newPage();
  const load = async () => {
    const session = await page.createCDPSession();
    session.on("Fetch.requestPaused", (paused) => {
      const file = fileFor(paused.request, files);
      if (!file) onRefused(paused.request.url);
      // The page may be gone meanwhile.
      void answer(session, paused.requestId, file).catch(() => {});
    });
    await session.send("Fetch.enable", { patterns: [{ urlPattern: "*" }] });
    await session.send("Network.emulateNetworkConditions", OFFLINE);
    await page.goto(`${PAGE_ORIGIN}${path}`, { waitUntil: "load", timeout: LOAD_TIMEOUT_MS });
  };
  await Promise.race([load(), crashOf(page)]);
  return page;
}

const OFFLINE = { offline: true, latency: 0, downloadThroughput: -1, uploadThroughput: -1 };

function fileFor({ url: address, method }: { url: string; method: string }, files: PageFiles) {
  const url = new URL(address);
  return url.origin === PAGE_ORIGIN && method === "GET" ? files(url.pathname) : undefined;
}

async function answer(session: CDPSession, requestId: string, file: PageFile | undefined): Promise<void> {
  if (!file) {
    await session.send("Fetch.failRequest", { requestId, errorReason: "BlockedByClient" });
    return;
  }
  const headers = {
    "Content-Type": file.contentType,
    "Access-Control-Allow-Origin": PAGE_ORIGIN,
    // Pages of several templates have the same addresses.
    "Cache-Control": "no-store",
    ...file.headers,
  };
  await session.send("Fetch.fulfillRequest", {
    requestId,
    responseCode: 200,
    responseHeaders: Object.entries(headers).map(([name, value]) => ({ name, value })),
    body: Buffer.from(file.body).toString("base64"),
  });
}

/**
 * Returns a function that hands a local file to the page by putting its path into the page's `<input
 * type="file">`. The page reads the file itself; sending bytes through the pipe would take 20 ms per
 * megabyte.
 * @param input a JavaScript expression for the element
 */
export async function fileSlot(page: Page, input: string): Promise<(path: string) => Promise<void>> {
  const session = await page.createCDPSession();
  const objectId = await objectOf(session, input);
  return (path) => session.send("DOM.setFileInputFiles", { files: [path], objectId });
}

/** The object handle of what an expression evaluates to in the page. */
async function objectOf(session: CDPSession, expression: string): Promise<string> {
  const { result } = await session.send("Runtime.evaluate", { expression });
  if (!result.objectId) throw new Error(`the page has no ${expression}`);
  return result.objectId;
}

/**
 * Makes all processes of a browser drop what they can make again, above all decoded pictures: Chromium keeps
 * up to half a gigabyte of them, in files of its temp folder that no count of private memory shows.
 */
export async function freeMemory(browser: Browser): Promise<void> {
  const session = await browser.target().createCDPSession();
  try {
    await session.send("Memory.simulatePressureNotification", { level: "critical" });
  } finally {
    await session.detach();
  }
}

/** The message of what a call to a page gives whose process has ended. */
export const PAGE_CRASHED = "the page crashed";

/** Rejects when the page's process ends, since calls to it would otherwise wait for ever. */
export function crashOf(page: Page): Promise<never> {
  const crash = new Promise<never>((_, reject) => {
    page.once("error", (cause) => reject(new Error(PAGE_CRASHED, { cause })));
  });
  crash.catch(() => {}); // Crashing between two jobs is nobody's rejection.
  return crash;
}
