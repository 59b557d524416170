import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "puppeteer-core";
import { type OpenPreviewPool, openPreviewPool } from "../../src/cli/preview-pool.ts";
import { readConfig } from "../../src/config.ts";
import { systemRandom } from "../../src/service/system.ts";
import { type DrawingJob, type DrawingOutcome, openDrawings } from "../../src/studio/drawings.ts";
import type { PictureRequest } from "../../src/studio/messages.ts";
import { sampleCard } from "../../src/studio/samples.ts";
import { type RunningStudio, serveStudio } from "../../src/studio/serve.ts";
import { openStudio, type Studio } from "../../src/studio/studio.ts";
import { digestOf, readTemplateFolder } from "../../src/templates/files.ts";
import { loadTemplate } from "../../src/templates/load.ts";
import { type TestBrowser, testBrowser } from "../console/browser.ts";
import { silentLog } from "../harness.ts";

// One designer's session in a real browser with a real worker; each test continues where the last one ended.

let root: string;
let previews: OpenPreviewPool;
let studio: Studio;
let server: RunningStudio;
let browser: TestBrowser;
let page: Page;
/** What a page asked for last to show on its stage. */
let asked: PictureRequest;
/** What the stage's next pictures wait for. */
let held = Promise.resolve();
let complaints: string[];

const dir = () => join(root, "my_card");
const css = () => readFileSync(join(dir(), "card.css"), "utf8");
const save = (text: string) => writeFileSync(join(dir(), "card.css"), text);

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), "cardpress-studio-"));
  previews = await openPreviewPool(readConfig(process.env), silentLog, true);
  studio = await openStudio({
    root,
    scratch: join(previews.scratch, "studio"),
    pool: previews.pool,
    baseUrl: "http://localhost:3000",
  });
  const picture: Studio["picture"] = async (request, base) => {
    if (request.pane.endsWith(":card")) {
      asked = request;
      await held;
    }
    return studio.picture(request, base);
  };
  server = serveStudio({ ...studio, picture }, { port: 0, random: systemRandom });
  browser = await testBrowser();
  ({ page, complaints } = await browser.open(1440));
});

afterAll(async () => {
  await browser?.close();
  await server?.stop();
  await studio?.close();
  await previews?.close();
  await rm(root, { recursive: true, force: true });
});

const click = (selector: string) => page.$eval(selector, (element) => (element as HTMLElement).click());
const text = (selector: string) => page.$eval(selector, (element) => element.textContent ?? "");
const picture = () => page.$eval("#stage .picture img", (image) => (image as HTMLImageElement).src);
const value = (path: string) =>
  page.$eval(`[data-path="${path}"]`, (element) => (element as HTMLInputElement).value);
const until = (expression: string) => page.waitForFunction(expression);
/** Waits until the picture on the stage is another one. */
const untilRedrawn = (before: string) =>
  page.waitForFunction(
    (old) => {
      const image = document.querySelector<HTMLImageElement>("#stage .picture img");
      return image && image.src !== old && !document.querySelector("#stage .pane[data-busy]");
    },
    {},
    before,
  );

test("an empty folder says what to do, and one click starts a template that draws", async () => {
  await page.goto(server.url);
  await until("document.querySelector('.empty')");
  expect(await text(".empty")).toContain(root);
  await click(".empty button.primary");
  await until("document.querySelector('#stage .picture img')");
  expect(readdirSync(dir()).sort()).toEqual(["card.css", "card.html", "samples", "template.json"]);
  expect(await text("#title")).toBe("My card");
});

test("a saved sheet is on the screen without the picture ever being gone", async () => {
  await page.evaluate(() => {
    const state = globalThis as unknown as { gone: number };
    state.gone = 0;
    new MutationObserver(() => {
      if (!document.querySelector("#stage .picture img")) state.gone += 1;
    }).observe(document.querySelector("#stage") as Element, { childList: true, subtree: true });
  });
  const before = await picture();
  save(`${css()}\n.name { letter-spacing: 0.1em }\n`);
  await untilRedrawn(before);
  expect(await page.evaluate("globalThis.gone")).toBe(0);
  expect(await text("#status")).toMatch(/Live · \d+ ms/);
});

test("however an editor saves, the last save is what every window shows", async () => {
  const other = (await browser.open(1440)).page;
  await other.goto(server.url);
  await other.waitForFunction("document.body.dataset.drawn");
  const [sheet, aside] = [join(dir(), "card.css"), join(dir(), ".card.css.tmp")];
  const ways: ((text: string) => void)[] = [
    save,
    (text) => {
      writeFileSync(aside, text);
      renameSync(aside, sheet);
    },
    // vim with a backup
    (text) => {
      renameSync(sheet, `${sheet}~`);
      save(text);
      rmSync(`${sheet}~`);
    },
    (text) => {
      rmSync(sheet);
      save(text);
    },
    // Two files at once, the sheet twice: what is seen must not be what was there in between.
    (text) => {
      save("");
      writeFileSync(join(dir(), "card.html"), `${markup}<!-- ${text.length} -->\n`);
      save(text);
    },
  ];
  const markup = readFileSync(join(dir(), "card.html"), "utf8");
  const good = css();
  const events = studio.events.open(AbortSignal.any([])).body?.getReader();
  const bothShowTheFiles = async () => {
    const digest = digestOf(await readTemplateFolder(dir()));
    while ((await studio.state("my_card")).template?.digest !== digest) await events?.read();
    // The picture of the files as they are now, under the name that its contents give it.
    const wanted = await studio.picture({ ...asked, pane: "test" }, "");
    if (wanted.kind !== "drawn") throw new Error(JSON.stringify(wanted));
    const key = wanted.url.split("/").at(-1);
    for (const at of [page, other])
      await at.waitForFunction(
        (name) =>
          document.querySelector<HTMLImageElement>("#stage .picture img")?.src.endsWith(name as string),
        {},
        key,
      );
  };
  for (const [i, way] of [...ways, ...ways].entries()) {
    for (const n of [1, 2, 3]) way(`${good}\n.name { letter-spacing: 0.0${i}${n}em }\n`);
    await bothShowTheFiles();
  }
  save(good);
  writeFileSync(join(dir(), "card.html"), markup);
  await bothShowTheFiles();
  await other.close();
});

test("of two requests for one pane the newer is drawn, in whatever order they get ready", async () => {
  const gate = Promise.withResolvers<void>();
  const drawings = openDrawings(
    { ...previews.pool, acquire: () => gate.promise.then(() => previews.pool.acquire()) },
    join(previews.scratch, "order"),
  );
  const { manifest, files } = await loadTemplate(dir());
  const sample = JSON.parse(readFileSync(join(dir(), "samples/plain.json"), "utf8"));
  const job = (turn: number, width: number): DrawingJob => ({
    pane: "card",
    turn,
    priority: 0,
    dir: dir(),
    digest: digestOf(files),
    card: sampleCard(sample, manifest, { width, height: 640, format: "png" }).card,
    photo: null,
    badge: null,
    pictures: {},
    inspect: "no",
    encoding: "screen",
  });
  const busy = drawings.draw({ ...job(1, 520), pane: "another" });
  const [newer, older, again] = [job(3, 530), job(2, 540), job(4, 530)].map((one) => drawings.draw(one));
  expect(await older).toEqual({ kind: "superseded" });
  gate.resolve();
  const [first, second] = await Promise.all([newer, again]);
  expect(first?.kind === "drawn" && first.drawing.preview.width).toBe(530);
  expect(second).toEqual(first as DrawingOutcome);
  expect((await busy).kind).toBe("drawn");
});

test("a broken file leaves the last good picture and shows file, line and code beside it until it is fixed", async () => {
  const good = css();
  const before = await picture();
  save(`${good}\n.name { color: red;\n`);
  await until("document.querySelector('.fault')");
  expect(await text(".fault .place")).toStartWith("card.css:");
  expect(await text(".fault code.here")).toContain(".name");
  expect(await picture()).toBe(before);
  save(good);
  await until("!document.querySelector('.fault')");
  expect(await picture()).toBe(before);
});

test("what the browser leaves out of the style sheet is reported by line and code, and the picture is drawn without it", async () => {
  const good = css();
  const before = await picture();
  save(good.replace(/(\.rating b \{\n {2})color/, "$1colr"));
  await untilRedrawn(before);
  await until("document.querySelector('.fault.mild')");
  expect(await text(".fault.mild .place")).toStartWith("card.css:");
  expect(await text(".fault.mild")).toContain('Did you mean "color"?');
  expect(await text(".fault.mild code.here")).toContain("colr: var(--accent)");
  expect(await text("#status")).toContain("Live");
  save(good);
  await until("!document.querySelector('.fault')");
});

test("broken JSON changes nothing, edited data is drawn, and is saved as a sample of its own", async () => {
  const before = await picture();
  await page.$eval("#json", (element) => {
    (element as HTMLTextAreaElement).value = '{ "player": ';
    element.dispatchEvent(new Event("input"));
  });
  await until("document.querySelector('#json-problem').textContent !== ''");
  expect(await picture()).toBe(before);
  await click("#data-buttons button:nth-child(3)");
  await page.$eval('[data-path="player.name"]', (element) => {
    (element as HTMLInputElement).value = "Zoë Ångström";
    element.dispatchEvent(new Event("input"));
  });
  await untilRedrawn(before);
  expect(page.url()).toContain("data=");
  await click("#data-buttons button:nth-child(2)");
  await page.type("dialog input", "zoe");
  await click("dialog button.primary");
  await until("document.querySelector('[data-sample=\"zoe\"][aria-current]')");
  expect(JSON.parse(readFileSync(join(dir(), "samples/zoe.json"), "utf8")).player.name).toBe("Zoë Ångström");
  expect(await value("player.name")).toBe("Zoë Ångström");
  expect(await page.$eval("#json", (editor) => (editor as HTMLTextAreaElement).value)).toContain("Zoë");
});

test("once a broken template.json is fixed, the form has its fields, and each input sends its own type", async () => {
  const path = join(dir(), "template.json");
  const good = readFileSync(path, "utf8");
  const manifest = JSON.parse(good);
  Object.assign(manifest.fields, {
    captain: { type: "boolean" },
    foot: { type: "choice", options: ["left", "right"] },
    ink: { type: "color" },
    height: { type: "number", min: 1, max: 3 },
  });
  writeFileSync(path, "{");
  await until("document.querySelector('.fault')");
  writeFileSync(path, JSON.stringify(manifest));
  await until("document.querySelector('[data-path=\"fields.captain\"]')");
  const put = (name: string, text: string) =>
    page.$eval(
      `[data-path="${name}"]`,
      (element, given) => {
        (element as HTMLInputElement).value = given;
        for (const kind of ["input", "change"]) element.dispatchEvent(new Event(kind));
      },
      text,
    );
  await click('[data-path="fields.captain"]');
  await put("fields.foot", "right");
  await put("fields.ink", "#aabbcc");
  await put("fields.height", "1.8");
  await click('[data-remove="fields.stats.2"]');
  await put("fields.stats.0.value", "40");
  await put("fields.stats.1.label", "Saves");
  const own = async () =>
    page.$eval("#json", (editor) => JSON.parse((editor as HTMLTextAreaElement).value).fields);
  expect(await own()).toMatchObject({
    captain: true,
    foot: "right",
    ink: "#AABBCC",
    height: 1.8,
    stats: [
      { label: "Goals", value: 40 },
      { label: "Saves", value: 7 },
    ],
  });
  await click('[data-add="fields.stats"]');
  await click('[aria-label="No ink"]');
  await put("fields.foot", "");
  expect(await own()).toEqual({
    club: "Harbour Rovers",
    captain: true,
    height: 1.8,
    stats: [
      { label: "Goals", value: 40 },
      { label: "Saves", value: 7 },
      { label: "Goals", value: 12 },
    ],
  });
  await click("#data-buttons button:nth-child(3)");
  expect(await value("fields.stats.1.label")).toBe("Assists");
  writeFileSync(path, good);
  await until("!document.querySelector('[data-path=\"fields.captain\"]')");
});

test("a long wait says what is waited for, until it is over", async () => {
  const gate = Promise.withResolvers<void>();
  held = gate.promise;
  const before = await picture();
  const good = css();
  save(`${good}\n.name { letter-spacing: 0.2em }\n`);
  await until("document.querySelector('#wait')?.hidden === false");
  expect(await text("#wait")).toStartWith("Drawing");
  gate.resolve();
  await untilRedrawn(before);
  await until("document.querySelector('#wait').hidden");
  save(good);
  await untilRedrawn(await picture());
});

test("an address opens the same state again", async () => {
  const other = await browser.open(1440);
  await other.page.goto(`${server.url}?sample=plain&size=square&overlays=zones,texts&zoom=50`);
  await other.page.waitForFunction(() => document.querySelector("#stage svg.overlay"));
  expect(await other.page.$eval("#stage .pane", (element) => (element as HTMLElement).style.width)).toBe(
    "540px",
  );
  expect(
    await other.page.$eval(
      "[data-sample][aria-current]",
      (element) => (element as HTMLElement).dataset.sample,
    ),
  ).toBe("plain");
  expect(await other.page.$$eval("svg.overlay rect", (all) => all.length)).toBeGreaterThan(4);
  expect(other.complaints).toEqual([]);
  await other.page.close();
});

test("zoom goes to real pixels, larger, smaller and back to fit", async () => {
  const width = () =>
    page.$eval("#stage .pane", (element) => Number.parseFloat((element as HTMLElement).style.width));
  const fitted = await width();
  expect(fitted).toBeLessThan(1024);
  await click('.tools [aria-label="Zoom"] button:nth-child(3)');
  expect(await width()).toBe(1024);
  await page.keyboard.press("+");
  expect(await width()).toBe(1536);
  await page.keyboard.press("-");
  expect(await width()).toBe(1024);
  await page.keyboard.press("0");
  expect(await width()).toBe(fitted);
});

test("dragging the corner gives a free size, which is drawn", async () => {
  const before = await picture();
  const corner = await (await page.$(".corner"))?.boundingBox();
  const [x, y] = [(corner?.x ?? 0) + 13, (corner?.y ?? 0) + 13];
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x - 60, y, { steps: 4 });
  await page.mouse.up();
  await untilRedrawn(before);
  expect(page.url()).toMatch(/size=\d+x1280/);
  const free = await picture();
  await click('.tools [aria-label="Size"] button');
  await untilRedrawn(free);
});

test("a dropped photo goes through the real cutout, and can be removed", async () => {
  const before = await picture();
  const bytes = readFileSync(join(import.meta.dir, "../photos/unsplash_man.jpg")).toString("base64");
  await page.evaluate((base64) => {
    const file = new File([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))], "own.jpg", {
      type: "image/jpeg",
    });
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(file);
    document.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
  }, bytes);
  await until("document.querySelector('.photo-name')");
  await untilRedrawn(before);
  expect(await text(".photo-name span")).toBe("own.jpg");
  const own = await picture();
  await click(".photo-name button");
  await untilRedrawn(own);
  expect(await picture()).toBe(before);
});

test("a photo that makes no card is refused in the words that partners read, and the picture stays", async () => {
  const before = await picture();
  const bytes = readFileSync(join(import.meta.dir, "../photos/brick.png")).toString("base64");
  await page.evaluate((base64) => {
    const file = new File([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))], "wall.png", {
      type: "image/png",
    });
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(file);
    document.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
  }, bytes);
  await until("document.querySelector('#stage .refusal:not([hidden])')");
  expect(await text("#stage .refusal")).toContain("player");
  expect(await picture()).toBe(before);
  await click(".photo-name button");
  await until("document.querySelector('#stage .refusal[hidden]')");
});

test("the request is copied as curl, with the sample's data and no secret", async () => {
  await page.keyboard.press("d");
  await until("document.querySelector('#copy-curl')");
  await click("#copy-curl");
  await until("document.querySelector('#curl').textContent !== ''");
  const command = await text("#curl");
  expect(command).toContain("curl http://localhost:3000/v1/images");
  expect(command).toContain('"name": "Zoë Ångström"');
  expect(command).toContain('"preset": "my_card"');
  expect(command).toContain('"X-API-Key: $CARDPRESS_KEY"');
});

test("what is seen is downloaded as PNG, WebP and JPEG", async () => {
  const kinds: string[] = [];
  for (const format of ["png", "webp", "jpeg"]) {
    // The browser would take the file out of the page's sight; the page follows the link itself instead.
    await page.evaluate(() => {
      HTMLAnchorElement.prototype.click = function follow() {
        document.body.dataset.link = this.href;
      };
      delete document.body.dataset.link;
    });
    await click(`[data-download="${format}"]`);
    await until("document.body.dataset.link");
    const answer = await fetch(await page.evaluate(() => document.body.dataset.link ?? ""));
    kinds.push(`${answer.headers.get("content-type")} ${answer.headers.get("content-disposition")}`);
    expect(await new Bun.Image(await answer.bytes()).metadata()).toMatchObject({
      width: 1024,
      height: 1280,
      format,
    });
  }
  expect(kinds).toEqual([
    'image/png attachment; filename="my_card-zoe-1024x1280.png"',
    'image/webp attachment; filename="my_card-zoe-1024x1280.webp"',
    'image/jpeg attachment; filename="my_card-zoe-1024x1280.jpg"',
  ]);
});

test("all sizes are drawn side by side", async () => {
  await page.keyboard.press("2");
  await until("document.querySelectorAll('.sized .picture img').length === 2");
});

test("the wall draws what may come, and puts what does not hold first", async () => {
  const good = css();
  save(`${good}\n.club { color: var(--primary) }\n`);
  await page.goto(`${server.url}?view=wall&wall=colours&sample=first`);
  await until("/need a look|All \\d+ hold/.test(document.querySelector('.room .soft')?.textContent ?? '')");
  const tiles = await page.$$eval(".tile", (all) =>
    all
      .map((one) => ({
        order: Number((one as HTMLElement).style.order),
        bad: (one as HTMLElement).dataset.bad,
      }))
      .sort((a, b) => a.order - b.order),
  );
  expect(tiles.length).toBe(9);
  const unusedPx = await page.evaluate(() => {
    const grid = document.querySelector(".wall");
    return (grid?.parentElement?.clientWidth ?? 0) - (grid?.clientWidth ?? 0);
  });
  // The room's padding of 24 on either side.
  expect(unusedPx).toBe(48);
  expect(tiles[0]?.bad).toBe("yes");
  expect(tiles.map(({ bad }) => bad)).toEqual([...tiles.map(({ bad }) => bad)].sort().reverse());
  save(good);
});

test("one picture is accepted, then all; a change shows against them", async () => {
  await page.goto(`${server.url}?view=compare&sample=first&size=portrait`);
  await until("document.querySelector('[data-accept=\"first@portrait\"]')");
  await click('[data-accept="first@portrait"]');
  await until("!document.querySelector('[data-accept=\"first@portrait\"]')");
  expect(readdirSync(join(dir(), "golden"))).toEqual(["first@portrait.webp"]);
  await click("#accept-all");
  await until("document.querySelector('#accept-all').disabled");
  expect(readdirSync(join(dir(), "golden")).length).toBe(6);

  save(`${css()}\n.rating { rotate: 8deg }\n`);
  await until("document.querySelectorAll('[data-state=\"changed\"]').length === 6");
  await until("/of the pixels changed/.test(document.querySelector('.verdict').textContent)");
  await page.focus(".compare input[type=range]");
  await page.keyboard.press("End");
  expect(
    await page.$eval(".compare", (element) => (element as HTMLElement).style.getPropertyValue("--at")),
  ).toBe("100%");
  await click('[data-value="difference"]');
  await until("document.querySelector('.compare img[alt=\"Difference\"]')");
  await click('[data-value="side"]');
  await until("document.querySelectorAll('.side .compare').length === 2");
});

test("the template is compared with the last commit", async () => {
  const git = (...args: string[]) =>
    Bun.spawnSync(["git", "-C", root, "-c", "user.name=D", "-c", "user.email=d@example.com", ...args]);
  git("init", "-q");
  git("add", "-A");
  git("commit", "-qm", "First");
  await page.goto(`${server.url}?view=compare&sample=first&size=portrait&against=head`);
  await until("/Nothing changed/.test(document.querySelector('.verdict')?.textContent ?? '')");
  save(`${css()}\n.rating { scale: 1.3 }\n`);
  await until("/of the pixels changed/.test(document.querySelector('.verdict').textContent)");
});

test("only who has the address gets in, from this machine, and no other page", async () => {
  const { origin } = new URL(server.url);
  expect((await fetch(`${origin}/`)).status).toBe(404);
  expect((await fetch(`${origin}/wrong-token/state`)).status).toBe(404);
  expect((await fetch(`${server.url}state`, { headers: { Host: "evil.example" } })).status).toBe(421);
  expect((await fetch(`${server.url}state`, { headers: { Origin: "https://evil.example" } })).status).toBe(
    403,
  );
  expect((await fetch(`${server.url}state`)).status).toBe(200);
  expect((await fetch(`${server.url}..%2f..%2fetc%2fpasswd`)).status).toBe(404);
});

test("samples name files of their own folder only", async () => {
  for (const photo of ["../card.css", "/etc/passwd", ".git"]) {
    const answer = await fetch(`${server.url}picture`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({
        template: "my_card",
        pane: "x",
        turn: 1,
        priority: 0,
        body: { player: { name: "Li", position: "GK", number: 1, skill_level: 64, photo } },
        width: 512,
        height: 640,
        format: "png",
        inspect: "no",
      }),
    });
    expect(await answer.json()).toEqual({
      kind: "refused",
      message: "player.photo must be the name of a file in the samples folder, such as player.jpg.",
    });
  }
  expect(existsSync(join(root, "..", "golden"))).toBe(false);
});

test("whoever tabs through the page sees where the focus is", async () => {
  await page.goto(server.url);
  await page.waitForSelector(".dropzone");
  const unseen: string[] = [];
  const seen: string[] = [];
  for (let stop = 0; stop < 25; stop++) {
    await page.keyboard.press("Tab");
    const [name, isMarked] = await page.evaluate(() => {
      const focused = document.activeElement as HTMLElement;
      const { id, className, tagName } = focused;
      const label = focused.previousElementSibling;
      const marked = id === "photo-file" && label ? label : focused;
      // Fields are marked by the colour of their border.
      const isField = marked === focused && ["INPUT", "SELECT", "TEXTAREA"].includes(tagName);
      const hasOutline = getComputedStyle(marked).outlineStyle === "solid";
      return [id || className || tagName, isField || hasOutline] as const;
    });
    (isMarked ? seen : unseen).push(name);
  }
  expect(unseen).toEqual([]);
  expect(seen).toEqual(expect.arrayContaining(["photo-file", "room"]));
});

test("both sides lie beside each other, each with the cut and the safe area of its print", async () => {
  const html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Back</title><link rel="stylesheet" href="back.css"></head>
<body><main class="card"><p data-text="player.name">Maya</p></main></body></html>`;
  writeFileSync(
    join(dir(), "back.css"),
    ".card { position: absolute; inset: 0; background: var(--primary) }",
  );
  writeFileSync(join(dir(), "back.html"), html);
  await page.goto(`${server.url}?size=815x1110&overlays=safe`);
  await until("document.querySelectorAll('#stage .overlay').length === 2");
  const sides = await page.$$eval("#stage .pane", (panes) =>
    panes.map((pane) => {
      const { left, right, width } = pane.getBoundingClientRect();
      const source = pane.querySelector("img")?.src;
      const boxes = [...pane.querySelectorAll(".overlay > rect")];
      const words = [...pane.querySelectorAll(".overlay text")].map(({ textContent }) => textContent);
      return { left, right, width, source, words, across: boxes.map((box) => box.getAttribute("width")) };
    }),
  );
  const [front, back] = sides;
  expect(back?.left).toBeGreaterThan(front?.right ?? Number.POSITIVE_INFINITY);
  expect(back?.width).toBeCloseTo(front?.width ?? 0, 1);
  expect(back?.source).not.toBe(front?.source);
  for (const { words, across } of sides) {
    expect(words).toEqual(["cut, 63 x 88 mm", "safe area, 3 mm"]);
    expect(across.map(Number)).toEqual([815 - 2 * 35, 815 - 2 * (35 + 35)]);
  }
  await page.$$eval("#stage .tools button", (all) =>
    (all as HTMLElement[]).find(({ title }) => title === "As large as it is printed")?.click(),
  );
  const widths = () =>
    page.$$eval("#stage .pane", (all) => all.map((pane) => pane.getBoundingClientRect().width));
  // A card of 63 mm with 3 mm of bleed on either side, in millimetres of CSS.
  for (const width of await widths()) expect((width / 96) * 25.4).toBeCloseTo(69, 1);

  // In a size for print, chosen by its name, what the printer takes off is shown unasked.
  await page.goto(server.url);
  await until("document.querySelector('#stage .back .picture img')");
  const manifest = readFileSync(join(dir(), "template.json"), "utf8");
  writeFileSync(join(dir(), "template.json"), JSON.stringify({ ...JSON.parse(manifest), bleeds: true }));
  writeFileSync(
    join(dir(), "back.css"),
    ".card { position: absolute; inset: 0; background: #fff } p { position: absolute; left: 4px; top: 300px }",
  );
  await page.select(".print-sizes", "815x1110");
  await until("document.querySelector('#stage .back .cut li')");
  expect(await text("#stage .back .cut li")).toMatch(/^player\.name stands \d+ px beyond the cut/);
  writeFileSync(join(dir(), "template.json"), manifest);
  for (const file of ["back.html", "back.css"]) await rm(join(dir(), file));
  await until("document.querySelector('#stage .back').hidden");
});

test("a back is compared and accepted as the front is, under the name that a check gives it", async () => {
  const sheet = ".card { position: absolute; inset: 0; background: #fff; color: #000 }";
  const html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Back</title><link rel="stylesheet" href="back.css"></head>
<body><main class="card"><p data-text="player.name">Maya</p></main></body></html>`;
  writeFileSync(join(dir(), "back.css"), sheet);
  writeFileSync(join(dir(), "back.html"), html);
  const name = "first@portrait.back";
  await page.goto(`${server.url}?view=compare&sample=first&size=portrait`);
  await until(`document.querySelector('[data-accept="${name}"]')`);
  await click(`[data-accept="${name}"]`);
  await until(`document.querySelector('[data-state="same"] [data-golden="${name}"]')`);
  expect(readdirSync(join(dir(), "golden"))).toContain(`${name}.webp`);

  writeFileSync(join(dir(), "back.css"), `${sheet} p { font-size: 90px; colr: red }`);
  await until(`document.querySelector('[data-state="changed"] [data-golden="${name}"]')`);
  await click(`[data-golden="${name}"]`);
  await until("document.querySelector('[data-value=back][aria-pressed=true]')");
  await until(`document.querySelector('[aria-current=true] > [data-golden="${name}"]')`);
  expect((await page.$$(".goldens [aria-current]")).length).toBe(1);
  await until("/^[\\d.]+ % of the pixels changed/.test(document.querySelector('.verdict').textContent)");
  await click("#accept-all");
  await until("document.querySelector('#accept-all').disabled");
  const states = await studio.goldens("my_card");
  expect(states.filter(({ state }) => state !== "same")).toEqual([]);
  expect(states.filter(({ name }) => name.endsWith(".back")).length).toBe(states.length / 2);
  expect(await studio.style("my_card")).toMatchObject([{ file: "back.css", line: 1 }]);

  for (const file of ["back.html", "back.css"]) await rm(join(dir(), file));
  await until("!document.querySelector('[data-value=back]')");
  await expect(studio.accept({ template: "my_card", names: [name] })).rejects.toThrow(
    `There is no sample, size and side "${name}".`,
  );
});

test("the page never complained", () => {
  expect(complaints).toEqual([]);
});
