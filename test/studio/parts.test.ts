import { expect, test } from "bun:test";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Composition } from "../../src/core/card.ts";
import type { ShownSet } from "../../src/core/card-set.ts";
import { cardInput } from "../../src/core/image-request.ts";
import {
  MAX_TEMPLATE_BYTES,
  MAX_TEMPLATE_FIELDS,
  MAX_TEMPLATE_FILE_BYTES,
  MAX_TEMPLATE_FILES,
  MAX_TEMPLATE_LIST_ITEMS,
  MAX_TEMPLATE_TEXT_CHARS,
} from "../../src/core/limits.ts";
import { characterMap, missingCharacters } from "../../src/render/preview/glyphs.ts";
import { randomPairs, type SampleBody, showsSet, WALLS, wallCases } from "../../src/studio/cases.ts";
import { type CheckCase, cardFaults, checkCases, chosenCases, gather } from "../../src/studio/check/cards.ts";
import { checkSvg } from "../../src/studio/check/check-svg.ts";
import { curlCommand } from "../../src/studio/curl.ts";
import { changedFrom, differenceOf } from "../../src/studio/difference.ts";
import { goldenStates, readGolden, writeGolden } from "../../src/studio/goldens.ts";
import { badgeFile, photoFile, readSamples } from "../../src/studio/sample-files.ts";
import { sampleCard } from "../../src/studio/samples.ts";
import { copyStarter } from "../../src/studio/starter.ts";
import { readFolderNow } from "../../src/studio/template-folder.ts";
import { testBadge } from "../../src/studio/test-badges.ts";
import { examine } from "../../src/templates/examine.ts";
import { checkFields, type Fields } from "../../src/templates/fields.ts";
import { loadTemplate } from "../../src/templates/load.ts";
import { readManifest } from "../../src/templates/manifest.ts";

const root = join(import.meta.dir, "../..");
const action = await loadTemplate(join(root, "templates/action_card"));
const sample = JSON.parse(readFileSync(join(root, "templates/action_card/samples/gold.json"), "utf8"));
const SIZE = { width: 512, height: 640, format: "png" } as const;
const CURL = {
  baseUrl: "http://h",
  preset: "action_card",
  size: [815, 1110],
  format: "png",
  fields: action.manifest.fields,
} as const;

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
  const noSet = { ...sample, set: { name: "Rovers", parallel: "gold", serial: 0 } };
  expect(() => sampleCard(noSet, action.manifest, SIZE)).toThrow("set.serial");
  expect(() => sampleCard([], action.manifest, SIZE)).toThrow("JSON object");
});

test("a sample names files beside it, or a badge that the studio draws, and no other place", () => {
  const manifest = { ...action.manifest, fields: { crest: { type: "image" as const } } };
  const card = (photo: unknown, badge: unknown, crest: unknown) =>
    sampleCard(
      { player: { ...sample.player, photo }, branding: { badge }, fields: { crest } },
      manifest,
      SIZE,
    );
  expect(card("a.png", "studio:tall", "studio:wide")).toMatchObject({
    ...{ photo: "a.png", badge: "studio:tall", pictures: { crest: "studio:wide" } },
  });
  for (const place of ["studio:/../../../x", "studio:tall/../../x", "../x.png", "/x.png", ".x", 7]) {
    expect(() => card(place, undefined, undefined)).toThrow("player.photo must be the name of a file");
    expect(() => card(undefined, place, undefined)).toThrow("branding.badge must be the name of a file");
    expect(() => card(undefined, undefined, place)).toThrow("fields.crest must be the name of a file");
  }
});

test("links among samples are not followed, what is no file is not waited for, and no file may be too large", async () => {
  const folder = mkdtempSync(join(tmpdir(), "cardpress-links-"));
  try {
    writeFileSync(join(folder, "secret.json"), '{ "secret": "s3cret" }');
    const dir = await copyStarter(folder, "my_card");
    const own = (name: string) => join(dir, "samples", name);
    symlinkSync(join(folder, "secret.json"), own("linked.json"));
    symlinkSync(join(folder, "secret.json"), own("linked.png"));
    Bun.spawnSync(["mkfifo", own("pipe.png")]);
    for (const name of ["large.png", "large.json"]) {
      writeFileSync(own(name), "");
      truncateSync(own(name), MAX_TEMPLATE_FILE_BYTES + 1);
    }
    const linked = (await readSamples(dir)).find(({ name }) => name === "linked");
    expect(linked).toMatchObject({ text: "", problem: expect.stringContaining("is a link") });
    const large = (await readSamples(dir)).find(({ name }) => name === "large");
    expect(large).toMatchObject({
      text: "",
      problem: expect.stringMatching(/^has 21 MB; .* at most 20\. Make it smaller\.$/),
    });
    await expect(photoFile(dir, "large.png")).rejects.toThrow("samples/large.png has 21 MB");
    await expect(photoFile(dir, "linked.png")).rejects.toThrow("samples/linked.png is a link");
    await expect(photoFile(dir, "pipe.png")).rejects.toThrow("samples/pipe.png cannot be read");
    await expect(badgeFile({ dir, scratch: folder }, "gone.png")).rejects.toThrow(
      "samples/gone.png is named in the sample and is not there",
    );
    await rm(join(dir, "samples"), { recursive: true });
    mkdirSync(join(folder, "elsewhere"));
    symlinkSync(join(folder, "elsewhere"), join(dir, "samples"));
    const { state } = await readFolderNow(dir, undefined, 1);
    expect(state.faults).toMatchObject([{ file: "samples", message: expect.stringContaining("is a link") }]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test("cards that failed are drawn alone, and all where none of them is left", () => {
  const [gold, silver] = ["gold@portrait", "silver@portrait"].map((id) => ({ id }) as CheckCase);
  const cases = [gold, silver] as CheckCase[];
  expect(chosenCases(cases, new Set(["silver@portrait", "gone@portrait"]))).toEqual([silver as CheckCase]);
  expect(chosenCases(cases, new Set(["gone@portrait"]))).toEqual(cases);
  expect(chosenCases(cases, null)).toEqual(cases);
});

test("a picture is accepted into the folder itself, not where a link leads, and under its own name alone", async () => {
  const folder = mkdtempSync(join(tmpdir(), "cardpress-golden-"));
  try {
    const dir = await copyStarter(folder, "my_card");
    mkdirSync(join(folder, "elsewhere"));
    symlinkSync(join(folder, "elsewhere"), join(dir, "golden"));
    const now = await readFolderNow(dir, undefined, 1);
    const accept = () => writeGolden(now, "first@portrait", async () => testBadge("tall"));
    await expect(accept()).rejects.toThrow(`${dir}/golden is a link`);
    expect(readdirSync(join(folder, "elsewhere"))).toEqual([]);
    await rm(join(dir, "golden"));
    await accept();
    const outside = writeGolden(now, "first@portrait@/../../../x", async () => testBadge("tall"));
    await expect(outside).rejects.toThrow("names no picture");
    expect(readdirSync(join(dir, "golden"))).toEqual(["first@portrait.webp"]);
    expect(readdirSync(folder).sort()).toEqual(["elsewhere", "my_card"]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test("an accepted picture is read from the folder itself: no link, nothing that is no file, nothing too large", async () => {
  const folder = mkdtempSync(join(tmpdir(), "cardpress-golden-"));
  try {
    const dir = await copyStarter(folder, "my_card");
    const own = (name: string) => join(dir, "golden", `${name}.webp`);
    mkdirSync(join(folder, "elsewhere"));
    writeFileSync(join(folder, "elsewhere/first@portrait.webp"), "s3cret");
    symlinkSync(join(folder, "elsewhere"), join(dir, "golden"));
    await expect(readGolden(dir, "first@portrait")).rejects.toThrow(`${dir}/golden is a link`);
    await rm(join(dir, "golden"));
    mkdirSync(join(dir, "golden"));
    expect(await readGolden(dir, "first@portrait")).toBeNull();
    symlinkSync(join(folder, "elsewhere/first@portrait.webp"), own("first@portrait"));
    Bun.spawnSync(["mkfifo", own("plain@square")]);
    writeFileSync(own("plain@portrait"), "");
    truncateSync(own("plain@portrait"), MAX_TEMPLATE_FILE_BYTES + 1);
    await expect(readGolden(dir, "first@portrait")).rejects.toThrow("first@portrait.webp is a link");
    await expect(readGolden(dir, "plain@square")).rejects.toThrow("plain@square.webp cannot be read");
    await expect(readGolden(dir, "plain@portrait")).rejects.toThrow("plain@portrait.webp has 21 MB");
    const now = await readFolderNow(dir, undefined, 1);
    const states = await goldenStates(now, async () => testBadge("tall"));
    expect(Object.fromEntries(states.map(({ name, state }) => [name, state]))).toMatchObject({
      ...{ "first@portrait": "broken", "plain@square": "broken", "plain@portrait": "broken" },
      "first@square": "new",
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test("a folder with more than a template may have is at fault itself, not a file of it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "cardpress-many-"));
  try {
    const dir = await copyStarter(folder, "my_card");
    mkdirSync(join(dir, "assets"));
    for (let i = 0; i <= MAX_TEMPLATE_FILES; i++) writeFileSync(join(dir, "assets", `${i}.png`), "");
    const { state } = await readFolderNow(dir, undefined, 1);
    expect(state.faults).toMatchObject([
      { file: "my_card", message: expect.stringMatching(/^holds more than 500 files/) },
    ]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test("every wall has its cases, and the colours by chance are the same at every run", () => {
  const samples = new Map([["gold", sample]]);
  const counts = WALLS.map((wall) => wallCases(wall, samples, "gold", action.manifest.fields ?? {}).length);
  expect(counts).toEqual([1, 8, 10, 16, 10, 9, 100]);
  const shown = wallCases("fields", samples, "gold", {}, true);
  expect(shown.map(({ label }) => label)).toEqual(["a set at its largest", "a set at its smallest"]);
  for (const { body } of shown)
    expect(
      sampleCard({ ...(body as SampleBody), fields: sample.fields }, action.manifest, SIZE).card.set,
    ).toEqual((body as { set: ShownSet }).set);
  expect(randomPairs(3)).toEqual(randomPairs(100).slice(0, 3));
  const ids = checkCases(samples, action.manifest, ["cutout", "photo"]).map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
});

test("a template that says anything of a set is known by either side, however its attributes are written", () => {
  const withSides = (card: string, back?: string) =>
    showsSet(
      examine(
        new Map([
          ...action.files,
          ["card.html", new TextEncoder().encode(card)],
          ...(back === undefined ? [] : [["back.html", new TextEncoder().encode(back)] as const]),
        ]),
      ),
    );
  const plain = "<p data-text='player.name'></p><!-- <p data-text=\"serial\"></p> -->";
  expect(withSides(plain)).toBe(false);
  for (const side of [
    "<i data-text='serial'></i>",
    "<i data-if=set.name></i>",
    '<i data-unless = "set.season"></i>',
  ]) {
    expect([side, withSides(side)]).toEqual([side, true]);
    expect([side, withSides(plain, side)]).toEqual([side, true]);
  }
});

test("a check draws every sample in each composition, where the template declares several", () => {
  const asked = (compositions: readonly Composition[]) =>
    checkCases(new Map([["gold", sample]]), { sizes: { print: [815, 1110] }, shapes: [0.5, 1] }, compositions)
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
  expect(curlCommand(body, CURL)).toContain('"composition": "photo"');
});

/** The body that a copied command sends, as a shell reads it. */
async function bodyOf(command: string) {
  const script = `curl() { while [ $# -gt 1 ]; do shift; done; printf %s "$1"; }; ${command}`;
  return JSON.parse(await new Response(Bun.spawn(["bash", "-c", script]).stdout).text());
}

test("a copied request asks for pictures by address where the sample names files, as the API takes them", async () => {
  const { manifest } = await loadTemplate(join(root, "templates/club_card"));
  const own = JSON.parse(readFileSync(join(root, "templates/club_card/samples/branded.json"), "utf8"));
  const options = { ...CURL, preset: "club_card", fields: manifest.fields };
  const fieldsFor = async (fields: Record<string, unknown>) =>
    (await bodyOf(curlCommand({ ...own, fields }, options))).fields;
  const sent = await fieldsFor(own.fields);
  expect(sent).toEqual({ ...own.fields, sponsor: "https://example.com/sponsor.png" });
  expect(checkFields(manifest, sent)).toEqual([]);
  expect(await fieldsFor({ qr: "1", sponsor: "" })).toEqual({ qr: "1" });
});

test("a copied request survives a shell, whatever the name holds", async () => {
  const body = { ...sample, player: { ...sample.player, name: 'O\'Brien $(id) `id` "x" \\' } };
  const sent = await bodyOf(curlCommand(body, CURL));
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

test("a picture with a cutout may differ more between machines than others, its back may not", () => {
  const strip = 0.0005;
  const both = ["photo", "cutout"];
  const sample = (composition: string) => ({ body: { style: { composition } } });
  expect(changedFrom(sample("cutout"), both)).toBeGreaterThan(strip);
  expect(changedFrom(sample("cutout"), both)).toBeLessThan(3 * strip);
  expect(changedFrom({ body: {} }, ["cutout"])).toBeGreaterThan(strip);
  for (const one of [sample("photo"), sample("auto"), { ...sample("cutout"), side: "back" as const }])
    expect(changedFrom(one, both)).toBeLessThan(strip);
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

test("every field is tried at the ends of what its template declares, together and alone", () => {
  const fields = {
    club: { type: "text", max: 40 },
    caps: { type: "integer", min: -5, max: 900 },
    captain: { type: "boolean" },
    foot: { type: "choice", options: ["left", "ambidextrous"] },
    ink: { type: "color" },
    stats: { type: "list", max: 3, of: { label: { type: "text", max: 8 } } },
  } satisfies Fields;
  const base = { player: { name: "Li" }, fields: { captain: false } };
  const cases = wallCases("fields", new Map([["plain", base]]), "plain", fields);
  const values: [string, unknown][] = cases.map(({ label, body }) => [label, (body as typeof base).fields]);
  const largest = {
    club: expect.stringMatching(/^.{39}\S$/u),
    caps: 900,
    captain: true,
    foot: "ambidextrous",
    ink: "#FFFFFF",
    stats: Array.from({ length: 3 }, () => ({ label: expect.stringMatching(/^.{7}\S$/u) })),
  };
  const smallest = { club: "I", caps: -5, captain: false, foot: "left", ink: "#000000", stats: [] };
  expect(values).toEqual([
    ["all at their largest", largest],
    ["all at their smallest", smallest],
    ["none but the required", {}],
    ["club at its 40 letters", { captain: false, club: largest.club }],
    ["caps at its largest", { captain: false, caps: 900 }],
    ["captain at its largest", { captain: true }],
    ["foot at its largest", { captain: false, foot: "ambidextrous" }],
    ["ink at its largest", { captain: false, ink: "#FFFFFF" }],
    ["stats at its largest", { captain: false, stats: largest.stats }],
  ]);
  for (const [, each] of values) expect(checkFields({ name: "x", fields }, each)).toEqual([]);
  const ids = checkCases(new Map([["plain", base]]), {
    sizes: { own: [600, 800] },
    shapes: [0.5, 1],
    fields,
  });
  expect(ids.filter(({ id }) => id.startsWith("fields-")).length).toBe(9);
});

test("a card that bleeds is looked at in the print too, though it declares none, at the print's own size", () => {
  const sizes = (manifest: Parameters<typeof checkCases>[1]) => [
    ...new Set(
      checkCases(new Map([["gold", sample]]), manifest).map(({ size, isPrint }) => `${size} ${isPrint}`),
    ),
  ];
  const shapes: [number, number] = [0.5, 1];
  expect(sizes({ sizes: { own: [600, 800] }, shapes })).toEqual(["own false"]);
  expect(sizes({ sizes: { own: [600, 800] }, shapes, bleeds: true })).toEqual(["own false", "815x1110 true"]);
  expect(sizes({ sizes: { own: [1600, 1200] }, shapes: [1.3, 1.5], bleeds: true })).toContain(
    "1110x815 true",
  );
  expect(sizes({ sizes: { print: [815, 1110] }, shapes, bleeds: true })).toEqual([
    "print true",
    "print false",
  ]);
});

test("text and marks beyond the cut are reported; ground that goes on to the edge is not", () => {
  const box = (x: number, y: number, width: number, height: number) => ({ x, y, width, height });
  const text = (label: string, ink: ReturnType<typeof box>) => ({
    ...{ label, text: "x", box: ink, ink, fontPx: 20, lines: 1, fitted: true, shortened: false, fill: 1 },
    ...{ families: [], usedFamilies: [], missing: [], neededContrast: 4.5, overflowPx: 0, contrast: 9 },
  });
  const card = box(0, 0, 815, 1110);
  const look = {
    ...{ card, zones: [], player: null, face: null, brokenPictures: [], refusedAddresses: [] },
    trim: box(35, 35, 745, 1040),
    texts: [text("inside", box(40, 32, 90, 24)), text("outside", box(30, 500, 90, 24))],
    marks: [
      { label: ".logo", box: box(20, 500, 80, 80) },
      { label: ".stripe", box: box(-5, 900, 300, 40) },
      { label: ".gone", box: box(0, 0, 30, 30) },
      { label: "badge", box: box(700, 0, 115, 90) },
      { label: ".crest", box: box(700, 50, 60, 60) },
    ],
  };
  const [one] = checkCases(new Map([["gold", sample]]), action.manifest);
  const faultsOf = (inspection: typeof look) =>
    cardFaults(inspection, one as CheckCase).map(
      ({ code, subject, weight }) => `${code} ${subject} ${weight}`,
    );
  const beyond = ["cut outside 4", "cut .logo 15", "cut .gone 35", "cut badge 35"];
  expect(faultsOf(look)).toEqual(["safe inside 32", ...beyond]);
  // A designer may know a printer with a steadier hand.
  expect(faultsOf({ ...look, zones: [{ name: "safe", box: card }] as never })).toEqual(beyond);
  const clear = [text("clear", box(69, 64, 90, 24))];
  expect(faultsOf({ ...look, texts: clear })).toEqual(beyond.slice(1));
  expect(faultsOf({ ...look, trim: null as never })).toEqual([]);
});

test("text that a picture sets in a font of the machine is reported, wherever the picture lies", () => {
  const font = "<style>@font-face { font-family: Own; src: url(data:font/woff2;base64,AAAA) }</style>";
  const svg = (inside: string) => `<svg xmlns="http://www.w3.org/2000/svg">\n${inside}</svg>`;
  const faults = (files: Record<string, string>) =>
    checkSvg(
      new Map(
        Object.entries({ "card.html": "", "card.css": "", ...files }).map(([name, text]) => [
          name,
          new TextEncoder().encode(text),
        ]),
      ),
    ).map(({ file, line, code }) => `${file}:${line} ${code}`);
  const bad = ["assets/a.svg:2 svg_font"];
  expect(faults({ "assets/a.svg": svg('<text font-family="Arial">A</text>') })).toEqual(bad);
  expect(faults({ "assets/a.svg": svg("<text>A</text>") })).toEqual(bad);
  expect(
    faults({ "assets/a.svg": svg('<g style="font-family: serif"><text><tspan>A</tspan></text></g>') }),
  ).toEqual(bad);
  expect(faults({ "assets/a.svg": svg(`${font}<text font-family="Arial">A</text>`) })).toEqual(bad);
  for (const good of [
    "<path d='M0 0'/>",
    "<text> </text>",
    `${font}<text font-family="Own, serif">A</text>`,
    `${font}<style>text { font: bold 12px/1.2 Own }</style><text>A</text>`,
  ])
    expect(faults({ "assets/a.svg": svg(good) })).toEqual([]);
  const inline = encodeURIComponent(svg("<text>A</text>"));
  expect(faults({ "card.css": `a { background: url("data:image/svg+xml,${inline}") }` })).toEqual([
    "card.css:1 svg_font",
  ]);
  const packed = btoa(svg("<text>A</text>"));
  expect(faults({ "card.html": `\n<img src="data:image/svg+xml;base64,${packed}">` })).toEqual([
    "card.html:2 svg_font",
  ]);
  expect(faults({ "card.html": '<svg>\n<text font-family="Arial">A</text></svg>' })).toEqual([
    "card.html:2 svg_font",
  ]);
  expect(faults({ "card.html": '<p style="color: red; font-family: Arial">A</p>' })).toEqual([
    "card.html:1 svg_font",
  ]);
  expect(faults({ "back.html": '<svg>\n<text font-family="Arial">A</text></svg>' })).toEqual([
    "back.html:2 svg_font",
  ]);
  expect(faults({ "back.css": `\na { background: url("data:image/svg+xml,${inline}") }` })).toEqual([
    "back.css:2 svg_font",
  ]);
  expect(faults({ "back.html": `<img src="data:image/svg+xml;base64,${packed}">` })).toEqual([
    "back.html:1 svg_font",
  ]);
  const own = '@font-face { font-family: "Own"; src: url(fonts/own.woff2) }';
  const html = '<svg><text font-family="Own">A</text><text style="font-family: var(--x)">B</text></svg>';
  expect(faults({ "card.html": html, "card.css": own })).toEqual([]);
  // Neither sheet applies to the other side.
  expect(faults({ "back.html": html, "card.css": own })).toEqual(["back.html:1 svg_font"]);
});

test("a fault of many cards is reported once, by the worst of them, at its place in card.html", () => {
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
  const cases = checkCases(new Map([["gold", sample]]), action.manifest).slice(0, 3);
  const looked = cases.map((one, i) => ({
    one,
    faults: cardFaults(
      {
        card: text.box,
        zones: [],
        player: null,
        face: null,
        trim: null,
        marks: [],
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
    await expect(copyStarter(dir, "../x")).rejects.toThrow("is not a valid template name");
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
});

test("the designers' guide states the limits that hold", () => {
  const guide = readFileSync(join(root, "docs/templates.md"), "utf8");
  const row = (of: string) => guide.split("\n").find((line) => line.startsWith(`| ${of} |`));
  const mib = (bytes: number) => bytes / 1024 / 1024;
  expect(row("files")).toContain(
    `${mib(MAX_TEMPLATE_FILE_BYTES)} MB each, ${MAX_TEMPLATE_FILES} and ${mib(MAX_TEMPLATE_BYTES)} MB in all`,
  );
  expect(row("`max` of a list")).toContain(`${MAX_TEMPLATE_LIST_ITEMS} entries`);
  expect(row("`max` of a text")).toContain(`${MAX_TEMPLATE_TEXT_CHARS} characters`);
  expect(row("fields of a template, columns of a list")).toContain(` ${MAX_TEMPLATE_FIELDS} `);
  // The longest title that the format takes, and one letter more.
  const manifest = (title: string) =>
    JSON.stringify({
      ...{ name: "x", version: "1.0.0", sizes: { own: [600, 800] }, shapes: [0.5, 1] },
      fields: { club: { type: "text", max: 9, title } },
    });
  const [, longest = ""] =
    /\| (\d+), \d+ characters/.exec(row("`title`, `description` of a field") ?? "") ?? [];
  expect(readManifest(manifest("x".repeat(Number(longest)))).faults).toEqual([]);
  expect(readManifest(manifest("x".repeat(Number(longest) + 1))).faults).toHaveLength(1);
  expect(row("lines of `data-fit`")).toContain(" 6 ");
  for (const word of [
    "account create",
    "key create",
    "template new",
    "template check",
    "bun@1.4.5 run cardpress",
  ])
    expect(guide).toContain(word);
});
