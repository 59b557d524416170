import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser } from "puppeteer-core";
import { freeMemory } from "../../../src/render/browser/browser.ts";
import type { CaptureMethod } from "../../../src/render/card/capture.ts";
import { type CardPage, openCardPage } from "../../../src/render/card/page.ts";
import { loadTemplate } from "../../../src/templates/load.ts";
import { openPixelLab, type PixelLab } from "../pixels.ts";
import { type CardSpec, cardInput, closePages, cutout, openBrowser } from "./cards.ts";
import { badge, GOLDENS } from "./goldens.ts";

const METHODS = ["canvas", "screenshot"] as const;

let browser: Browser;
let lab: PixelLab;
const pages = {} as Record<CaptureMethod, CardPage>;
beforeAll(async () => {
  browser = await openBrowser();
  const template = await loadTemplate("club_card");
  for (const captureMethod of METHODS)
    pages[captureMethod] = await openCardPage(browser, template, { captureMethod });
  lab = await openPixelLab(browser);
});
afterAll(closePages);

async function shoot(
  captureMethod: CaptureMethod,
  spec: CardSpec,
  photo: (typeof GOLDENS)[number][2],
  crest = false,
) {
  const job = { card: cardInput(spec), cutout: photo && (await cutout(photo)) };
  return (await pages[captureMethod].render({ ...job, badge: crest ? await badge(browser) : null })).bytes;
}

describe("a card is the same picture whichever way it leaves the browser:", () => {
  for (const [name, spec, photo, crest] of GOLDENS) {
    test(name, async () => {
      const [drawn, photographed] = [
        await shoot("canvas", spec, photo, crest),
        await shoot("screenshot", spec, photo, crest),
      ];
      const { sameSize, psnr } = await lab.compare(drawn, photographed);
      expect(sameSize).toBe(true);
      // Nobody sees a difference: gradients are rounded otherwise, and a few edges smoothed.
      expect(psnr).toBeGreaterThan(51);
    });
  }

  for (const format of ["jpeg", "webp"] as const) {
    test(`${format}, as far as its own losses show`, async () => {
      const spec = { format, width: 700, height: 800, theme: "stadium" };
      const [drawn, photographed] = [
        await shoot("canvas", spec, "man"),
        await shoot("screenshot", spec, "man"),
      ];
      const exact = await shoot("screenshot", { ...spec, format: "png" }, "man");
      expect((await lab.compare(drawn, photographed)).psnr).toBeGreaterThan(34);
      // The backdrop of a JPEG is none of the PNG's.
      if (format === "jpeg") return;
      const loss = async (bytes: Uint8Array) => (await lab.compare(bytes, exact)).psnr;
      expect(await loss(drawn)).toBeGreaterThan((await loss(photographed)) - 0.5);
    });
  }
});

test("a PNG for the screen has the pixels of the one that is compressed", async () => {
  const spec = { theme: "forest", primary: "#0b3d91" };
  const job = { card: cardInput(spec), cutout: await cutout("man"), badge: null };
  const screen = (await pages.canvas.render({ ...job, encoding: "screen" })).bytes;
  const { sameSize, largest } = await lab.compare(screen, await shoot("canvas", spec, "man"));
  expect([sameSize, largest]).toEqual([true, 0]);
});

for (const captureMethod of METHODS) {
  test(`the ${captureMethod} gives the same bytes after the browser has dropped the pictures it had decoded`, async () => {
    const spec = { width: 700, height: 800, theme: "stadium" };
    const before = await shoot(captureMethod, spec, "man");
    await freeMemory(browser);
    expect(Buffer.compare(await shoot(captureMethod, spec, "man"), before)).toBe(0);
  });

  test(`the ${captureMethod} gives the same bytes for the same card, whatever was shown in between`, async () => {
    const spec = { theme: "galaxy", name: "Jo" };
    const first = await shoot(captureMethod, spec, "yoga");
    await shoot(captureMethod, { width: 900, height: 520, format: "jpeg", theme: "fire" }, "skier");
    expect(Buffer.compare(await shoot(captureMethod, spec, "yoga"), first)).toBe(0);
  });
}

/** A browser in whose pages `script` runs first. */
function changed(script: string): Browser {
  const newPage = async () => {
    const page = await browser.newPage();
    await page.evaluateOnNewDocument(script);
    return page;
  };
  return new Proxy(browser, {
    get: (target, name) => {
      if (name === "newPage") return newPage;
      const value = target[name as keyof Browser] as unknown;
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

const DRAW = "CanvasRenderingContext2D.prototype.drawElementImage";
const BROKEN: [string, string][] = [
  ["cannot draw elements", `delete ${DRAW}`],
  ["draws something else", `${DRAW} = function () { this.fillRect(0, 0, 64, 64) }`],
  ["never paints", `HTMLCanvasElement.prototype.requestPaint = () => { throw new Error("no") }`],
  ["cannot write files", `delete globalThis.Worker`],
];
for (const [what, script] of BROKEN) {
  test(`a browser that ${what} gives the same card by screenshots`, async () => {
    const page = await openCardPage(changed(script), await loadTemplate("club_card"));
    expect(page.captureMethod).toBe("screenshot");
    const job = { card: cardInput(), cutout: await cutout("man"), badge: null };
    const { bytes } = await page.render(job);
    await page.close();
    expect(Buffer.compare(bytes, await shoot("screenshot", {}, "man"))).toBe(0);
  });
}

test("the browser that comes with the packages takes the canvas", async () => {
  const page = await openCardPage(browser, await loadTemplate("club_card"));
  expect(page.captureMethod).toBe("canvas");
  await page.close();
});
