import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Browser } from "puppeteer-core";
import { openPreviews, type Previews } from "../../../src/render/preview/previews.ts";
import { ownTemplate, type TestFolder, testFolder } from "../../harness.ts";
import { cardInput, closePages, openBrowser } from "../card/cards.ts";
import { openPixelLab, type PixelLab } from "../pixels.ts";

let browser: Browser;
let lab: PixelLab;
let previews: Previews;
let folder: TestFolder;
let dir: string;
beforeAll(async () => {
  browser = await openBrowser();
  lab = await openPixelLab(browser);
  folder = testFolder();
  dir = join(folder.dir, "two_sided");
  await mkdir(folder.dir, { recursive: true });
  await ownTemplate(folder.dir, "two_sided");
  const unused = () => Promise.reject(new Error("these cards have no pictures"));
  previews = openPreviews(browser, { cutOut: unused, readPicture: unused, readPictures: async () => ({}) });
});
afterAll(async () => {
  await closePages();
  folder.remove();
});

const card = cardInput({ width: 512, height: 640, format: "png" });
async function preview(side: "front" | "back") {
  const outputPath = join(folder.dir, `${side}.png`);
  const job = { jobId: side, dir, side, card, photo: null, badgePath: null, picturePaths: {}, outputPath };
  const made = await previews.make({ ...job, inspect: "no", encoding: "file" });
  return { ...made, bytes: await Bun.file(outputPath).bytes() };
}

test("a saved style sheet of either side is shown at once: the files are not checked again for it", async () => {
  const ground = async (side: "front" | "back") => {
    const { page, bytes } = await preview(side);
    return [page, (await lab.pixelsAt(bytes, [[256, 320]]))[0]];
  };
  const html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Back</title><link rel="stylesheet" href="back.css"></head>
<body><main class="card"></main></body></html>`;
  const sheet = (colour: string) => `.card { position: absolute; inset: 0; background: ${colour} }`;
  await Bun.write(join(dir, "back.html"), html);
  await Bun.write(join(dir, "back.css"), sheet("#ff0000"));
  expect(await ground("back")).toEqual(["opened", [255, 0, 0, 255]]);
  await preview("front");
  // The check refuses a picture that is not there.
  const fault = '.gone { background: url("assets/gone.png") }';
  await Bun.write(join(dir, "back.css"), `${sheet("#0000ff")} ${fault}`);
  expect(await ground("back")).toEqual(["restyled", [0, 0, 255, 255]]);
  const front = Bun.file(join(dir, "card.css"));
  await Bun.write(front, `${await front.text()} ${fault}`);
  expect((await ground("front"))[0]).toBe("restyled");
  await rm(join(dir, "back.css"));
  await expect(preview("front")).rejects.toThrow("back.css");
});
