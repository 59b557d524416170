import { afterAll, beforeAll, expect, test } from "bun:test";
import { PNG } from "pngjs";
import type { Browser } from "puppeteer-core";
import type { Badge } from "../../../src/core/card.ts";
import { openCardPage } from "../../../src/render/card/page.ts";
import { type LoadedTemplate, templateOf } from "../../../src/templates/load.ts";
import { CSS, HTML, MANIFEST, sampleTemplate } from "../../templates/sample-template.ts";
import { cardInput, closePages, openBrowser } from "./cards.ts";

// Pictures among a template's own fields, on the finished card.

let browser: Browser;
let template: LoadedTemplate;
beforeAll(async () => {
  browser = await openBrowser();
  const manifest = { ...MANIFEST, fields: { ...MANIFEST.fields, sponsor: { type: "image" } } };
  template = templateOf(
    sampleTemplate({
      "template.json": JSON.stringify(manifest),
      "card.html": HTML.replace(
        "<h1",
        '<div class="strip" data-if="fields.sponsor"></div><img class="sponsor" data-picture="fields.sponsor" alt=""><h1',
      ),
      "card.css": `${CSS}
.strip { position: absolute; left: 0; bottom: 0; width: 50px; height: 50px; background: #ff0000 }
.sponsor { position: absolute; left: 100px; top: 400px; width: 50px; height: 50px }`,
    }),
  );
});
afterAll(closePages);

/** A picture of one colour. */
function plain(colour: [number, number, number]): Badge {
  const png = new PNG({ width: 20, height: 20 });
  for (let at = 0; at < png.data.length; at += 4) png.data.set([...colour, 255], at);
  return { bytes: new Uint8Array(PNG.sync.write(png)), contentType: "image/png" };
}

test("a card shows its own picture, and the next one none of it", async () => {
  const page = await openCardPage(browser, template);
  const draw = async (pictures?: Record<string, Badge>) => {
    const card = {
      ...cardInput({ width: 600, height: 800 }),
      fields: { sponsor: "https://images.example.org/sponsor.png" },
    };
    const { bytes } = await page.render({ card, cutout: null, badge: null, pictures });
    const { data, width } = PNG.sync.read(Buffer.from(bytes));
    const at = (x: number, y: number) => [...data.subarray((y * width + x) * 4, (y * width + x) * 4 + 3)];
    const has = await page.page.evaluate(() => document.querySelector("main")?.dataset.has);
    return { picture: at(125, 425), strip: at(25, 775), has };
  };
  const green = await draw({ sponsor: plain([0, 200, 0]) });
  expect(green).toMatchObject({ picture: [0, 200, 0], strip: [255, 0, 0], has: "field-sponsor" });
  expect((await draw({ sponsor: plain([0, 0, 200]) })).picture).toEqual([0, 0, 200]);
  // A test card has the address and no picture, and so what depends on one is not there either.
  const none = await draw();
  expect(none.picture).not.toEqual([0, 0, 200]);
  expect(none.strip).not.toEqual([255, 0, 0]);
  expect(none.has).toBe("");
  await page.close();
});

test("one that the browser cannot read is named, before the card shows anything", async () => {
  const page = await openCardPage(browser, template);
  const broken: Badge = { bytes: new TextEncoder().encode("no picture"), contentType: "image/png" };
  const job = { card: cardInput({ width: 600, height: 800 }), cutout: null, badge: null };
  await expect(page.render({ ...job, pictures: { sponsor: broken } })).rejects.toThrow(
    "the fields.sponsor picture could not be decoded",
  );
  await page.close();
});
