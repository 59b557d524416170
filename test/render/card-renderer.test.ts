import { expect, test } from "bun:test";
import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Focus } from "../../src/core/card.ts";
import { openCardRenderer } from "../../src/render/card-renderer.ts";
import { rendererOptions } from "../../src/service/renderer-options.ts";
import { TEST_CACHE_DIR, type TestFolder, testConfig, testFolder } from "../harness.ts";
import { cardInput } from "./card/cards.ts";
import { plainChromium } from "./plain-chromium.ts";

/** The options of a renderer that keeps its files in a folder, and where a file of that name is. */
async function optionsIn({ dir }: TestFolder, settings: Record<string, string> = {}) {
  const at = (name: string) => join(dir, name);
  mkdirSync(at("profiles"));
  const places = { cache: TEST_CACHE_DIR, profiles: at("profiles"), cutouts: at("cutouts") };
  return { at, options: await rendererOptions(testConfig(dir, settings), places) };
}

test("a browser that draws no elements is reported, makes stills, and refuses at once what is to move", async () => {
  const folder = testFolder();
  const chromium = { CARDPRESS_CHROMIUM: await plainChromium(folder.dir) };
  const { at, options } = await optionsIn(folder, chromium);
  const problems: string[] = [];
  const renderer = await openCardRenderer(options, {
    onProblem: (problem) => problems.push(problem),
  });
  try {
    expect(problems).toEqual([expect.stringContaining("draws no elements into a canvas")]);
    const make = (spec: Parameters<typeof cardInput>[0], change = {}) => {
      const { style, ...card } = cardInput(spec);
      return renderer.render(
        {
          jobId: "1",
          card: { ...card, style: { ...style, ...change } },
          placeholder: true,
          photoPath: "",
          photoSha256: "",
          badgePath: null,
          outputPath: at("card"),
        },
        () => {},
      );
    };
    for (const change of [
      { format: "webm" },
      { format: "mp4" },
      { format: "webp-animated" },
      { format: "webp", layers: true },
      { format: "png", foil: true },
    ] as const) {
      const refused = await make({}, change).catch((error) => error);
      expect(refused).toMatchObject({
        reason: "browser_too_old",
        message: expect.stringContaining("Send the card as png"),
      });
    }
    expect(await make({ format: "png" })).toMatchObject({ contentType: "image/png" });
  } finally {
    await renderer.close();
    await folder.remove();
  }
});

test("one that a card waits for opens a single page, and what else a card needs when it comes", async () => {
  const folder = testFolder();
  const { at, options } = await optionsIn(folder);
  const opened: string[] = [];
  const renderer = await openCardRenderer(
    { ...options, presets: ["club_card", "match_day"], warms: "one_page" },
    { onStep: (step) => step.startsWith("opening the page of") && opened.push(step) },
  );
  try {
    expect(opened).toEqual(["opening the page of club_card"]);
    const { style, ...card } = cardInput({ format: "png" });
    const photoPath = join(import.meta.dir, "../photos/unsplash_man.jpg");
    const made = await renderer.render(
      {
        jobId: "1",
        card: { ...card, style: { ...style, preset: "match_day" } },
        photoPath,
        photoSha256: "a".repeat(64),
        badgePath: null,
        outputPath: at("card"),
      },
      () => {},
    );
    expect(made).toMatchObject({ contentType: "image/png", composition: "photo" });
  } finally {
    await renderer.close();
    await folder.remove();
  }
});

test("where one page is enough and the first template is broken, the page of another one is opened", async () => {
  const folder = testFolder();
  const { options } = await optionsIn(folder);
  const opened: string[] = [];
  const problems: string[] = [];
  const renderer = await openCardRenderer(
    { ...options, presets: ["broken", "club_card", "match_day"], warms: "one_page" },
    {
      onStep: (step) => step.startsWith("opening the page of") && opened.push(step),
      onProblem: (problem) => problems.push(problem),
    },
  );
  await renderer.close();
  await folder.remove();
  expect(opened).toEqual(["opening the page of broken", "opening the page of club_card"]);
  expect(problems).toEqual([expect.stringContaining("broken")]);
});

test("a photo in which nobody is found is searched once for all of a designer's cards with it", async () => {
  const folder = testFolder();
  const { at, options } = await optionsIn(folder);
  const renderer = await openCardRenderer({ ...options, warms: "one_page" });
  const photos = join(import.meta.dir, "../photos");
  const dir = join(import.meta.dir, "../../templates/club_card");
  const card = cardInput({ format: "png" });
  const draw = (sha256: string, focus?: Focus) =>
    renderer.previews.make({
      jobId: "1",
      dir,
      side: "front",
      card: focus ? { ...card, player: { ...card.player, focus } } : card,
      photo: { path: at("photo"), sha256: sha256.repeat(64) },
      badgePath: null,
      picturePaths: {},
      outputPath: at("card"),
      inspect: "no",
      encoding: "file",
    });
  const refusalOf = (sha256: string) => draw(sha256).catch((error) => error);
  try {
    copyFileSync(join(photos, "brick.png"), at("photo"));
    expect(await refusalOf("a")).toMatchObject({ reason: "no_player" });
    // Looked into again, the file would show somebody.
    copyFileSync(join(photos, "unsplash_man.jpg"), at("photo"));
    expect(await refusalOf("a")).toMatchObject({ reason: "no_player" });
    // Another photo, and the same with somebody pointed at, are others.
    expect(await draw("b")).toMatchObject({ contentType: "image/png" });
    expect(await draw("a", { x: 0.5, y: 0.3 })).toMatchObject({ contentType: "image/png" });
  } finally {
    await renderer.close();
    await folder.remove();
  }
});
