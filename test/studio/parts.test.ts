import { expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Composition } from "../../src/core/card.ts";
import { cardInput } from "../../src/core/image-request.ts";
import { characterMap, missingCharacters } from "../../src/render/preview/glyphs.ts";
import { randomPairs, WALLS, wallCases } from "../../src/studio/cases.ts";
import { cardFaults, checkCases, gather } from "../../src/studio/check/cards.ts";
import { curlCommand } from "../../src/studio/curl.ts";
import { differenceOf } from "../../src/studio/difference.ts";
import { sampleCard } from "../../src/studio/samples.ts";
import { copyStarter } from "../../src/studio/starter.ts";
import { testBadge } from "../../src/studio/test-badges.ts";
import { loadTemplate } from "../../src/templates/load.ts";

const root = join(import.meta.dir, "../..");
const action = await loadTemplate(join(root, "templates/action_card"));
const sample = JSON.parse(readFileSync(join(root, "templates/action_card/samples/gold.json"), "utf8"));
const SIZE = { width: 512, height: 640, format: "png" } as const;

test("a sample makes the card that the API would make of the same body", () => {
  const { card, photo, badge } = sampleCard(sample, action.manifest, SIZE);
  expect([photo, badge]).toEqual(["collins.webp", null]);
  expect(card.fields).toEqual(sample.fields);
  const { photo: _, ...player } = sample.player;
  const request = {
    type: "player_card" as const,
    player: { ...player, external_id: "sample", source_image_url: "https://photo.invalid/" },
    style: { preset: "action_card", ...SIZE },
    branding: sample.branding,
  };
  const { fields: _fields, ...rest } = card;
  expect(rest).toEqual(cardInput(request));
});

test("a sample that does not fit is refused by the names of its broken fields", () => {
  const body = { ...sample, player: { ...sample.player, number: 0 } };
  expect(() => sampleCard(body, action.manifest, SIZE)).toThrow("player.number");
  const wrong = { ...sample, fields: { ...sample.fields, stats: [{ label: "PAC", value: 100 }] } };
  expect(() => sampleCard(wrong, action.manifest, SIZE)).toThrow("fields.stats[0].value");
  expect(() => sampleCard([], action.manifest, SIZE)).toThrow("JSON object");
});

test("every wall has its cases, and the colours by chance are the same at every run", () => {
  const samples = new Map([["gold", sample]]);
  const counts = WALLS.map((wall) => wallCases(wall, samples, "gold").length);
  expect(counts).toEqual([1, 10, 16, 10, 9, 100]);
  expect(randomPairs(3)).toEqual(randomPairs(100).slice(0, 3));
  const ids = checkCases(samples, ["print", "screen"], ["cutout", "photo"]).map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
});

test("a check draws every sample in each composition, where the template declares several", () => {
  const asked = (compositions: readonly Composition[]) =>
    checkCases(new Map([["gold", sample]]), ["print"], compositions)
      .filter(({ id }) => id.startsWith("gold"))
      .map(({ id, body }) => [id, body.style?.composition]);
  expect(asked(["cutout"])).toEqual([["gold@print", undefined]]);
  expect(asked(["cutout", "photo"])).toEqual([
    ["gold@print", undefined],
    ["gold-cutout@print", "cutout"],
    ["gold-photo@print", "photo"],
  ]);
});

test("a sample asks for a composition of its template, as a partner does, also in the request that is copied", () => {
  const body = { ...sample, style: { ...sample.style, composition: "photo" } };
  const manifest = { ...action.manifest, compositions: ["cutout" as const] };
  expect(() => sampleCard(body, manifest, SIZE)).toThrow(
    'style.composition is "photo", which the preset action_card does not support; it supports "cutout".',
  );
  const both = { ...manifest, compositions: ["cutout" as const, "photo" as const] };
  expect(sampleCard(body, both, SIZE).card.style.composition).toBe("photo");
  const options = { baseUrl: "http://h", preset: "action_card", size: [815, 1110], format: "png" } as const;
  expect(curlCommand(body, options)).toContain('"composition": "photo"');
});

test("a copied request survives a shell, whatever the name holds", async () => {
  const body = { ...sample, player: { ...sample.player, name: 'O\'Brien $(id) `id` "x" \\' } };
  const command = curlCommand(body, {
    baseUrl: "http://h",
    preset: "action_card",
    size: [815, 1110],
    format: "png",
  });
  const script = `curl() { while [ $# -gt 1 ]; do shift; done; printf %s "$1"; }; ${command}`;
  const sent = JSON.parse(await new Response(Bun.spawn(["bash", "-c", script]).stdout).text());
  expect(sent.player.name).toBe(body.player.name);
  expect(sent.player.photo).toBeUndefined();
  expect(sent.fields).toEqual(sample.fields);
  expect(sent.style).toEqual({ preset: "action_card", width: 815, height: 1110, format: "png" });
});

test("the difference of two pictures is the part of their pixels that people see changed", async () => {
  const [dark, light] = [testBadge("dark"), testBadge("light")];
  expect(await differenceOf(dark, dark)).toEqual({ changed: 0, picture: null });
  const { changed, picture } = await differenceOf(dark, light);
  // An ellipse fills pi/4 of its square.
  expect(changed).toBeGreaterThan(0.7);
  expect(changed).toBeLessThan(0.8);
  expect(await new Bun.Image(picture as Uint8Array).metadata()).toMatchObject({ width: 300, height: 300 });
  expect(await differenceOf(dark, testBadge("wide"))).toEqual({ changed: 1, picture: null });
});

test("the characters of a font file are read from the file itself", async () => {
  const path = join(root, "node_modules/@fontsource-variable/inter/files/inter-latin-wght-normal.woff2");
  const has = characterMap(await Bun.file(path).bytes());
  expect([..."AzéÜ€"].map((c) => has(c.codePointAt(0) ?? 0))).toEqual([true, true, true, true, true]);
  expect([..."Жあ😀"].map((c) => has(c.codePointAt(0) ?? 0))).toEqual([false, false, false]);
  expect(characterMap(new Uint8Array(64))(65)).toBe(false);
});

test("a character is missing where none of the text's own families has it", async () => {
  const bytes = await Bun.file(
    join(root, "node_modules/@fontsource-variable/inter/files/inter-latin-wght-normal.woff2"),
  ).bytes();
  const faces = [
    { family: "Own", source: "fonts/own.woff2", range: "" },
    { family: "Library", source: "/library/x.woff2", range: "U+0400-04FF" },
  ];
  const files = new Map([["fonts/own.woff2", bytes]]);
  expect(missingCharacters("Aé Жあ\u200d", ["Own"], faces, files)).toEqual(["Ж", "あ"]);
  expect(missingCharacters("Aé Жあ", ["own", "Library"], faces, files)).toEqual(["あ"]);
});

test("a fault of many cards is told once, by the worst of them, at its place in card.html", () => {
  const text = {
    label: "player.name",
    text: "x",
    box: { x: 0, y: 0, width: 10, height: 10 },
    ink: { x: 0, y: 0, width: 10, height: 10 },
    fontPx: 20,
    lines: 1,
    fitted: true,
    shortened: false,
    fill: 1,
    families: [],
    usedFamilies: [],
    missing: [],
    neededContrast: 4.5,
  };
  const cases = checkCases(new Map([["gold", sample]]), ["print"], ["cutout"]).slice(0, 3);
  const looked = cases.map((one, i) => ({
    one,
    faults: cardFaults(
      {
        card: text.box,
        zones: [],
        player: null,
        face: null,
        brokenPictures: [],
        refusedAddresses: [],
        texts: [{ ...text, overflowPx: 0, contrast: 4 - i }],
      },
      one,
    ),
  }));
  const [fault, ...more] = gather(looked, '<main class="card">\n  <h1 data-text="player.name">');
  expect(more).toEqual([]);
  expect(fault).toMatchObject({ file: "card.html", line: 2, code: "contrast", severity: "error" });
  expect(fault?.message).toContain("2.00");
  expect(fault?.cases).toEqual([cases[2]?.id, cases[1]?.id, cases[0]?.id] as string[]);
});

test("a new template is whole or not there, and takes no other's place", async () => {
  const dir = mkdtempSync(join(tmpdir(), "cardpress-starter-"));
  try {
    const made = await copyStarter(dir, "season_card");
    const { manifest } = await loadTemplate(made);
    expect([manifest.name, manifest.title]).toEqual(["season_card", "Season card"]);
    expect(readdirSync(dir)).toEqual(["season_card"]);
    await expect(copyStarter(dir, "season_card")).rejects.toThrow("is there already");
    await expect(copyStarter(dir, "../x")).rejects.toThrow("is no name for a template");
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
});
