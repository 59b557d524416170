import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import puppeteer, { type Browser, type Page } from "puppeteer-core";
import { findChromium } from "../../src/render/browser/chromium.ts";
import { TEST_CACHE_DIR } from "../harness.ts";

/** Bounds a page that hangs and nothing else: a busy machine may take a minute for a card. */
const PAGE_TIMEOUT_MS = 300_000;

export interface TestBrowser {
  /**
   * A page with its own cookies. Scripts that fail, and anything the page's policy refuses, are collected.
   */
  open(width?: number): Promise<{ page: Page; complaints: string[] }>;
  close(): Promise<void>;
}

/** The Chromium that sets the cards, here as a partner's browser: it reaches this machine only. */
export async function testBrowser(): Promise<TestBrowser> {
  const chromium = await findChromium({ cacheDir: TEST_CACHE_DIR });
  const userDataDir = mkdtempSync(join(tmpdir(), "cardpress-browser-"));
  const browser: Browser = await puppeteer.launch({
    executablePath: chromium.path,
    headless: "shell",
    pipe: true,
    userDataDir,
    timeout: PAGE_TIMEOUT_MS,
    protocolTimeout: PAGE_TIMEOUT_MS,
    env: { ...process.env, ...chromium.env },
    args: ["--no-sandbox", "--disable-dev-shm-usage", "--no-first-run", "--disable-gpu", "--hide-scrollbars"],
  });
  return {
    open: async (width = 1280) => {
      const context = await browser.createBrowserContext();
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
    close: async () => {
      await browser.close();
      await rm(userDataDir, { recursive: true, force: true });
    },
  };
}
