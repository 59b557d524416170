import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser } from "puppeteer-core";
import type { CardJob } from "../../../src/render/card/card-fill.ts";
import { type CardPage, openCardPage } from "../../../src/render/card/page.ts";
import { BUILT_IN } from "../../../src/templates/built-in.ts";
import { type LoadedTemplate, loadTemplate, templateOf } from "../../../src/templates/load.ts";
import { sayThird, thirdOf } from "../../endurance.ts";
import { CSS, HTML, sampleTemplate } from "../../templates/sample-template.ts";
import { openPixelLab, type PixelLab } from "../pixels.ts";
import { type CardSpec, cardInput, closePages, cutout, openBrowser } from "./cards.ts";

// A plate is drawn once and kept for the next cards of the same look.

let browser: Browser;
let lab: PixelLab;
beforeAll(async () => {
  browser = await openBrowser();
  lab = await openPixelLab(browser);
});
afterAll(closePages);

const open = (template: LoadedTemplate) => openCardPage(browser, template, { captureMethod: "canvas" });

/** A page without plates, as new ones are. */
const emptied = async (page: CardPage) => {
  await page.page.evaluate("import('/card/page/plates.ts').then((plates) => plates.keepPlates(true))");
  return page;
};

/** A page that is looked at, and another that draws the same cards afresh and nothing else. */
interface Pair {
  page: CardPage;
  fresh: CardPage;
}
const pairOf = async (template: LoadedTemplate): Promise<Pair> => ({
  page: await open(template),
  fresh: await open(template),
});

/** Opening a page takes longer than ten cards: the tests of a built-in template share a pair. */
const builtIn = new Map<string, Promise<Pair>>();
async function pairFor(name: string): Promise<Pair> {
  const opened = builtIn.get(name) ?? loadTemplate(name).then(pairOf);
  builtIn.set(name, opened);
  const { page, fresh } = await opened;
  return { page: await emptied(page), fresh };
}

async function jobOf(spec: CardSpec): Promise<CardJob> {
  return { card: cardInput({ name: "Ana", ...spec }), cutout: await cutout("yoga"), badge: null };
}

/** The card and what became of its plates. */
async function draw(page: CardPage, spec: CardSpec) {
  const { bytes, timingsMs } = await page.render(await jobOf(spec));
  const plates = Object.keys(timingsMs).filter((stage) => stage.startsWith("plates_"));
  return { bytes, plates: plates.join() };
}

const drawAfresh = async (page: CardPage, spec: CardSpec) => draw(await emptied(page), spec);

const LOOKS: CardSpec[] = [
  { width: 512, height: 640, theme: "stadium", skill: 81 },
  { width: 700, height: 800, theme: "galaxy", primary: "#0b3d91", secondary: "#ffcc00", skill: 93 },
  { width: 640, height: 640, skill: 64, format: "jpeg" },
  { width: 815, height: 1110, theme: "forest snow", primary: "#c8102e", skill: 40 },
  { width: 801, height: 533, theme: "neon", format: "webp", skill: 77 },
];

/** The plates of the templates that other tests of this file draw by are looked at in every run. */
const TODAY = new Set(["club_card", ...thirdOf([...BUILT_IN.keys()])]);
sayThird(`plates of ${TODAY.size} of ${BUILT_IN.size} templates`);

for (const name of TODAY) {
  test(`a ${name} from the kept plate has the bytes of one drawn afresh, in every size, theme, tier and format`, async () => {
    const { page, fresh: other } = await pairFor(name);
    for (const look of LOOKS) await draw(page, { ...look, name: "Jo" });
    for (const look of LOOKS.map((look) => ({ ...look, name: "Li", number: 6 }))) {
      const before = await draw(page, look);
      const kept = await draw(page, look);
      const fresh = await drawAfresh(other, look);
      expect([kept.plates, fresh.plates]).toEqual(["plates_kept", "plates_drawn"]);
      expect(Buffer.compare(kept.bytes, fresh.bytes)).toBe(0);
      expect(Buffer.compare(before.bytes, fresh.bytes)).toBe(0);
    }
  });
}

for (const name of TODAY) {
  test(`a ${name} after one with a watermark shows nothing of it`, async () => {
    const { page, fresh: other } = await pairFor(name);
    const job = await jobOf({ theme: "stadium" });
    const marked = await page.render({ ...job, watermark: "TEST" });
    const after = await draw(page, { theme: "stadium" });
    const fresh = await drawAfresh(other, { theme: "stadium" });
    expect(after.plates).toBe("plates_kept");
    expect(Buffer.compare(after.bytes, fresh.bytes)).toBe(0);
    // Nor is it on a card twice.
    const again = await page.render({ ...job, watermark: "TEST" });
    expect(Buffer.compare(again.bytes, marked.bytes)).toBe(0);
    expect(Buffer.compare(marked.bytes, fresh.bytes)).not.toBe(0);
  });
}

test("the grain is there before the first card shows it: a plate drawn too early would be kept without it", async () => {
  const page = await open(await loadTemplate("match_day"));
  await page.page.evaluate(() => {
    const { setProperty } = CSSStyleDeclaration.prototype;
    CSSStyleDeclaration.prototype.setProperty = function (name, value, priority) {
      if (name === "--grain") {
        // Only a picture that is loaded already is complete at once.
        const grain = new Image();
        grain.src = /"(.+)"/.exec(value ?? "")?.[1] ?? "";
        Object.assign(globalThis, { grainWasThere: grain.complete });
      }
      setProperty.call(this, name, value, priority);
    };
  });
  await draw(page, {});
  expect(await page.page.evaluate("globalThis.grainWasThere")).toBe(true);
  await page.close();
});

for (const captureMethod of ["canvas", "screenshot"] as const)
  test(`a small card of a large photo has the same bytes after cards of other sizes, by ${captureMethod}`, async () => {
    const man = await cutout("man");
    const template = await loadTemplate("match_day");
    const last = async (...sizes: [width: number, height: number][]) => {
      const page = await openCardPage(browser, template, { captureMethod });
      let bytes: Uint8Array = new Uint8Array();
      for (const [width, height] of sizes)
        ({ bytes } = await page.render({ card: cardInput({ width, height }), cutout: man, badge: null }));
      await page.close();
      return bytes;
    };
    const small: [number, number] = [300, 400];
    const after = await last([512, 640], [700, 800], [1024, 1280], [815, 1110], small);
    expect(Buffer.compare(after, await last(small))).toBe(0);
  });

test("players of one club, whatever their names, numbers and skill within a tier, share a few plates", async () => {
  const { page } = await pairFor("club_card");
  const club = { theme: "stadium", primary: "#c8102e", secondary: "#f6eb61" };
  let drawn = 0;
  for (let i = 0; i < 25; i++) {
    const player = { name: `Player ${i}`, number: i + 1, skill: 75 + (i % 15) };
    if ((await draw(page, { ...club, ...player })).plates === "plates_drawn") drawn++;
  }
  expect(drawn).toBe(4);
});

/** A template with a plate, its content and its rules. */
const plateOf = (content: string, rules: string) =>
  templateOf(
    sampleTemplate({
      "card.html": HTML.replace("</main>", `<div class="plate" data-plate>${content}</div></main>`),
      "card.css": `${CSS}
        .plate { position: absolute; inset: 10% 5% auto 7.3%; height: 43.7%; background: rgb(0 0 0 / 0.2); border-radius: 9px }
        .plate > * { position: absolute; inset: 7% }
        ${rules}`,
    }),
  );

test("as many plates are kept as memory is for them, and the oldest is drawn again", async () => {
  const page = await open(
    plateOf("<i></i>", ".plate { inset: 0; height: 100%; background: var(--primary) }"),
  );
  // 16 million pixels are kept: six plates of this size.
  const look = (n: number) => ({ width: 1280, height: 2048, primary: `#${(0x101010 + n).toString(16)}` });
  for (let n = 0; n < 7; n++) expect((await draw(page, look(n))).plates).toBe("plates_drawn");
  expect((await draw(page, look(6))).plates).toBe("plates_kept");
  expect((await draw(page, look(0))).plates).toBe("plates_drawn");
  await page.close();
});

describe("whatever a template says is a plate, its card is right:", () => {
  /**
   * One page after the other shows all the templates, which takes a tenth of the time of opening pages for
   * each.
   */
  let pair: Pair;
  let photographed: CardPage;
  beforeAll(async () => {
    const template = plateOf("", "");
    pair = await pairOf(template);
    photographed = await openCardPage(browser, template, { captureMethod: "screenshot" });
  });
  const shown = async (page: CardPage, template: LoadedTemplate) => {
    await page.remake(template);
    return page;
  };

  const A: CardSpec = { width: 600, height: 800, skill: 61, number: 3, position: "GK", name: "Li" };
  const B: CardSpec = { width: 600, height: 800, skill: 88, number: 11, position: "ST", name: "Wojciech" };

  const DEPENDENT: [what: string, content: string, rules: string][] = [
    ["a number", "<i></i>", ".plate > i { background: rgb(calc(var(--skill-level) * 2) 0 0) }"],
    ["the position", "<i></i>", '.card[data-position="GK"] .plate > i { background: #0f0 }'],
    ["the tier, before an element", "<i></i>", '.card[data-tier="gold"] .plate > i::before { content: "x" }'],
    ["a style of its own", '<i style="background: rgb(0 calc(var(--number) * 9) 0)"></i>', ""],
    ["what is inherited", "<i>text</i>", ".plate { color: rgb(0 0 calc(var(--skill-level) * 2)) }"],
    [
      "its own size",
      "<i></i>",
      ".plate { height: calc(var(--skill-level) * 1%) } .plate > i { background: red }",
    ],
    ["a nested rule", "<i></i>", '.card { &[data-position="ST"] { .plate > i { background: blue } } }'],
  ];
  for (const [what, content, rules] of DEPENDENT)
    test(`with content that depends on ${what}`, async () => {
      const template = plateOf(content, rules);
      const page = await emptied(await shown(pair.page, template));
      const fresh = await shown(pair.fresh, template);
      const [a, b] = [await draw(page, A), await draw(page, B)];
      expect([a.plates, b.plates]).toEqual(["plates_drawn", "plates_drawn"]);
      expect(Buffer.compare(b.bytes, (await drawAfresh(fresh, B)).bytes)).toBe(0);
      const again = await draw(page, A);
      expect(again.plates).toBe("plates_kept");
      expect(Buffer.compare(again.bytes, a.bytes)).toBe(0);
    });

  const FILLED = "<i></i><b>PLATE</b>";
  const EFFECTS: [what: string, rules: string][] = [
    [
      "with an opacity, a mask and a filter",
      ".plate { opacity: 0.5; mask: linear-gradient(#000, transparent); filter: blur(2px) }",
    ],
    ["with a blend mode and a clip path", ".plate { mix-blend-mode: multiply; clip-path: circle(40%) }"],
    ["with a border and padding", ".plate { border: 3.4px solid lime; padding: 5px }"],
    ["with content reaching beyond its box", ".plate > i { inset: -20% }"],
    ["turned", ".plate { transform: rotate(7deg) }"],
    ["on a card that is scaled", ".card { scale: 0.93 }"],
    ["beside elements that are always visible", ".card h1, .card p { visibility: visible }"],
    [
      "that begins outside the picture",
      ".plate { inset: -71.3px auto auto -33.6px; width: 60%; height: 50% }",
    ],
    ["that lies mostly outside", ".plate { inset: -300% auto auto -300%; width: 350%; height: 350% }"],
    ["hidden", ".plate { visibility: hidden }"],
    ["without a place", ".plate { display: none }"],
  ];
  for (const [what, rules] of EFFECTS)
    test(what, async () => {
      const rule =
        ".plate > i { background: repeating-linear-gradient(30deg, red 0 9px, transparent 0 20px) } .plate > b { font: 800 40px/1 'Barlow Condensed' }";
      const template = plateOf(FILLED, `${rule} ${rules}`);
      const page = await emptied(await shown(pair.page, template));
      await draw(page, A);
      const kept = await draw(page, B);
      const photo = await draw(await shown(photographed, template), B);
      const { psnr } = await lab.compare(kept.bytes, photo.bytes);
      // Without any difference there is no ratio.
      expect(psnr ?? Number.POSITIVE_INFINITY).toBeGreaterThan(55);
    });
});

test("a card compared with itself shows its plates with their pictures, and no letter that is no longer there", async () => {
  const plate = '<div data-plate><img data-picture="scene" alt=""><p class="motto">MMM</p></div>';
  const page = await open(
    templateOf(
      sampleTemplate({
        "card.html": HTML.replace('<i data-zone="face">', `${plate}$&`),
        "card.css": `${CSS}[data-plate], [data-plate] > * { position: absolute; left: 0; top: 0; width: 600px; height: 90px }
          .motto { font-size: 60px } .card > :not([data-plate]) { visibility: hidden }`,
      }),
    ),
  );
  // The second finds its plate kept, with nothing of it loaded.
  for (let i = 0; i < 2; i++) await draw(page, { width: 600, height: 800, theme: "stadium", skill: 81 });
  const [colours, inked] = await page.page.evaluate(async () => {
    const { cardpressCanvas } = globalThis as unknown as {
      cardpressCanvas: typeof import("../../../src/render/card/page/canvas.ts");
    };
    const both = await cardpressCanvas.compare(600, 800, () => {
      const motto = document.querySelector<HTMLElement>(".motto");
      if (motto) motto.style.color = "transparent";
    });
    const [before, after] = (both ?? []).map(({ data }) => new Uint32Array(data.buffer));
    const plateOfAfter = after?.slice(0, 600 * 80) ?? [];
    return [new Set(plateOfAfter).size, before?.filter((pixel, i) => pixel !== after?.[i]).length ?? 0];
  });
  expect(colours).toBeGreaterThan(1000);
  expect(inked).toBeGreaterThan(500);
  await page.close();
});
