import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Browser, Page } from "puppeteer-core";
import { openCardPage } from "../../../src/render/card/page.ts";
import { loadTemplate } from "../../../src/templates/load.ts";
import { closePages, openBrowser } from "./cards.ts";

let browser: Browser;
let page: Page;

beforeAll(async () => {
  browser = await openBrowser();
  await openCardPage(browser, await loadTemplate("club_card"));
  page = (await browser.pages()).at(-1) as Page;
});
afterAll(closePages);

/** The colours of a window of 400 x 500 pixels after its wall was lit: a shirt fills the lower middle. */
const litBefore = (wall: string, shirt: string) =>
  page.evaluate(
    async (colours) => {
      const module = "/card/page/studio-light.ts";
      const { lightPaleWall } = (await import(
        module
      )) as typeof import("../../../src/render/card/page/studio-light.ts");
      const [width, height] = [400, 500];
      const context = new OffscreenCanvas(width, height).getContext(
        "2d",
      ) as OffscreenCanvasRenderingContext2D;
      context.fillStyle = colours.wall;
      context.fillRect(0, 0, width, height);
      context.fillStyle = colours.shirt;
      context.fillRect(100, 150, 200, 350);
      const canvas = new OffscreenCanvas(200, 350);
      (canvas.getContext("2d") as OffscreenCanvasRenderingContext2D).fillRect(0, 0, 200, 350);
      const silhouette = canvas.transferToImageBitmap();
      const isLit = lightPaleWall(context, silhouette, {
        window: { x: 0, y: 0, width, height },
        player: { x: 100, y: 150, width: 200, height: 350 },
        face: { x: 170, y: 90, width: 60, height: 60 },
      });
      const at = (x: number, y: number) => [...context.getImageData(x, y, 1, 1).data.subarray(0, 3)];
      return { isLit, head: at(200, 110), corner: at(0, 499), shirt: at(200, 400), foot: at(200, 497) };
    },
    { wall, shirt },
  );

test("a white wall falls off to a cool grey, bright behind the head, and the player stays as in the photo", async () => {
  const { isLit, head, corner, shirt, foot } = await litBefore("#ffffff", "#a02030");
  expect(isLit).toBeTrue();
  for (const channel of head) expect(channel).toBeGreaterThan(250);
  const [red = 0, , blue = 0] = corner;
  expect(red).toBeLessThan(165);
  expect(blue - red).toBeGreaterThan(10);
  expect(shirt).toEqual([0xa0, 0x20, 0x30]);
  expect(foot).toEqual([0xa0, 0x20, 0x30]);
});

test("a wall in a colour, and a dark one, are left as they are", async () => {
  for (const wall of ["#3a6ea5", "#f0c060", "#303030"]) {
    const { isLit, corner } = await litBefore(wall, "#ffffff");
    expect([wall, isLit, `#${corner.map((each) => each.toString(16).padStart(2, "0")).join("")}`]).toEqual([
      wall,
      false,
      wall,
    ]);
  }
});
