import { afterAll, beforeAll, expect, test } from "bun:test";
import { PNG } from "pngjs";
import type { Browser } from "puppeteer-core";
import type { CaptureMethod } from "../../../src/render/card/capture.ts";
import { openCardPage } from "../../../src/render/card/page.ts";
import { templateOf } from "../../../src/templates/load.ts";
import { CSS, HTML, sampleTemplate } from "../../templates/sample-template.ts";
import { CUTOUT_NAMES, cardInput, closePages, cutout, openBrowser } from "./cards.ts";

// A template may show one picture in several places, as a print of two inks does.

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(closePages);

const HALF = 300;
const twice = templateOf(
  sampleTemplate({
    "card.html": HTML.replace(
      /<main class="card">[\s\S]*<\/main>/,
      `<main class="card"><i data-zone="face"></i>
        <div class="half"><img class="player" data-picture="player" alt=""></div>
        <div class="half second"><img class="player" data-picture="player" alt=""></div></main>`,
    ),
    "card.css": `${CSS}
      .half { position: absolute; inset: 0 auto 0 0; width: ${HALF}px; overflow: hidden }
      .second { left: ${HALF}px }
      [data-zone="face"] { left: 15%; top: 30%; width: 20%; height: 20% }`,
  }),
);

for (const captureMethod of ["canvas", "screenshot"] satisfies CaptureMethod[])
  test(`a player shown twice is the same in both places, card after card, by ${captureMethod}`, async () => {
    const page = await openCardPage(browser, twice, { captureMethod });
    const seen = new Set<string>();
    for (const name of [...CUTOUT_NAMES, null, CUTOUT_NAMES[0]]) {
      const card = cardInput({ width: 2 * HALF, height: 800 });
      const { bytes } = await page.render({ card, cutout: name && (await cutout(name)), badge: null });
      const { data, width } = PNG.sync.read(Buffer.from(bytes));
      // The browser scales each place by itself, so that hard edges differ by a few steps.
      let different = 0;
      for (let at = 0; at < data.length; at += 4 * width)
        for (let byte = at; byte < at + 4 * HALF; byte++)
          if (Math.abs((data[byte] as number) - (data[byte + 4 * HALF] as number)) > 8) different++;
      expect(different / data.length, `the part by which the halves of ${name} differ`).toBeLessThan(0.001);
      seen.add(Bun.hash(data).toString());
    }
    expect(seen.size).toBe(CUTOUT_NAMES.length + 1);
    await page.close();
  });
