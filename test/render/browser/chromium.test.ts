import { afterAll, beforeAll, expect, test } from "bun:test";
import { cp, mkdir, mkdtemp, readdir, rename, rm, stat, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { launchBrowser } from "../../../src/render/browser/browser.ts";
import { type Chromium, packagedChromium } from "../../../src/render/browser/chromium.ts";
import { openCardPage } from "../../../src/render/card/page.ts";
import { loadTemplate } from "../../../src/templates/load.ts";
import { TEST_CACHE_DIR } from "../../harness.ts";

let folder: string;
let home: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "cardpress-chromium-"));
  home = dirname((await packagedChromium(TEST_CACHE_DIR)).path);
  await cp(TEST_CACHE_DIR, join(folder, "before"), { recursive: true });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Starts the browser and opens a card page in it, or rejects. */
async function tryCardPage(chromium: Chromium): Promise<void> {
  const browser = await launchBrowser({ chromium, profilesDir: folder, noSandbox: true });
  try {
    await openCardPage(browser, await loadTemplate("club_card"));
  } finally {
    await browser.close();
  }
}

test("the packaged browser still sets text after its folder was moved", async () => {
  await rm(join(folder, "before", basename(home), "cardpress-fonts.conf"));
  await packagedChromium(join(folder, "before"));
  await rename(join(folder, "before"), join(folder, "after"));
  await tryCardPage(await packagedChromium(join(folder, "after")));
});

test("a packaged browser that was cut off or lost a file is unpacked anew, and killed unpackings are cleared away", async () => {
  const cache = await mkdtemp(join(folder, "damaged-"));
  await cp(home, join(cache, basename(home)), { recursive: true });
  const { path: browser } = await packagedChromium(cache);
  const { size } = await stat(browser);
  const library = join(dirname(browser), "lib", "libnss3.so");
  const inode = (await stat(browser)).ino;
  await packagedChromium(cache);
  // A whole one stays as it is.
  expect((await stat(browser)).ino).toBe(inode);
  const damages = [() => truncate(browser, size - 1), () => rm(library)];
  for (const damage of damages) {
    await damage();
    await mkdir(`${dirname(browser)}.4711.tmp`);
    await Promise.all([packagedChromium(cache), packagedChromium(cache)]);
    expect(await Bun.file(library).exists()).toBe(true);
    expect((await stat(browser)).size).toBe(size);
    expect((await readdir(cache)).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  }
  await tryCardPage(await packagedChromium(cache));
});

test("a browser without fonts makes no card, and says what it needs", async () => {
  const fontless = join(folder, "fontless.conf");
  await writeFile(
    fontless,
    `<fontconfig><dir>${folder}/none</dir><cachedir>${folder}/none</cachedir></fontconfig>`,
  );
  const chromium = await packagedChromium(TEST_CACHE_DIR);
  const broken = { ...chromium, env: { ...chromium.env, FONTCONFIG_FILE: fontless } };
  const refusal = await tryCardPage(broken).catch((error) => error.message);
  expect(refusal).toContain("finds no font");
});
