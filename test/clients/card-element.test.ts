import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { join } from "node:path";
import axe from "axe-core";
import type { Page } from "puppeteer-core";
import { renderNextImage } from "../../src/app/images/render-image.ts";
import { webm } from "../../src/render/card/formats/webm.ts";
import { buildDeps } from "../../src/service/deps.ts";
import { type TestBrowser, testBrowser } from "../console/browser.ts";
import { poolOf, RENDERED } from "../fakes.ts";
import { get, imageRequest, post, testAccount } from "../harness.ts";
import { finishAsVideo, type Json, type TestApi, testApi } from "../http/api.ts";

// <cardpress-card> as others have it: loaded from the service by a page of another origin, whose policy
// allows the service's script and pictures and nothing else.

/** What a page may weigh more for it. */
const MAX_GZIP_BYTES = 12_000;

const PICTURE = join(import.meta.dir, "../../templates/club_card/golden/gold@portrait.webp");

let api: TestApi;
let stranger: ReturnType<typeof Bun.serve>;
let browser: TestBrowser;
let page: Page;
let complaints: string[];
let front: string;
let back: string;
/** The address of the card's own page. */
let share: string;
/** The body of the stranger's page. */
let body = "";
beforeAll(async () => {
  api = await testApi();
  const { liveKey } = await testAccount(api, { credits: 1 });
  const made = await post(
    api.baseUrl,
    liveKey,
    imageRequest({ player: { source_image_url: api.photo }, style: { preset: "club_card", back: true } }),
  );
  const pool = poolOf(async ({ outputPath }) => {
    await Bun.write(outputPath, Bun.file(PICTURE));
    return { kind: "done", file: { ...RENDERED, contentType: "image/webp", width: 1024, height: 1280 } };
  });
  await renderNextImage(buildDeps(api, { pool }), new AbortController().signal, () => {});
  const path = `/v1/images/${((await made.json()) as Json).data.image_id}`;
  const { result } = ((await (await get(api.baseUrl, liveKey, path)).json()) as Json).data;
  front = api.baseUrl + new URL(result.image_url).pathname;
  back = api.baseUrl + new URL(result.back_url).pathname;
  share = api.baseUrl + new URL(result.share_url).pathname;
  stranger = Bun.serve({
    port: 0,
    fetch: () =>
      new Response(
        `<!doctype html><html lang="en"><title>Club</title><script type="module" src="${api.baseUrl}/elements/cardpress-card.js"></script>
         <main><h1>Squad</h1>${body}<p id="below">Below</p></main>`,
        {
          headers: {
            "Content-Type": "text/html",
            "Content-Security-Policy": `default-src 'none'; script-src ${api.baseUrl}; img-src ${api.baseUrl}; frame-src ${api.baseUrl}; require-trusted-types-for 'script'`,
          },
        },
      ),
  });
  browser = await testBrowser();
  ({ page, complaints } = await browser.open());
  await page.evaluateOnNewDocument(() => {
    const own = requestAnimationFrame;
    const counted = window as Json;
    counted.frames = 0;
    window.requestAnimationFrame = (callback) =>
      own((now) => {
        counted.frames++;
        callback(now);
      });
    counted.shift = 0;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) counted.shift += (entry as Json).value;
    }).observe({ type: "layout-shift", buffered: true });
  });
});
afterAll(async () => {
  await Promise.all([browser?.close(), stranger?.stop(true), api?.close()]);
});
beforeEach(async () => {
  complaints.length = 0;
  await page.emulateMediaFeatures([{ name: "prefers-reduced-motion", value: "no-preference" }]);
});

const card = (more = `back="${back}"`) =>
  `<cardpress-card ${more}><img src="${front}" alt="The card of Maya Okafor" width="256" height="320"></cardpress-card>`;

async function show(html: string) {
  body = html;
  await page.mouse.move(0, 0);
  await page.goto(stranger.url.href, { waitUntil: "networkidle0" });
}

/** What stands in the element's own tree. */
const inside = (selector: string) =>
  page.evaluate((wanted) => {
    const found = document.querySelector("cardpress-card")?.shadowRoot?.querySelector(wanted) as HTMLElement;
    return {
      transform: found?.style.transform,
      opacity: found?.style.opacity,
      mask: found?.style.maskImage,
      visibility: found?.style.visibility,
      pressed: found?.ariaPressed,
      label: found?.ariaLabel,
    };
  }, selector);
const transform = async () => (await inside(".card")).transform;

const until = (text: string) => page.waitForFunction(text, { polling: 20 });
/** How long a touch and what comes of it may take before it counts as lost. */
const TOUCH_MS = 30_000;
const soon = (text: string) => page.waitForFunction(text, { polling: 20, timeout: TOUCH_MS });
const CARD = `document.querySelector("cardpress-card").shadowRoot.querySelector(".card")`;
const FLAT = `${CARD}.style.transform === ""`;

/** Where the element is on the screen. */
const middle = async () => {
  const { x, y, width, height } = (await (await page.$("cardpress-card"))?.boundingBox()) ?? {};
  return { x: (x ?? 0) + (width ?? 0) / 2, y: (y ?? 0) + (height ?? 0) / 2 };
};

/** Resolves once the element knows that it is seen: its own observer is the older one, and called first. */
const isSeen = () =>
  page.evaluate(
    () =>
      new Promise<void>((resolve) => {
        const card = document.querySelector("cardpress-card") as Element;
        new IntersectionObserver(() => resolve()).observe(card);
      }),
  );

test("its address leads to a version that browsers keep for good, small, and for any page", async () => {
  const stable = await fetch(`${api.baseUrl}/elements/cardpress-card.js`, { redirect: "manual" });
  const address = stable.headers.get("location") ?? "";
  expect([stable.status, address]).toEqual([
    302,
    expect.stringMatching(/^\/elements\/cardpress-card-[0-9a-f]{16}\.js$/),
  ]);
  const kept = await fetch(api.baseUrl + address);
  expect(Object.fromEntries(kept.headers)).toMatchObject({
    "cache-control": "public, max-age=31536000, immutable",
    "access-control-allow-origin": "*",
    "cross-origin-resource-policy": "cross-origin",
    "content-type": "text/javascript; charset=utf-8",
  });
  expect(Bun.gzipSync(await kept.bytes(), { level: 9 }).length).toBeLessThan(MAX_GZIP_BYTES);
  const etag = kept.headers.get("etag") ?? "";
  expect((await fetch(api.baseUrl + address, { headers: { "If-None-Match": etag } })).status).toBe(304);
  // A page written before an upgrade of the service goes on.
  const former = await fetch(`${api.baseUrl}/elements/cardpress-card-0123456789abcdef.js`);
  expect([former.status, former.url]).toEqual([200, api.baseUrl + address]);
  expect(stable.headers.get("access-control-allow-origin")).toBe("*");
  expect((await fetch(`${api.baseUrl}/elements/other.js`)).status).toBe(404);
});

test("its layers lie still as the card does, and move the further the nearer they are when it tilts", async () => {
  await show(card(`layers="${front} ${front}?w=512 ${front}?w=256"`));
  await until(`${CARD}.querySelectorAll(".layered .layers > img").length === 3`);
  const places = () =>
    page.$$eval("cardpress-card", ([element]) =>
      [...(element?.shadowRoot?.querySelectorAll<HTMLElement>(".layers > img") ?? [])].map((layer) => {
        const { a, e } = new DOMMatrix(getComputedStyle(layer).transform);
        return [a, e] as const;
      }),
    );
  expect(await places()).toEqual([
    [1, 0],
    [1, 0],
    [1, 0],
  ]);
  const { x, y } = await middle();
  await page.mouse.move(x + 100, y);
  await until(`/rotateY\\((\\d{2}|[5-9])/.test(${CARD}.style.transform)`);
  const [back, between, nearest] = await places();
  expect(back).toEqual([1, 0]);
  expect(Math.abs(nearest?.[1] ?? 0)).toBeGreaterThan(1.5 * Math.abs(between?.[1] ?? 0));
  await page.mouse.move(0, 0);
  await until(FLAT);
});

test("a pointer tilts it under a stranger's strict policy, and nothing is drawn once it lies flat again", async () => {
  await show(card());
  expect(await transform()).toBe("");
  const { x, y } = await middle();
  await page.mouse.move(x + 100, y - 120);
  await until(`/rotateY\\((\\d{2}|[5-9])/.test(${CARD}.style.transform)`);
  expect(await transform()).toMatch(/^rotateX\([1-9][\d.]*deg\) rotateY\([1-9][\d.]*deg\) scale\(1\.0/);
  expect(Number((await inside(".foil")).opacity)).toBeGreaterThan(0);
  await page.mouse.move(0, 0);
  await until(FLAT);
  const frames = await page.evaluate(async () => {
    const before = (window as Json).frames;
    // Two frames of our own are counted too.
    for (let i = 0; i < 2; i++) await new Promise((resolve) => requestAnimationFrame(resolve));
    return (window as Json).frames - before;
  });
  expect(frames).toBe(2);
  expect(complaints).toEqual([]);
});

test("light falls on the card's shape alone, also where the picture is still to come", async () => {
  const fresh = `${front}?w=512`;
  await show(`<cardpress-card><img src="${fresh}" alt="Maya" width="256" height="320"></cardpress-card>`);
  for (const part of [".foil", ".glare"]) expect((await inside(part)).mask).toBe(`url("${fresh}")`);
});

test("masks and layers are fetched once their card is seen, but not where motion is to be reduced", async () => {
  const asked: string[] = [];
  const note = (request: { url(): string }) => void asked.push(new URL(request.url()).search);
  page.on("request", note);
  const dressed = (name: string) => card(`layers="${front}?${name}-layer" foil-mask="${front}?${name}-mask"`);
  const parts = (name: string) => asked.filter((query) => query.startsWith(`?${name}-`)).sort();
  const both = (name: string) => [`?${name}-layer`, `?${name}-mask`];
  const requests = (name: string) =>
    both(name).map((query) => page.waitForRequest((request) => request.url().endsWith(query)));
  // Who asks last where cards are is answered last.
  const placed = () =>
    page.$$eval("cardpress-card", (cards) =>
      Promise.all(
        cards.map((one) => new Promise<void>((done) => new IntersectionObserver(() => done()).observe(one))),
      ),
    );

  const first = requests("near");
  await show(`${dressed("near")}${"<p>Text</p>".repeat(300)}${dressed("far")}`);
  await Promise.all([...first, placed()]);
  expect(parts("far")).toEqual([]);
  const coming = requests("far");
  await page.evaluate(() => document.querySelectorAll("cardpress-card")[1]?.scrollIntoView());
  await Promise.all(coming);

  await page.emulateMediaFeatures([{ name: "prefers-reduced-motion", value: "reduce" }]);
  await show(dressed("calm"));
  await placed();
  expect(parts("calm")).toEqual([]);
  const wanted = requests("calm");
  await page.emulateMediaFeatures([{ name: "prefers-reduced-motion", value: "no-preference" }]);
  await Promise.all(wanted);
  page.off("request", note);
});

// Now and then the headless shell loses a touch for good, and never says that it has had it: then once more.
test("a finger's drag across tilts it, and a tap turns it over", { retry: 3 }, async () => {
  await show(card());
  const { x, y } = await middle();
  const devtools = await page.createCDPSession();
  const finger = (
    type: "touchStart" | "touchMove" | "touchEnd",
    ...touchPoints: Record<"x" | "y", number>[]
  ) =>
    devtools.send("Input.dispatchTouchEvent", { type, touchPoints }, { timeout: TOUCH_MS }).catch(() => {});
  await finger("touchStart", { x, y });
  await finger("touchMove", { x: x + 90, y });
  await soon(`/rotateY\\([1-9]/.test(${CARD}.style.transform)`);
  await finger("touchEnd");
  await soon(FLAT);
  // Both at once: on a busy machine the finger would else stay long enough to ask for a menu.
  await Promise.all([finger("touchStart", { x, y }), finger("touchEnd")]);
  await devtools.detach();
  await soon(`${CARD}.style.transform.includes("rotateY(180deg)")`);
});

test("it leans as a phone is turned, from however it is held, but not where motion is to be reduced", async () => {
  // The headless shell has no sensors, nor virtual ones.
  const hold = (beta: number, gamma: number) =>
    page.evaluate((how) => void dispatchEvent(new DeviceOrientationEvent("deviceorientation", how)), {
      alpha: 0,
      beta,
      gamma,
    });
  await page.setViewport({ width: 390, height: 844, isMobile: true, hasTouch: true });
  await show(`${card()}${"<p>Text</p>".repeat(300)}${card()}`);
  await isSeen();
  await hold(50, 10);
  expect(await transform()).toBe("");
  await hold(50, 25);
  await until(`/rotateY\\([5-9]/.test(${CARD}.style.transform)`);
  await hold(35, 10);
  await until(`/rotateX\\([5-9]/.test(${CARD}.style.transform)`);
  // Only what is seen leans.
  const last = `[...document.querySelectorAll("cardpress-card")].at(-1).shadowRoot.querySelector(".card")`;
  expect(await page.evaluate(`${last}.style.transform`)).toBe("");
  await page.emulateMediaFeatures([{ name: "prefers-reduced-motion", value: "reduce" }]);
  await until(FLAT);
  await hold(60, 30);
  expect(await transform()).toBe("");
  await page.setViewport({ width: 1280, height: 900 });
});

test("the button and the keys turn it over, which is said, and its back is fetched only then", async () => {
  const asked: string[] = [];
  const note = (request: { url(): string }) => void asked.push(request.url());
  await show(card());
  page.on("request", note);
  await page.evaluate(() => {
    (window as Json).turns = [];
    document.addEventListener("cardpress-flip", (event) =>
      (window as Json).turns.push((event as Json).detail.flipped),
    );
  });
  expect(await inside(".flip")).toMatchObject({ pressed: "false", label: "Show the back" });
  const hidden = async () => [(await inside(".face")).visibility, (await inside(".back")).visibility];
  expect(await hidden()).toEqual(["", "hidden"]);
  expect((await inside(".card")).label).toBe("The card of Maya Okafor");
  expect(asked).toEqual([]);
  await page.keyboard.press("Tab");
  await page.keyboard.press("ArrowRight");
  await until(`/rotateY\\([1-9]/.test(${CARD}.style.transform)`);
  await page.keyboard.press("Enter");
  await until(`${CARD}.style.transform.includes("rotateY(18")`);
  expect(asked).toContain(back);
  expect((await inside(".card")).label).toBe("The card of Maya Okafor: the back");
  expect((await inside(".flip")).pressed).toBe("true");
  expect(await hidden()).toEqual(["hidden", ""]);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Space");
  await until(FLAT);
  expect(await page.evaluate(() => (window as Json).turns)).toEqual([true, false]);
  expect((await inside(".flip")).pressed).toBe("false");
  page.off("request", note);
});

test("for who asks for reduced motion it stands still, and turns over at once", async () => {
  await page.emulateMediaFeatures([{ name: "prefers-reduced-motion", value: "reduce" }]);
  await show(card());
  const { x, y } = await middle();
  await page.mouse.move(x + 100, y - 120);
  await page.mouse.click(x, y);
  expect(await transform()).toBe("rotateX(0deg) rotateY(180deg) scale(1)");
  expect(await page.evaluate(() => (window as Json).frames)).toBe(0);
});

test("without script its picture stands in the page", async () => {
  await page.setJavaScriptEnabled(false);
  await show(card());
  const size = await (await page.$("cardpress-card img"))?.boundingBox();
  await page.setJavaScriptEnabled(true);
  expect(size).toMatchObject({ width: 256, height: 320 });
});

test("with an address alone it shows the picture in its place, and without a back it does not turn over", async () => {
  await show(
    `<cardpress-card src="${front}" alt="Maya" width="256" height="320" foil="sparkle"></cardpress-card>`,
  );
  const size = await (await page.$("cardpress-card"))?.boundingBox();
  expect(size).toMatchObject({ width: 256, height: 320 });
  const { x, y } = await middle();
  await page.mouse.click(x, y);
  await page.mouse.move(0, 0);
  await until(FLAT);
  expect(
    await page.evaluate(() => document.querySelector("cardpress-card")?.shadowRoot?.querySelector("button")),
  ).toBeNull();
  await page.evaluate(() => document.querySelector("cardpress-card")?.setAttribute("alt", "Noor"));
  expect((await inside(".card")).label).toBe("Noor");
});

test("fifty cards shift nothing as they come alive, and the one under the pointer moves alone", async () => {
  await show(Array.from({ length: 50 }, () => card("")).join(" "));
  const state = () =>
    page.evaluate(() => {
      const cards = [...document.querySelectorAll("cardpress-card")];
      const leaning = cards.filter(
        (one) => one.shadowRoot?.querySelector<HTMLElement>(".card")?.style.transform,
      );
      const widths = [...new Set(cards.map((one) => one.getBoundingClientRect().width))];
      return { cards: cards.length, leaning: leaning.length, shift: (window as Json).shift, widths };
    });
  expect(await state()).toEqual({ cards: 50, leaning: 0, shift: 0, widths: [256] });
  const { x, y } = await middle();
  await page.mouse.move(x + 60, y);
  await until(`/rotateY\\([1-9]/.test(${CARD}.style.transform)`);
  expect(await state()).toEqual({ cards: 50, leaning: 1, shift: 0, widths: [256] });
});

test("its own page and the frame of it in a stranger's page show it alive, whole, under their own policies", async () => {
  for (const width of [390, 1280]) {
    await page.setViewport({ width, height: 800 });
    await page.goto(share, { waitUntil: "networkidle0" });
    await page.evaluate(axe.source);
    const found = await page.evaluate(async () =>
      (await (window as Json).axe.run()).violations.map(({ id }: Json) => id),
    );
    expect(found).toEqual([]);
    const { x, y } = await middle();
    await page.mouse.move(x + 60, y);
    await until(`/rotateY\\([1-9]/.test(${CARD}.style.transform)`);
    await page.mouse.move(0, 0);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
  }
  await show(`<iframe src="${share}/embed" width="300" height="375" title="Card"></iframe>`);
  const frame = page.frames().find((one) => one.url().endsWith("/embed"));
  const box = await frame?.evaluate(() => {
    const card = document.querySelector("cardpress-card")?.shadowRoot?.querySelector(".card");
    const { width = 0, height = 0, top = 0 } = card?.getBoundingClientRect() ?? {};
    const { scrollHeight, scrollWidth } = document.documentElement;
    return {
      shape: (width / height).toFixed(2),
      isWide: width > 200,
      isWhole: top > 0,
      scrollHeight,
      scrollWidth,
    };
  });
  expect(box).toEqual({ shape: "0.80", isWide: true, isWhole: true, scrollHeight: 375, scrollWidth: 300 });
  expect(complaints).toEqual([]);
});

/** A video of two seconds, made by the browser that is to play it. */
async function smallVideo(): Promise<Uint8Array> {
  await page.goto(share);
  const chunks = await page.evaluate(async () => {
    const found: string[] = [];
    const encoder = new VideoEncoder({
      output: (chunk) => {
        const bytes = new Uint8Array(chunk.byteLength);
        chunk.copyTo(bytes);
        found.push(btoa(String.fromCharCode(...bytes)));
      },
      error: (error) => found.push(String(error)),
    });
    encoder.configure({ codec: "vp09.00.40.08", width: 256, height: 320, framerate: 25 });
    const canvas = new OffscreenCanvas(256, 320);
    canvas.getContext("2d")?.fillRect(0, 0, 256, 320);
    for (let at = 0; at < 50; at++) {
      const frame = new VideoFrame(canvas, { timestamp: at * 40_000 });
      encoder.encode(frame, { keyFrame: at === 0 });
      frame.close();
    }
    await encoder.flush();
    return found;
  });
  const frames = chunks.map((text, at) => ({ bytes: Uint8Array.fromBase64(text), isKey: at === 0 }));
  return webm({
    width: 256,
    height: 320,
    framesPerSecond: 25,
    frames,
    still: await Bun.file(PICTURE).bytes(),
  });
}

/** The page of a video's card, which has a place in a set where one is named. */
async function filmPage(key: string, set?: { id: string; parallel: string }): Promise<string> {
  const video = await smallVideo();
  await post(api.baseUrl, key, { ...imageRequest({ style: { format: "webm" } }), ...(set && { set }) });
  const path = `/v1/images/${await finishAsVideo(api, video)}`;
  const { result } = ((await (await get(api.baseUrl, key, path)).json()) as Json).data;
  return api.baseUrl + new URL(result.share_url).pathname;
}

test("a video plays by itself on its page and in a frame, and stands still with controls for less motion", async () => {
  const { testKey } = await testAccount(api);
  const own = await filmPage(testKey);
  const VIDEO = `document.querySelector("video")`;
  for (const address of [own, `${own}/embed`]) {
    await page.goto(address);
    await until(`${VIDEO}.currentTime > 0 && !${VIDEO}.controls`);
    await page.hover("video");
    await until(`${VIDEO}.controls && !${VIDEO}.paused`);
    await page.mouse.move(0, 0);
    await until(`!${VIDEO}.controls`);
  }
  await page.emulateMediaFeatures([{ name: "prefers-reduced-motion", value: "reduce" }]);
  await page.goto(own, { waitUntil: "networkidle0" });
  expect(
    await page.$eval("video", ({ paused, controls, muted, currentTime }) => ({
      paused,
      controls,
      muted,
      currentTime,
    })),
  ).toEqual({ paused: true, controls: true, muted: true, currentTime: 0 });
  await page.evaluate(axe.source);
  const found = await page.evaluate(async () =>
    (await (window as Json).axe.run()).violations.map(({ id }: Json) => id),
  );
  expect(found).toEqual([]);
  expect(complaints).toEqual([]);
});

test("a gallery shows of a video its still, alive or without script, and leads to where it plays", async () => {
  const { testKey } = await testAccount(api);
  const call = async (method: string, path: string, content: object) => {
    const headers = { "Content-Type": "application/json", "X-API-Key": testKey };
    const answer = await fetch(api.baseUrl + path, { method, headers, body: JSON.stringify(content) });
    return ((await answer.json()) as Json).data;
  };
  const { set_id: id } = await call("POST", "/v1/sets", {
    name: "Rovers",
    parallels: [{ name: "base", size: null }],
    players: [{ external_id: "player-1", name: "Maya Okafor" }],
  });
  const own = await filmPage(testKey, { id, parallel: "base" });
  const { gallery_url } = await call("PATCH", `/v1/sets/${id}`, { gallery: true });
  const gallery = api.baseUrl + new URL(gallery_url).pathname;
  const still = () =>
    page.$eval("cardpress-card img", (image) => {
      const { complete, naturalWidth, width } = image as HTMLImageElement;
      return { isThere: complete && naturalWidth > 0, isWide: width > 100 };
    });
  await page.setJavaScriptEnabled(false);
  await page.goto(gallery, { waitUntil: "networkidle0" });
  expect(await still()).toEqual({ isThere: true, isWide: true });
  await page.setJavaScriptEnabled(true);
  await page.goto(gallery, { waitUntil: "networkidle0" });
  expect(await still()).toEqual({ isThere: true, isWide: true });
  expect(await page.$("video")).toBeNull();
  const { x, y } = await middle();
  await page.mouse.move(x + 60, y);
  await until(`/rotateY\\([1-9]/.test(${CARD}.style.transform)`);
  await page.mouse.move(0, 0);
  const caption = await page.$eval("a.caption", (link) => [
    (link as HTMLAnchorElement).href,
    link.textContent,
  ]);
  expect(caption).toEqual([expect.stringMatching(new URL(own).pathname), "Maya Okaforbase · Video"]);
  expect(complaints).toEqual([]);
});

test("axe finds nothing in it", async () => {
  await show(card());
  await page.evaluate(axe.source);
  const found = await page.evaluate(async () =>
    (await (window as Json).axe.run()).violations.map(({ id }: Json) => id),
  );
  expect(found).toEqual([]);
});
