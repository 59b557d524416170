import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import puppeteer, { type Browser, type BrowserContext, type Page } from "puppeteer-core";
import { findChromium } from "../../src/render/browser/chromium.ts";
import { TEST_CACHE_DIR } from "../harness.ts";
import { sharedBrowser } from "../shared-browser.ts";

/** Bounds a page that hangs and nothing else: a busy machine may take a minute for a card. */
const PAGE_TIMEOUT_MS = 300_000;

export interface TestBrowser {
  /**
   * A page with its own cookies. Scripts that fail, and anything the page's policy refuses, are collected.
   */
  open(width?: number): Promise<{ page: Page; complaints: string[] }>;
  close(): Promise<void>;
}

/**
 * The Chromium that sets the cards, here as a partner's browser: it reaches this machine only. Files of a
 * process share it; what one opened has cookies and storage of its own, and is closed with `close`.
 */
export async function testBrowser(): Promise<TestBrowser> {
  const browser = await sharedBrowser(launch);
  const contexts: BrowserContext[] = [];
  return {
    open: async (width = 1280) => {
      const context = await browser.createBrowserContext();
      contexts.push(context);
      const page = await context.newPage();
      page.setDefaultTimeout(PAGE_TIMEOUT_MS);
      await page.setViewport({ width, height: 900 });
      const complaints: string[] = [];
      page.on("pageerror", (error) => complaints.push(String(error)));
      page.on("console", (message) => {
        if (message.type() === "error") complaints.push(message.text());
      });
      return { page, complaints };
    },
    // Where a test ran out of time, the browser has ended with it.
    close: async () => {
      await Promise.allSettled(contexts.map((context) => !context.closed && context.close()));
    },
  };
}

async function launch(): Promise<Browser> {
  const chromium = await findChromium({ cacheDir: TEST_CACHE_DIR });
  const userDataDir = mkdtempSync(join(tmpdir(), "cardpress-browser-"));
  const browser = await puppeteer.launch({
    executablePath: chromium.path,
    headless: "shell",
    pipe: true,
    userDataDir,
    timeout: PAGE_TIMEOUT_MS,
    protocolTimeout: PAGE_TIMEOUT_MS,
    env: { ...process.env, ...chromium.env },
    args: ["--no-sandbox", "--disable-dev-shm-usage", "--no-first-run", "--disable-gpu", "--hide-scrollbars"],
  });
  browser.once("disconnected", () => rmSync(userDataDir, { recursive: true, force: true }));
  return browser;
}
