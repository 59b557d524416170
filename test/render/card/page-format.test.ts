import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { Browser, Page } from "puppeteer-core";
import type { CardInput } from "../../../src/core/card.ts";
import { type CardPage, openCardPage } from "../../../src/render/card/page.ts";
import { loadTemplate, templateOf } from "../../../src/templates/load.ts";
import { CSS, HTML, MANIFEST, sampleTemplate } from "../../templates/sample-template.ts";
import { openPixelLab, type PixelLab } from "../pixels.ts";
import { type CardSpec, cardInput, closePages, cutout, openBrowser } from "./cards.ts";
import { CLUB_CARD_ZONES } from "./club-card-zones.ts";

// What a template can say, and what a card's data can never do to it, in a real browser.

let browser: Browser;
let card: CardPage;
let page: Page;
let lab: PixelLab;
beforeAll(async () => {
  browser = await openBrowser();
  // Of a page in a canvas there is no screenshot, which some of these tests take.
  card = await openCardPage(browser, templateOf(sampleTemplate()), { captureMethod: "screenshot" });
  page = (await browser.pages()).at(-1) as Page;
  lab = await openPixelLab(browser);
});
afterAll(closePages);

const input = (spec: CardSpec, fields?: Record<string, unknown>): CardInput => ({
  ...cardInput({ width: 600, height: 800, primary: "#0000ff", secondary: "#ff0000", ...spec }),
  ...(fields && { fields }),
});
const render = (spec: CardSpec = {}, fields?: Record<string, unknown>) =>
  card.render({ card: input(spec, fields), cutout: null, badge: null });

/** What the card holds in its elements, hidden ones left out. */
const shown = (selector: string) =>
  page.$$eval(`.card ${selector}`, (all) =>
    all.filter((one) => one.getClientRects().length > 0).map((one) => one.textContent),
  );

const STATS = [
  { label: "Pace", value: 91 },
  { label: "Shooting", value: 0 },
];

describe("a card of a template with fields", () => {
  test("shows texts, lists and conditions, and nothing of the sample or of the card before", async () => {
    await render({ name: "Kevin de Bruyne" }, { club: "Rovers", captain: true, stats: STATS, goals: 12 });
    expect(await shown("h1")).toEqual(["Kevin de Bruyne"]);
    expect([await shown(".club"), await shown(".none"), await shown(".captain")]).toEqual([
      ["Rovers"],
      [],
      ["C"],
    ]);
    expect(await shown("dt")).toEqual(["Pace", "Shooting"]);
    // An entry knows what the card knows.
    expect(await shown("dd")).toEqual(["91", "ST", "0", "ST"]);
    await render({ name: "Jo" });
    expect(await shown("h1, p, b, dl *")).toEqual(["Jo", "No club"]);
  });

  test("styles by numbers, colours, choices and places in a list", async () => {
    await render({}, { kit: "away", trim: "#00FF00", goals: 12, stats: STATS });
    const styles = await page.evaluate(() => {
      const of = (selector: string) => getComputedStyle(document.querySelector(selector) as Element);
      const rows = [...document.querySelectorAll("dl > div")].map((row) => {
        const { marginLeft, borderLeftWidth } = getComputedStyle(row);
        return [marginLeft, borderLeftWidth];
      });
      return { ground: of(".card").backgroundColor, club: of(".club").color, rows };
    });
    expect(styles).toEqual({
      ground: "rgb(255, 0, 0)",
      club: "rgb(0, 255, 0)",
      rows: [
        ["0px", "91px"],
        ["10px", "0px"],
      ],
    });
  });

  test("has attributes for position, tier, script, theme, format, and for what it was given", async () => {
    await render({ skill: 95, theme: "snowy forest" }, { club: "Rovers", kit: "home", captain: false });
    const data = await page.$eval(".card", (one) => ({ ...(one as HTMLElement).dataset }));
    expect(data).toMatchObject({
      position: "ST",
      tier: "elite",
      script: "latin",
      theme: "forest snow",
      format: "png",
      layout: "portrait",
      has: "brand theme field-club field-kit",
      fieldKit: "home",
    });
    expect(data).not.toHaveProperty("fieldCaptain");
  });

  test("fits every box that is shown, on as many lines as it may take", async () => {
    const long = "Borussia Mönchengladbach Vereinigte Staaten";
    await render({ name: "Pierre-Emerick Emiliano Aubameyang" }, { club: long });
    const inside = await page.$$eval("[data-fit]", (boxes) =>
      boxes.map((box) => {
        const text = (box.firstElementChild as HTMLElement).getBoundingClientRect();
        const { top, bottom, left, right } = box.getBoundingClientRect();
        return (
          text.top >= top - 1 && text.bottom <= bottom + 1 && text.left >= left - 1 && text.right <= right + 1
        );
      }),
    );
    expect(inside).toEqual([true, true]);
    expect((await shown(".club"))[0]).toEndWith("…");
    expect(await shown("h1")).toEqual(["Pierre-Emerick Emiliano Aubameyang"]);
  });

  test("shows the template's own pictures", async () => {
    const { bytes } = await render();
    expect(await lab.pixelsAt(bytes, [[590, 790]])).toEqual([[0, 255, 0, 255]]);
  });

  test("zones are placed by CSS, one size after the other", async () => {
    const zones = async (spec: CardSpec) =>
      (await card.zones({ card: input(spec), cutout: null, badge: null })).cutout;
    expect((await zones({})).face).toEqual({ x: 0.4, y: 0.3, width: 0.2, height: 0.2 });
    expect((await zones({ width: 1200, height: 600 })).face.x).toBe(0.7);
    expect((await zones({})).face.x).toBe(0.4);
    expect((await zones({})).frame).toEqual({ x: 0, y: 0, width: 1, height: 1 });
  });

  test("a player is placed by the zones of the composition that the card is made in", async () => {
    const manifest = { ...MANIFEST, compositions: ["photo", "cutout"], figure: "bust" };
    const both = await openCardPage(
      browser,
      templateOf(
        sampleTemplate({
          "template.json": JSON.stringify(manifest),
          "card.html": HTML.replace(
            '<i data-zone="face"></i>',
            '<i data-zone="face"></i><i data-zone="frame"></i><img data-picture="backdrop" src="samples/p.jpg" alt="">',
          ),
          "card.css": `${CSS}[data-zone="frame"] { inset: 10% }
[data-composition="photo"] [data-zone="frame"] { inset: 20% 5% 0 5% }
[data-composition="cutout"] [data-zone="face"] { left: 20%; width: 30% }`,
        }),
      ),
      { captureMethod: "screenshot" },
    );
    const player = await cutout("astronaut");
    const photo = join(import.meta.dir, "../../photos/astronaut.png");
    const lengths = async (composition: "cutout" | "photo") => {
      await both.set({ card: input({ composition }), cutout: player, badge: null, photo });
      return both.page.evaluate(() => {
        const { style } = document.documentElement;
        const names = ["window-x", "window-y", "window-width", "player-x", "player-width"];
        return Object.fromEntries(
          names.map((name) => [name, Number.parseFloat(style.getPropertyValue(`--${name}`))]),
        );
      });
    };
    const inPhoto = { "window-x": 30, "window-y": 160, "window-width": 540 };
    expect(await lengths("photo")).toMatchObject(inPhoto);
    const { "player-x": x, "player-width": width } = await lengths("cutout");
    const { x: left, width: wide } = player.framing.face as { x: number; width: number };
    const middle = (x as number) + ((left + wide / 2) * (width as number)) / player.width;
    expect(middle).toBeCloseTo(0.35 * 600, 1);
    expect(await lengths("photo")).toMatchObject(inPhoto);
    const { cutout: cut, photo: whole } = await both.zones({ card: input({}), cutout: null, badge: null });
    expect([cut.face.x, whole.face.x, cut.frame.y, whole.frame.y]).toEqual([0.2, 0.4, 0.1, 0.2]);
    await both.close();
  });

  test("a zone hidden in one composition lies there where the other shows it, and both make cards", async () => {
    const css = `${CSS}\n.card[data-composition="photo"] [data-zone="face"] { display: none }`;
    const manifest = { ...MANIFEST, compositions: ["cutout", "photo"] };
    const html = HTML.replace(
      '<i data-zone="face"></i>',
      '<i data-zone="face"></i><img data-picture="backdrop" alt="">',
    );
    const files = { "card.css": css, "card.html": html, "template.json": JSON.stringify(manifest) };
    const hiding = await openCardPage(browser, templateOf(sampleTemplate(files)));
    const player = await cutout("astronaut");
    const photo = join(import.meta.dir, "../../photos/astronaut.png");
    for (const composition of ["photo", "cutout"] as const) {
      const made = await hiding.render({ card: input({ composition }), cutout: player, badge: null, photo });
      expect(made.composition).toBe(composition);
    }
    const zones = await hiding.zones({ card: input({}), cutout: null, badge: null });
    expect(zones.photo.face).toEqual(zones.cutout.face);
    expect(zones.cutout.face).toMatchObject({ width: 0.2, height: 0.2 });
    await hiding.close();
  });

  test("a zone without a size is refused by its name", async () => {
    const css = CSS.replace("width: 20%; height: 20%", "width: 0");
    const broken = await openCardPage(browser, templateOf(sampleTemplate({ "card.css": css })));
    const failure = broken.render({ card: input({}), cutout: null, badge: null });
    await expect(failure).rejects.toThrow('the zone "face" has no size');
    await broken.close();
  });
});

test("club_card's zones are where its designer put them, in every layout", async () => {
  const club = await openCardPage(browser, await loadTemplate("club_card"));
  for (const [layout, [width, height]] of [
    ["portrait", [1024, 1280]],
    ["portrait", [512, 640]],
    ["square", [560, 560]],
    ["landscape", [1600, 900]],
  ] as const)
    expect(await club.zones({ card: input({ width, height }), cutout: null, badge: null })).toEqual({
      cutout: CLUB_CARD_ZONES[layout],
      photo: CLUB_CARD_ZONES[layout],
    });
  await club.close();
});

test("the built-in card's body ends behind its ribbon, however tall the card is", async () => {
  const club = await openCardPage(browser, await loadTemplate("club_card"), { captureMethod: "screenshot" });
  const tab = (await browser.pages()).at(-1) as Page;
  for (const [width, height] of [
    [1024, 1280],
    [1080, 1920],
    [512, 2048],
    [815, 1110],
    [900, 1000],
    [1080, 1080],
  ] as const) {
    const job = { card: input({ width, height }), cutout: null, badge: null };
    const { body } = (await club.zones(job)).photo;
    await club.render(job);
    const ribbonTop = await tab.evaluate(() => {
      const of = (name: string) => (document.querySelector(name) as Element).getBoundingClientRect();
      return (of(".ribbon").top - of(".card").top) / of(".card").height;
    });
    expect({ width, height, hidden: body.y + body.height > ribbonTop + 0.005 }).toEqual({
      width,
      height,
      hidden: true,
    });
  }
  await club.close();
});

describe("capitals", () => {
  test("follow the language of the name, and German keeps its own ß", async () => {
    const css = `${CSS}\nh1 { text-transform: uppercase }`;
    const upper = await openCardPage(browser, templateOf(sampleTemplate({ "card.css": css })));
    const tab = (await browser.pages()).at(-1) as Page;
    const seen: string[] = [];
    for (const name of ["Groß-Weiß", "İlkay Işık ışık", "Γιώργος"]) {
      await upper.render({ card: input({ name }), cutout: null, badge: null });
      // biome-ignore lint/performance/useDomNodeTextContent: the text as CSS puts it into capitals.
      seen.push(await tab.$eval("h1", (one) => (one as HTMLElement).innerText));
    }
    await upper.close();
    expect(seen).toEqual(["GROẞ-WEIẞ", "İLKAY IŞIK IŞIK", "ΓΙΩΡΓΟΣ"]);
  });
});

describe("a print of 63 x 88 mm", () => {
  test("has the card inside the cut on ground of the club's colour, or to the edge where the template says that it bleeds", async () => {
    const print = { width: 815, height: 1110 };
    // In both ways pictures leave a page: body and root have their grounds in other places there.
    const drawn = await openCardPage(browser, templateOf(sampleTemplate()), { captureMethod: "canvas" });
    for (const one of [card, drawn]) {
      const { bytes } = await one.render({ card: input(print), cutout: null, badge: null });
      for (const [r = 0, g = 0, b = 0, alpha] of await lab.pixelsAt(bytes, [
        [5, 5],
        [810, 1105],
      ])) {
        expect(alpha).toBe(255);
        expect([r < 30, g < 30, b > r, b < 90]).toEqual([true, true, true, true]);
      }
    }
    await drawn.close();
    const manifest = new TextDecoder().decode(sampleTemplate().get("template.json"));
    const bleeding = manifest.replace('"version"', '"bleeds": true, "version"');
    const other = await openCardPage(browser, templateOf(sampleTemplate({ "template.json": bleeding })));
    const whole = await other.render({ card: input(print), cutout: null, badge: null });
    await other.close();
    expect((await lab.pixelsAt(whole.bytes, [[5, 5]]))[0]).toEqual([0, 0, 255, 255]);
  });
});

const HOSTILE: Record<string, string> = {
  markup: `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`,
  css: `}*{display:none!important}.card{background:url(https://evil.example/x)}`,
  "an attribute": `"><b onmouseover=x>`,
  // biome-ignore lint/suspicious/noTemplateCurlyInString: what template languages would compute.
  "template syntax": "{{7*7}} ${7*7} <%= 7 %> {% for %} [[7*7]] #{7}",
  "control characters": "a\u0001b\u0007c\u001b[31md\u0085e",
  "right-to-left overrides": "abc\u202edef\u2066ghi\u2069jkl\u200f",
  zalgo: `Z${"\u0301\u0316\u0489".repeat(100)}algo`,
  "100 emoji": "👨‍👩‍👧".repeat(33),
  "prototype names": "__proto__ constructor toString",
  "a long word": "W".repeat(300),
};

describe("hostile data", () => {
  for (const [what, text] of Object.entries(HOSTILE))
    test(`${what} stays text inside its box`, async () => {
      const elements = () => page.$$eval(".card *", (all) => all.length);
      await render({ name: "Jo", theme: "x" }, { club: "Rovers", stats: [{ label: "Pace", value: 1 }] });
      const before = await elements();
      const name = [...text].slice(0, 100).join("");
      await render({ name, theme: text }, { club: text.slice(0, 300), stats: [{ label: text, value: 1 }] });
      expect(await elements()).toBe(before);
      expect(await page.title()).toBe("Test card");
      const said = (await shown("h1, .club, dt")).join("");
      expect(said).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069\u200f]/u);
      expect(said).not.toContain("49");
      expect(said.length).toBeGreaterThan(0);
      // Cut off at the boxes' edges, nothing but the smoothing of a slanted stroke is missing.
      const whole = await page.screenshot();
      await page.addStyleTag({ content: "[data-fit] { overflow: clip }" });
      const cut = await page.screenshot();
      await page.evaluate(() => document.head.lastElementChild?.remove());
      expect((await lab.compare(whole, cut)).changedShare).toBeLessThan(0.0001);
    });

  test("names that JavaScript knows are as unknown as any other", async () => {
    await render({}, { __proto__: { club: "x" }, constructor: "y" } as never);
    expect(await shown(".none")).toEqual(["No club"]);
  });
});

test("a hostile template opens no connection, runs nothing and reads no file, even past its examination", async () => {
  const evil = `<script>document.title='owned'</script><script src="assets/evil.svg"></script>
    <img src="https://evil.example/a"><img src="file:///etc/passwd"><img src="../../../../etc/passwd">
    <iframe src="file:///etc/passwd"></iframe><object data="https://evil.example/b"></object>
    <link rel="preload" href="https://evil.example/c" as="image"><base href="https://evil.example/">
    <video src="https://evil.example/e"></video>
    <form action="https://evil.example/f"><input autofocus onfocus="document.title='owned'"></form>`;
  const template = templateOf(sampleTemplate());
  const asked: string[] = [];
  const spy = {
    newPage: async () => {
      const opened = await browser.newPage();
      opened.on("requestfinished", (request) => asked.push(request.url()));
      return opened;
    },
  } as Browser;
  const hostile = await openCardPage(spy, {
    ...template,
    html: HTML.replace("</main>", `${evil}</main>`),
    css: `@import "https://evil.example/g.css"; ${CSS} .club { background: url(https://evil.example/h), url(file:///etc/passwd) }
      @font-face { font-family: E; src: url(https://evil.example/i.woff2) }`,
    files: new Map([
      ...template.files,
      ["assets/evil.svg", new TextEncoder().encode("document.title='owned'")],
    ]),
  });
  const tab = (await browser.pages()).at(-1) as Page;
  await hostile.render({ card: input({}, { club: "Rovers" }), cutout: await cutout("man"), badge: null });
  expect(await tab.title()).toBe("Test card");
  expect(
    asked.filter((url) => !/^(https:\/\/card\.invalid\/|data:|blob:https:\/\/card\.invalid\/)/.test(url)),
  ).toEqual([]);
  expect(asked.filter((url) => url.includes("etc/passwd"))).toEqual([]);
  await hostile.close();
});

test("a template brings its own scene for each theme by style sheet, whole already on the first card that asks for it", async () => {
  const scene = (colour: string) =>
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 4"><rect width="4" height="4" fill="${colour}"/></svg>`;
  const css = `${CSS}
.card { background: url(assets/scenes/day.svg) center / cover }
.card[data-theme~="night"] { background-image: url(assets/scenes/night.svg) }
.card[data-theme~="snow"]::before { content: ""; position: absolute; inset: 0; background: url(assets/scenes/snow.svg) }`;
  const template = templateOf(
    sampleTemplate({
      "card.css": css,
      "assets/scenes/day.svg": scene("#ffff00"),
      "assets/scenes/night.svg": scene("#000080"),
      "assets/scenes/snow.svg": scene("#ffffff"),
    }),
  );
  for (const captureMethod of ["canvas", "screenshot"] as const) {
    const themed = await openCardPage(browser, template, { captureMethod });
    const ground = async (theme?: string) => {
      const card = input({ ...(theme && { theme }) });
      const { bytes } = await themed.render({ card, cutout: null, badge: null });
      return (await lab.pixelsAt(bytes, [[4, 320]]))[0];
    };
    expect(await ground("a cold Nacht")).toEqual([0, 0, 128, 255]);
    expect(await ground("Schnee")).toEqual([255, 255, 255, 255]);
    expect(await ground()).toEqual([255, 255, 0, 255]);
    await themed.close();
  }
});

test("the mark of a test picture lies over every template, whatever its style sheet says", async () => {
  const shy = sampleTemplate({
    "card.css": `${CSS}\nhtml > *:not(head, body) { display: none !important; opacity: 0 !important }`,
  });
  const over = await openCardPage(browser, templateOf(shy));
  const job = { card: input({}), cutout: null, badge: null };
  const { bytes } = await over.render({ ...job, watermark: "TEST" });
  await over.close();
  const plain = (await render()).bytes;
  expect((await lab.compare(plain, bytes)).changedShare).toBeGreaterThan(0.1);
});

test("a template can show the photo as it was sent; without one its place is empty", async () => {
  const html = HTML.replace(
    '<img class="player"',
    '<img class="sent" data-picture="photo" src="" alt="">\n  <img class="player"',
  );
  const css = `${CSS}\n.sent { position: absolute; left: 0; top: 0; width: 200px; height: 200px }`;
  const showing = await openCardPage(
    browser,
    templateOf(sampleTemplate({ "card.html": html, "card.css": css })),
    { captureMethod: "screenshot" },
  );
  const tab = (await browser.pages()).at(-1) as Page;
  const look = () =>
    tab.$eval(".card .sent", (img) => [
      img.getClientRects().length,
      (img as HTMLImageElement).naturalWidth > 0,
    ]);
  const photo = join(import.meta.dir, "../../photos/astronaut.png");
  await showing.render({ card: input({}), cutout: null, badge: null, photo });
  expect(await look()).toEqual([1, true]);
  await showing.render({ card: input({}), cutout: null, badge: null });
  expect((await look())[0]).toBe(0);
  await showing.close();
});

test("a page that is remade for other texts gives the picture of one opened with them", async () => {
  const html = HTML.replace('lang="en"', 'lang="tr" class="late"')
    .replace('<img class="player"', '<img class="player small"')
    .replace("<body>", '<body id="other">')
    .replace('<dl data-each="fields.stats"', '<dl data-each="fields.stats" class="row"');
  const css = `${CSS}\n.late .small { opacity: 0.5 } #other h1 { top: 60px } .row { left: 90px }`;
  const changed = templateOf(sampleTemplate({ "card.html": html, "card.css": css }));
  const job = {
    card: input({ name: "Ilk İkinci" }, { club: "Rovers", stats: STATS }),
    cutout: await cutout("man"),
    badge: null,
  };
  for (const captureMethod of ["canvas", "screenshot"] as const) {
    const fresh = await openCardPage(browser, changed, { captureMethod });
    const wanted = (await fresh.render(job)).bytes;
    await fresh.close();
    const remade = await openCardPage(browser, templateOf(sampleTemplate()), { captureMethod });
    expect(Buffer.compare((await remade.render(job)).bytes, wanted)).not.toBe(0);
    await remade.remake(changed);
    expect((await lab.compare((await remade.render(job)).bytes, wanted)).changedShare).toBe(0);
    const quirky = templateOf(sampleTemplate({ "card.html": HTML.replace("<!doctype html>\n", "") }));
    await expect(remade.remake(quirky)).rejects.toThrow("doctype");
    await remade.close();
  }
});

test("club_card's card.html opened as a file is a whole card", async () => {
  const tab = await browser.newPage();
  const missing: string[] = [];
  tab.on("requestfailed", (request) => missing.push(request.url()));
  await tab.goto(`file://${join(import.meta.dir, "../../../templates/club_card/card.html")}`);
  expect(await tab.evaluate(async () => (await document.fonts.ready).status)).toBe("loaded");
  const ratio = await tab.$eval(".card", (one) => one.clientHeight / one.clientWidth);
  expect(ratio).toBeCloseTo(1.25, 2);
  // Each part has a place inside the view, and its text or picture.
  const parts = [".name > span", ".skill", ".chip > span", ".no > i", ".player > img", ".scene"];
  for (const part of parts) {
    const box = await tab.$eval(part, (one) => [one.clientWidth, one.getBoundingClientRect().width]);
    expect(Math.max(...box)).toBeGreaterThan(20);
  }
  expect(await tab.$eval(".name", (one) => one.textContent?.trim())).toBe("Maya Okafor");
  expect(missing).toEqual([]);
  await tab.close();
});
