import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "puppeteer-core";
import { launchBrowser } from "../../src/render/browser.ts";
import { findChromium } from "../../src/render/chromium.ts";
import { openPhotoStudio, type PhotoStudio } from "../../src/render/photo.ts";
import manifest from "../photos/manifest.json" with { type: "json" };

const cacheDir = join(tmpdir(), "cardpress-test-cache");
const photo = (file: string) => readFileSync(join(import.meta.dir, "../photos", file));

let browser: Browser;
let studio: PhotoStudio;

beforeAll(async () => {
  mkdirSync(cacheDir, { recursive: true });
  const chromium = await findChromium({ configuredPath: process.env.CARDPRESS_CHROMIUM, cacheDir });
  browser = await launchBrowser({ chromium, profilesDir: tmpdir(), noSandbox: true });
  studio = await openPhotoStudio(browser);
});

afterAll(async () => {
  await studio?.close();
  await browser?.close();
});

describe("the labelled photos", () => {
  for (const { file, expect: expected } of manifest) {
    test(`${file}: ${expected}`, async () => {
      const result = await studio.cutOut(photo(file));
      expect(result.ok ? "cutout" : result.reason).toBe(expected);
    });
  }
});
