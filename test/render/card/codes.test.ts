import { afterAll, beforeAll, expect, test } from "bun:test";
import jsqr from "jsqr";
import { PNG } from "pngjs";
import type { Browser } from "puppeteer-core";
import { MAX_TEMPLATE_CODE_CHARS } from "../../../src/core/limits.ts";
import type { CaptureMethod } from "../../../src/render/card/capture.ts";
import { type CardPage, openCardPage } from "../../../src/render/card/page.ts";
import { checkFields } from "../../../src/templates/fields.ts";
import { type LoadedTemplate, templateOf } from "../../../src/templates/load.ts";
import { CSS, HTML, MANIFEST, sampleTemplate } from "../../templates/sample-template.ts";
import { cardInput, closePages, openBrowser } from "./cards.ts";

// A card's code is read off the finished picture by a decoder that knows nothing of how it was drawn.

let browser: Browser;
let template: LoadedTemplate;
beforeAll(async () => {
  browser = await openBrowser();
  template = templateOf(sampleTemplate());
});
afterAll(closePages);

const LONGEST = "https://example.org/".padEnd(MAX_TEMPLATE_CODE_CHARS, "Aa1-");

async function draw(page: CardPage, code: string | undefined, size: { width: number; height: number }) {
  const card = { ...cardInput(size), ...(code === undefined ? {} : { fields: { code } }) };
  const { bytes } = await page.render({ card, cutout: null, badge: null });
  const { data, width, height } = PNG.sync.read(Buffer.from(bytes));
  return { rgba: new Uint8ClampedArray(data), width, height };
}

for (const captureMethod of ["canvas", "screenshot"] satisfies CaptureMethod[])
  test(`codes are read off a card photographed by ${captureMethod}, whatever stood there before`, async () => {
    const page = await openCardPage(browser, template, { captureMethod });
    for (const code of [
      "1",
      LONGEST,
      "HTTPS://EXAMPLE.ORG/9",
      "https://example.org/players/10442?from=card",
    ]) {
      const { rgba, width, height } = await draw(page, code, { width: 600, height: 800 });
      expect(jsqr(rgba, width, height)?.data).toBe(code);
    }
    const { rgba, width, height } = await draw(page, undefined, { width: 600, height: 800 });
    expect(jsqr(rgba, width, height)).toBeNull();
    await page.close();
  });

test("a code has black and white modules alone, all of the same whole size, in a quiet zone of four", async () => {
  const page = await openCardPage(browser, template, { captureMethod: "canvas" });
  const { rgba, width } = await draw(page, "https://example.org", { width: 600, height: 800 });
  // The picture as it is laid out: at fractions of a pixel, by which nothing may be blurred.
  const [left, top, right, bottom] = (await page.page.evaluate(() => {
    const box = document.querySelector(".code")?.getBoundingClientRect() as DOMRect;
    return [box.left, box.top, box.right, box.bottom].map(Math.round);
  })) as [number, number, number, number];
  const greys = new Set<number>();
  const rows = Array.from({ length: bottom - top }, (_, y) =>
    Array.from({ length: right - left }, (_, x) => {
      const at = ((top + y) * width + left + x) * 4;
      for (const channel of [0, 1, 2]) greys.add(rgba[at + channel] ?? -1);
      return (rgba[at] ?? 0) < 128;
    }),
  );
  expect([...greys].sort()).toEqual([0, 255]);
  const dark = rows.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [{ x, y }] : [])));
  const first = { x: Math.min(...dark.map(({ x }) => x)), y: Math.min(...dark.map(({ y }) => y)) };
  // The finder in the corner is seven modules wide.
  const modulePx = rows[first.y]?.slice(first.x).findIndex((isDark) => !isDark) ?? 0;
  expect(modulePx % 7).toBe(0);
  expect(first.x).toBeGreaterThanOrEqual((4 * modulePx) / 7);
  expect(first.y).toBeGreaterThanOrEqual((4 * modulePx) / 7);
  const runs = rows
    .flatMap((row) => row.join().match(/(?:true,?)+/g) ?? [])
    .map((run) => run.split(",").filter(Boolean).length);
  expect(new Set(runs.map((run) => run % (modulePx / 7)))).toEqual(new Set([0]));
  await page.close();
});

test("a code too small to be drawn fails, and names its field", async () => {
  const small = templateOf(sampleTemplate({ "card.css": `${CSS}.code { width: 30px; height: 30px }` }));
  const page = await openCardPage(browser, small, { captureMethod: "canvas" });
  await expect(draw(page, LONGEST, { width: 600, height: 800 })).rejects.toThrow("fields.code has");
});

test("a biography of 300 letters stands whole on six lines", async () => {
  const manifest = { ...MANIFEST, fields: { ...MANIFEST.fields, bio: { type: "text", max: 300 } } };
  const files = sampleTemplate({
    "template.json": JSON.stringify(manifest),
    "card.html": HTML.replace(
      "</main>",
      '<p class="bio" data-fit="6 lines" data-text="fields.bio"></p></main>',
    ),
    "card.css": `${CSS}.bio { position: absolute; left: 20px; top: 300px; width: 520px; height: 160px; --fit-largest: 40px; --fit-line: 1.2 }`,
  });
  const page = await openCardPage(browser, templateOf(files), { captureMethod: "canvas" });
  const sentence =
    "Came through the academy at nine and never left: two cups, one promotion and a hat-trick. ";
  const bio = `${sentence.repeat(4).slice(0, 299)}.`;
  const card = { ...cardInput({ width: 600, height: 800 }), fields: { bio } };
  await page.render({ card, cutout: null, badge: null });
  const shown = (await page.page.evaluate(() => {
    const box = document.querySelector(".bio") as HTMLElement;
    const text = box.firstElementChild as HTMLElement;
    const { fontSize, lineHeight } = getComputedStyle(text);
    return {
      text: text.textContent,
      lines: Math.round(text.getBoundingClientRect().height / Number.parseFloat(lineHeight)),
      px: Number.parseFloat(fontSize),
      fits: text.getBoundingClientRect().bottom <= box.getBoundingClientRect().bottom + 1,
    };
  })) as { text: string; lines: number; px: number; fits: boolean };
  expect(shown).toMatchObject({ text: bio, lines: 6, fits: true });
  expect(shown.px).toBeGreaterThan(16);
});

test("a name stays on one line where two would make its letters smaller", async () => {
  const files = sampleTemplate({
    "card.css": `${CSS}h1 { width: 200px; height: 60px; --fit-largest: 60px; --fit-one-line: 1; --fit-line: 1.2 }`,
  });
  const page = await openCardPage(browser, templateOf(files), { captureMethod: "canvas" });
  const card = cardInput({ width: 600, height: 800, name: "Łukasz Wójcik" });
  await page.render({ card, cutout: null, badge: null });
  const sizePx = (await page.page.evaluate(() =>
    Number.parseFloat(getComputedStyle(document.querySelector("h1 > *") as HTMLElement).fontSize),
  )) as number;
  // Two lines in a box as high as this are no larger than 25 pixels.
  expect(sizePx).toBeGreaterThan(25);
});

test("what no code can say is refused by the name of its field", () => {
  const fieldsOf = (code: string) => checkFields({ name: "x", fields: { code: { type: "qr" } } }, { code });
  expect(fieldsOf("https://example.org")).toEqual([]);
  for (const code of ["", "ü", "a\nb", `${LONGEST}x`])
    expect(fieldsOf(code)).toEqual([
      { field: "fields.code", message: expect.stringContaining("letters, digits and signs of ASCII") },
    ]);
});
