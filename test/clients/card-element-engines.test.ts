import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { PNG } from "pngjs";
import { answerCardElement } from "../../src/web/card-element.ts";
import { ENGINES, type Engine } from "./engines.ts";

// <cardpress-card> in the engines that are not Chromium's, in the page of a club whose policy allows its
// script and its pictures and nothing else.

const [WIDTH, HEIGHT] = [256, 320];
type Colour = readonly [red: number, green: number, blue: number];
const GREEN: Colour = [0, 120, 0];
const RED: Colour = [200, 0, 0];
const BLUE: Colour = [0, 0, 200];
const ORANGE: Colour = [220, 140, 0];
const GROUND: Colour = [255, 255, 255];

/** A picture in two colours, so that it is not its own reflection. */
function halves(left: Colour, right: Colour): Uint8Array<ArrayBuffer> {
  const picture = new PNG({ width: WIDTH, height: HEIGHT });
  for (let at = 0; at < WIDTH * HEIGHT; at++)
    picture.data.set([...(at % WIDTH < WIDTH / 2 ? left : right), 255], at * 4);
  return new Uint8Array(PNG.sync.write(picture));
}
const PICTURES: Record<string, Uint8Array<ArrayBuffer>> = {
  "/front.png": halves(GREEN, RED),
  "/back.png": halves(BLUE, ORANGE),
};

let cards: ReturnType<typeof Bun.serve>;
let club: ReturnType<typeof Bun.serve>;
/** What the club's page was refused by its policy. */
let refused: string[];
let onViolation: () => void;
beforeAll(() => {
  cards = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request) => {
      const url = new URL(request.url);
      const picture = PICTURES[url.pathname];
      const headers = { "Access-Control-Allow-Origin": "*", "Content-Type": "image/png" };
      if (picture) return new Response(picture, { headers });
      return answerCardElement(request, url, {}) ?? new Response(null, { status: 404 });
    },
  });
  club = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request) => {
      const { pathname, searchParams } = new URL(request.url);
      if (pathname === "/refused") {
        refused.push(await request.text());
        onViolation();
        return new Response(null, { status: 204 });
      }
      return new Response(clubPage(searchParams.get("body") ?? ""), {
        headers: {
          "Content-Type": "text/html; charset=utf-8",
          "Content-Security-Policy": `default-src 'none'; script-src ${searchParams.has("script") ? cards.url.origin : "'none'"}; img-src ${cards.url.origin}; report-uri /refused`,
        },
      });
    },
  });
});
afterAll(() => Promise.all([cards?.stop(true), club?.stop(true)]));

const clubPage = (body: string) =>
  `<!doctype html><html lang="en"><title>Club</title><link rel="icon" href="${cards.url.origin}/front.png"><script type="module" src="${cards.url.origin}/elements/cardpress-card.js"></script>${body}<p id="below">Below</p>`;

const card = () =>
  `<cardpress-card back="${cards.url.origin}/back.png"><img src="${cards.url.origin}/front.png" alt="Maya" width="${WIDTH}" height="${HEIGHT}"></cardpress-card>`;

const CARD = `document.querySelector("cardpress-card").shadowRoot.querySelector(".card")`;
const BOX = `const { x, y, width, height } = document.querySelector("cardpress-card").getBoundingClientRect()`;
const PLACES = `return [...document.querySelectorAll("img, #below")].map((element) => {
  const { x, y, width, height } = element.getBoundingClientRect();
  return [x, y, width, height];
})`;

for (const [name, start] of Object.entries(ENGINES))
  describe.skipIf(!start)(`in ${name}`, () => {
    let engine: Engine;
    beforeAll(async () => {
      engine = await (start as () => Promise<Engine>)();
    });
    afterAll(() => engine?.close());

    async function show(body: string, isAlive = true) {
      refused = [];
      onViolation = () => {};
      const query = new URLSearchParams({ body, ...(isAlive && { script: "yes" }) });
      await engine.open(`${club.url}?${query}`);
      await until(`[...document.images].every((one) => one.complete)`);
      if (isAlive) await until(`${CARD} !== undefined`);
    }

    /** The test's own time-out bounds it. */
    async function until(condition: string) {
      while (!(await engine.run(`try { return ${condition}; } catch { return false; }`)));
    }

    /** A place on the card, from -1 to 1 across and down. */
    async function at(across: number, down: number) {
      const [x, y, width, height] = await engine.run(`${BOX}; return [x, y, width, height]`);
      return {
        x: Math.round(x + ((across + 1) / 2) * width),
        y: Math.round(y + ((down + 1) / 2) * height),
      };
    }
    const point = async (across: number, down: number) =>
      engine.act("mouse", [{ type: "pointerMove", duration: 0, ...(await at(across, down)) }]);
    const leave = () => engine.act("mouse", [{ type: "pointerMove", duration: 0, x: 900, y: 600 }]);
    const press = (key: string) =>
      engine.act("key", [
        { type: "keyDown", value: key },
        { type: "keyUp", value: key },
      ]);
    const transform = () => engine.run(`return ${CARD}.style.transform`);
    /** Nothing moves any more: the browser no longer keeps the card ready for it. */
    const rests = (how: string) =>
      until(`${CARD}.style.willChange === "" && ${CARD}.style.transform.includes("${how}")`);

    /** The card's colours left and right of its middle. */
    async function colours() {
      const picture = await engine.look();
      const scale = picture.width / (await engine.run("return innerWidth"));
      const places = await Promise.all([at(-0.5, 0), at(0.5, 0)]);
      return places.map(({ x, y }) => {
        const from = (Math.round(y * scale) * picture.width + Math.round(x * scale)) * 4;
        return nearest([...picture.data.subarray(from, from + 3)]);
      });
    }

    /** The same once the page is painted: WebKit answers before that. */
    async function painted() {
      for (;;) {
        const seen = await colours();
        if (!seen.includes("ground")) return seen;
      }
    }

    test("its picture stands without script, and nothing shifts where there is one", async () => {
      const body = Array.from({ length: 50 }, card).join(" ");
      await show(body, false);
      expect(await engine.run(`return document.querySelector("cardpress-card").shadowRoot`)).toBeNull();
      expect(await painted()).toEqual(["green", "red"]);
      const places = await engine.run(PLACES);
      expect(places[0].slice(2)).toEqual([WIDTH, HEIGHT]);
      await show(body);
      expect(await engine.run(PLACES)).toEqual(places);
      expect(await painted()).toEqual(["green", "red"]);
    });

    test("of fifty cards the one under a pointer leans alone, is seen all the while, and lies flat again", async () => {
      await show(Array.from({ length: 50 }, card).join(" "));
      await point(0.8, -0.8);
      const seen = new Set<string>();
      while (!/rotateY\((1\d|[5-9])/.test(await transform())) seen.add((await colours()).join());
      expect([...seen].filter((one) => one !== "green,red")).toEqual([]);
      expect(await transform()).toMatch(/^rotateX\([1-9][\d.]*deg\) rotateY\([1-9][\d.]*deg\) scale\(1\.0/);
      const leaning = `return [...document.querySelectorAll("cardpress-card")].filter((one) => one.shadowRoot.querySelector(".card").style.transform).length`;
      expect(await engine.run(leaning)).toBe(1);
      await leave();
      await until(`${CARD}.style.transform === ""`);
    });

    test("a click and a key turn it over to its back, which is not mirrored, under the club's policy", async () => {
      await show(card());
      await engine.run(`document.querySelector("cardpress-card").shadowRoot.querySelector(".card").focus()`);
      await press("\uE007");
      await rests("rotateY(180deg)");
      expect(await colours()).toEqual(["blue", "orange"]);
      await press(" ");
      await until(`${CARD}.style.transform === ""`);
      expect(await colours()).toEqual(["green", "red"]);
      await engine.act("mouse", [
        { type: "pointerMove", duration: 0, ...(await at(0, 0)) },
        { type: "pointerDown", button: 0 },
        { type: "pointerUp", button: 0 },
      ]);
      await leave();
      await rests("rotateY(180deg)");
      // The policy refuses what it does not know, and says so; nothing was before.
      const violation = Promise.withResolvers<void>();
      onViolation = violation.resolve;
      await engine.run(`document.body.append(Object.assign(new Image(), { src: "/forbidden.png" }))`);
      await violation.promise;
      expect(refused).toEqual([expect.stringContaining("/forbidden.png")]);
    });

    // WebKit's driver makes a finger a mouse.
    test.skipIf(name === "WebKit")("a finger's drag across tilts it, and a tap turns it over", async () => {
      await show(card());
      const finger = (...actions: object[]) => engine.act("touch", actions);
      await finger(
        { type: "pointerMove", duration: 0, ...(await at(0, 0)) },
        { type: "pointerDown", button: 0 },
        { type: "pointerMove", duration: 0, ...(await at(0.7, 0)) },
      );
      await until(`/rotateY\\([1-9]/.test(${CARD}.style.transform)`);
      await finger({ type: "pointerUp", button: 0 });
      await until(`${CARD}.style.transform === ""`);
      await finger(
        { type: "pointerMove", duration: 0, ...(await at(0, 0)) },
        { type: "pointerDown", button: 0 },
        { type: "pointerUp", button: 0 },
      );
      await rests("rotateY(180deg)");
    });

    test("for who asks for reduced motion it stands still, and turns over at once", async () => {
      await engine.reduceMotion();
      await show(card());
      await point(0.8, -0.8);
      expect(await transform()).toBe("");
      await engine.act("mouse", [
        { type: "pointerDown", button: 0 },
        { type: "pointerUp", button: 0 },
      ]);
      expect(await transform()).toBe("rotateX(0deg) rotateY(180deg) scale(1)");
    });
  });

/** The name of the colour that this is most like. */
function nearest(colour: number[]): string {
  const far = (other: Colour) =>
    other.reduce((sum, value, i) => sum + (value - (colour[i] as number)) ** 2, 0);
  const names = { green: GREEN, red: RED, blue: BLUE, orange: ORANGE, ground: GROUND };
  return Object.entries(names).reduce((a, b) => (far(b[1]) < far(a[1]) ? b : a))[0];
}
