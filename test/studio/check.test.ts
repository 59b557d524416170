import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type OpenPreviewPool, openPreviewPool } from "../../src/cli/preview-pool.ts";
import { readConfig } from "../../src/config.ts";
import { type CheckReport, checkTemplate } from "../../src/studio/check/check.ts";
import { copyStarter } from "../../src/studio/starter.ts";
import { silentLog } from "../harness.ts";

let root: string;
let dir: string;
let previews: OpenPreviewPool;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), "cardpress-check-"));
  dir = await copyStarter(root, "my_card");
  previews = await openPreviewPool(readConfig(process.env), silentLog, true);
});

afterAll(async () => {
  await previews?.close();
  await rm(root, { recursive: true, force: true });
});

const SAMPLES = ["first@portrait", "plain@square"];
const file = (name: string) => join(dir, name);
const read = (name: string) => readFileSync(file(name), "utf8");

function check(only: string[] | null, accept: string[] = [], folder = dir): Promise<CheckReport> {
  const scratch = join(previews.scratch, "pictures");
  return checkTemplate({
    dir: folder,
    scratch,
    pool: previews.pool,
    accept,
    only: only && new Set(only),
    onProgress: () => {},
  });
}

/** Checks with other files, and puts them back. */
async function checkWith(
  changes: Record<string, (text: string) => string>,
  only = SAMPLES,
): Promise<string[]> {
  const before = Object.keys(changes).map((name) => [name, read(name)] as const);
  for (const [name, change] of Object.entries(changes)) writeFileSync(file(name), change(read(name)));
  try {
    const { faults } = await check(only);
    return faults.map(({ severity, file, line, code }) => `${severity} ${file}:${line} ${code}`);
  } finally {
    for (const [name, text] of before) writeFileSync(file(name), text);
  }
}

const lineOf = (name: string, word: string) =>
  read(name)
    .split("\n")
    .findIndex((line) => line.includes(word)) + 1;
const added = (name: string) => read(name).split("\n").length;

test("a started template holds with names, scripts and colours that may come", async () => {
  const ids = [
    ...SAMPLES,
    ...["names-first-100-letters@portrait", "scripts-first-Arabic@portrait"],
    ...["fields-first-all-at-their-largest@portrait", "fields-first-all-at-their-smallest@square"],
  ];
  const report = await check([
    ...ids,
    "colours-first-light-on-light@portrait",
    "badges-first-tall-badge@square",
  ]);
  expect(report.faults).toEqual([]);
  expect([report.isGood, report.drawn]).toEqual([true, 8]);
});

test("a text that ends with an ellipsis stands nowhere that it is not seen", async () => {
  const narrow = (text: string) => `${text}.club { max-width: 20cqw; letter-spacing: 9cqw }`;
  expect(await checkWith({ "card.css": narrow })).toEqual([]);
  const upright = (text: string) =>
    `${narrow(text)}.club { rotate: -90deg; transform-origin: 0 0; translate: 0 20cqw }`;
  expect(await checkWith({ "card.css": upright })).toEqual([]);
  const cut = (text: string) => `${narrow(text)}.club { text-overflow: clip }`;
  const club = lineOf("card.html", 'class="club"');
  expect(await checkWith({ "card.css": cut })).toContain(`error card.html:${club} overflow`);
});

test("CSS that Chromium does not know is reported by line, and so are parts that are no parts", async () => {
  const line = added("card.css");
  const css =
    ".a { colr: red }\n.b { color: redd }\n.c { --fit-smallest: 4cqw }\n.d { rotate: 4deg; text-fit: shrink 35% }\n";
  expect(await checkWith({ "card.css": (text) => text + css }, [])).toEqual([
    `error card.css:${line} css_property`,
    `error card.css:${line + 1} css_value`,
    `error card.css:${line + 2} fit`,
  ]);
});

test("text that stands out, cannot be read, has no glyph or covers the face is reported at its place in card.html", async () => {
  const club = lineOf("card.html", 'class="club"');
  expect(await checkWith({ "card.css": (text) => `${text}.club { color: var(--dark) }` })).toContain(
    `error card.html:${club} contrast`,
  );
  const stretched = (text: string) =>
    `${text}.club { overflow: visible; text-overflow: clip; letter-spacing: 9cqw }`;
  expect(await checkWith({ "card.css": stretched })).toContain(`error card.html:${club} overflow`);
  const bare = (text: string) => text.replace(", var(--fallback-fonts)", "");
  expect(await checkWith({ "card.css": bare }, ["scripts-first-Korean@portrait"])).toContain(
    `error card.html:${lineOf("card.html", "player.name")} glyph`,
  );
  const over = (text: string) => `${text}.plate { bottom: 62cqh }`;
  expect(await checkWith({ "card.css": over })).toContain(
    `error card.html:${lineOf("card.html", "player.name")} face`,
  );
});

test("what a printer would take off, and a field that stands out at its longest, is reported", async () => {
  const bleeds = (text: string) => text.replace('"shapes"', '"bleeds": true, "shapes"');
  const print = ["first@815x1110"];
  // The starter lies closer to the edge than printers allow a card that bleeds.
  const near = await checkWith({ "template.json": bleeds }, print);
  expect(near).toContain(`error card.html:${lineOf("card.html", "player.name")} safe`);
  expect(near.filter((fault) => !fault.endsWith(" safe"))).toEqual([]);
  const atTheEdge = (text: string) => `${text}.rating { left: 1px; top: 1px; padding: 0 }`;
  const cut = await checkWith({ "template.json": bleeds, "card.css": atTheEdge }, print);
  expect(cut.filter((fault) => fault.endsWith(" cut"))).toEqual([
    `error card.html:${lineOf("card.html", "player.skill_level")} cut`,
    `error card.html:${lineOf("card.html", "player.position")} cut`,
  ]);
  const open = (text: string) => `${text}.club { overflow: visible; text-overflow: clip; font-size: 9cqw }`;
  const overflow = `error card.html:${lineOf("card.html", 'class="club"')} overflow`;
  expect(await checkWith({ "card.css": open }, ["first@portrait"])).not.toContain(overflow);
  expect(await checkWith({ "card.css": open }, ["fields-first-club-at-its-40-letters@portrait"])).toContain(
    overflow,
  );
});

test("a fault is reported as soon as it is found, before the rest is drawn, and once", async () => {
  const log: string[] = [];
  const good = read("card.css");
  writeFileSync(file("card.css"), `${good}.club { colr: red; color: var(--dark) }`);
  try {
    await checkTemplate({
      dir,
      scratch: join(previews.scratch, "pictures"),
      pool: previews.pool,
      accept: [],
      only: new Set([...SAMPLES, "names-first-one-letter@portrait"]),
      onProgress: (done, all) => log.push(`${done} of ${all}`),
      onFault: ({ code }) => log.push(code),
    });
  } finally {
    writeFileSync(file("card.css"), good);
  }
  expect(log).toEqual(["css_property", "contrast", "1 of 3", "2 of 3", "3 of 3"]);
});

test("samples that do not fit and files that nothing names are reported", async () => {
  writeFileSync(file("samples/extra.png"), "x");
  const broken = (text: string) => text.replace('"number": 9', '"number": 900');
  expect(await checkWith({ "samples/first.json": broken })).toEqual([
    "warning samples/extra.png:1 sample",
    "error samples/first.json:1 sample",
    "warning samples/portrait.webp:1 sample",
  ]);
  await rm(file("samples/extra.png"));
});

test("a sample that is a link, or names one, makes no card, and nothing of what it leads to is shown", async () => {
  const secret = join(root, "secret.json");
  writeFileSync(secret, "s3cret");
  for (const name of ["samples/linked.json", "samples/linked.webp"]) symlinkSync(secret, file(name));
  const photo = (text: string) => text.replace('"portrait.webp"', '"linked.webp"');
  const before = read("samples/first.json");
  writeFileSync(file("samples/first.json"), photo(before));
  try {
    const { faults, isGood } = await check(["plain@square"]);
    const errors = faults.filter(({ severity }) => severity === "error");
    expect(errors.map(({ file, message }) => `${file} ${message}`)).toEqual([
      expect.stringMatching(/^samples\/first\.json makes no card: samples\/linked\.webp is a link/),
      expect.stringMatching(/^samples\/linked\.json is a link/),
    ]);
    expect([isGood, JSON.stringify(faults).includes("s3cret")]).toEqual([false, false]);
  } finally {
    writeFileSync(file("samples/first.json"), before);
    for (const name of ["samples/linked.json", "samples/linked.webp"]) await rm(file(name));
  }
});

test("a link to other samples or accepted pictures is reported with the other faults, and nothing is touched there", async () => {
  const linked = await copyStarter(root, "linked_card");
  const elsewhere = join(root, "elsewhere");
  mkdirSync(elsewhere);
  mkdirSync(join(linked, "golden"));
  writeFileSync(join(elsewhere, "first@portrait.png"), "theirs");
  writeFileSync(join(linked, "card.css"), `${read("card.css")}.club { colr: red }`);
  const faultsWithLink = async (name: string) => {
    const path = join(linked, name);
    await rm(path, { recursive: true, force: true });
    symlinkSync(elsewhere, path);
    const { faults, drawn, isGood } = await check([SAMPLES[0] as string], ["all"], linked);
    await rm(path);
    expect([drawn, isGood]).toEqual([0, false]);
    return faults.map(({ file, code }) => `${file} ${code}`);
  };
  for (const name of ["golden/differences", "golden", "samples"])
    expect(await faultsWithLink(name)).toEqual(["card.css css_property", `${name} file`]);
  expect(readdirSync(elsewhere)).toEqual(["first@portrait.png"]);
});

test("an accepted picture that is a link is at fault, neither followed nor replaced", async () => {
  const linked = await copyStarter(root, "linked_picture");
  mkdirSync(join(linked, "golden"));
  const secret = join(root, "secret.webp");
  writeFileSync(secret, "s3cret");
  symlinkSync(secret, join(linked, "golden/first@portrait.webp"));
  const { faults, goldens, failed } = await check(SAMPLES, ["all"], linked);
  expect(faults).toMatchObject([{ file: "golden/first@portrait.webp", code: "file", severity: "error" }]);
  expect(goldens).toMatchObject([{ name: "plain@square", state: "accepted" }]);
  expect([failed, readFileSync(secret, "utf8")]).toEqual([["first@portrait"], "s3cret"]);
});

test("a whole check with a sample that cannot be drawn reports that, compares the others and measures one of them", async () => {
  const hidden = await copyStarter(root, "hidden_card");
  // Refused at once, where a photo that shows nobody is looked at for every card.
  writeFileSync(join(hidden, "samples/portrait.webp"), "no picture");
  const manifest = JSON.parse(readFileSync(join(hidden, "template.json"), "utf8"));
  manifest.sizes = { square: manifest.sizes.square };
  writeFileSync(join(hidden, "template.json"), JSON.stringify(manifest));
  const report = await check(null, ["all"], hidden);
  const errors = report.faults.filter(({ severity }) => severity === "error");
  expect(errors.map(({ code, message }) => `${code} ${message}`)).toEqual([
    expect.stringMatching(/^drawing a card cannot be drawn: .*Seen in first, square and 1\d\d more\.$/),
  ]);
  expect(report.goldens).toMatchObject([{ name: "plain@square", state: "accepted" }]);
  expect([report.isGood, report.failed.includes("first@square")]).toEqual([false, true]);
  expect(report.cost).toBeGreaterThan(0);
  // The other sample, and the first one without its photo.
  expect(report.drawn).toBe(2);
});

test("an accepted picture that is damaged is at fault, until it is accepted again", async () => {
  const damaged = await copyStarter(root, "damaged_picture");
  mkdirSync(join(damaged, "golden"));
  writeFileSync(join(damaged, "golden/first@portrait.webp"), "no picture");
  const { faults, failed, isGood } = await check(SAMPLES, ["plain@square"], damaged);
  expect(faults).toMatchObject([{ file: "golden/first@portrait.webp", code: "file", severity: "error" }]);
  expect([failed, isGood]).toEqual([["first@portrait"], false]);
  const { goldens } = await check(SAMPLES, ["first@portrait"], damaged);
  expect(goldens.map(({ name, state }) => `${name} ${state}`)).toEqual([
    "first@portrait accepted",
    "plain@square same",
  ]);
});

test("accepted pictures are kept, and a change to them fails with a picture of the difference until it is accepted", async () => {
  const states = ({ goldens }: CheckReport) => goldens.map(({ name, state }) => `${name} ${state}`);
  expect(states(await check(SAMPLES, ["first@portrait"]))).toEqual([
    "first@portrait accepted",
    "plain@square new",
  ]);
  expect(states(await check(SAMPLES))).toEqual(["first@portrait same", "plain@square new"]);
  const good = read("card.css");
  writeFileSync(file("card.css"), `${good}.rating { rotate: 9deg }`);
  const changed = await check(SAMPLES);
  expect(states(changed)).toEqual(["first@portrait changed", "plain@square new"]);
  expect([changed.isGood, changed.failed]).toEqual([false, ["first@portrait"]]);
  const picture = changed.goldens[0]?.difference ?? "";
  expect(await new Bun.Image(await Bun.file(picture).bytes()).metadata()).toMatchObject({
    width: 512,
    format: "png",
  });
  expect(states(await check(SAMPLES, ["all"]))).toEqual(["first@portrait accepted", "plain@square accepted"]);
  expect(existsSync(picture)).toBe(false);
  expect(
    readdirSync(file("golden"))
      .filter((name) => name.endsWith(".webp"))
      .sort(),
  ).toEqual(["first@portrait.webp", "plain@square.webp"]);
  await expect(check(SAMPLES, ["nobody@portrait"])).rejects.toThrow("There is no nobody@portrait to accept");
});

test("a printed template's player may go over the cut in either composition, with all that is drawn of the player", async () => {
  const only = ["gold-cutout@print", "gold-photo@print"];
  const report = await checkTemplate({
    dir: join(import.meta.dir, "../../templates/action_card"),
    scratch: join(previews.scratch, "pictures"),
    pool: previews.pool,
    accept: [],
    only: new Set(only),
    onProgress: () => {},
  });
  expect(report.faults).toEqual([]);
  expect(report.drawn).toBe(only.length);
});

test("what a carried template says at its longest, and a badge of any shape, stays in its place", async () => {
  const hardest = {
    action_card: ["badges-elite-tall-badge@print"],
    match_day: [
      ...["story", "square", "wide"].map((size) => `fields-cup-all-at-their-largest@${size}`),
      // Their letters are spaced by a part of a size that they are not set in.
      ...["names-cup-marks-over-capitals@story", "names-cup-long-hyphenated@square"],
    ],
  };
  for (const [name, only] of Object.entries(hardest)) {
    const report = await checkTemplate({
      dir: join(import.meta.dir, "../../templates", name),
      scratch: join(previews.scratch, "pictures"),
      pool: previews.pool,
      accept: [],
      only: new Set(only),
      onProgress: () => {},
    });
    expect([name, report.faults.map(({ message }) => message)]).toEqual([name, []]);
    expect(report.drawn).toBe(only.length);
  }
});

test("the templates that cardpress carries look as they were accepted, and hold", async () => {
  const carried = {
    club_card: ["gold@portrait", "gold@portrait.back", "branded@print.back", "landscape@landscape"],
    action_card: ["gold@print", "no_background@print"],
    match_day: ["derby@story", "derby@square", "derby@wide", "cutout@story", "cutout@wide"],
    retro_sticker: ["album@sticker"],
    full_bleed: ["season@print", "season@print.back", "cutout@print"],
    team_sheet: ["cup@post", "cup@square", "cup@story", "cup@wide"],
    holiday_card: ["greeting@card"],
  };
  for (const [name, only] of Object.entries(carried)) {
    const report = await checkTemplate({
      dir: join(import.meta.dir, "../../templates", name),
      scratch: join(previews.scratch, "pictures"),
      pool: previews.pool,
      accept: [],
      only: new Set(only),
      onProgress: () => {},
    });
    expect(report.faults).toEqual([]);
    expect(report.goldens.map(({ state }) => state)).toEqual(only.map(() => "same"));
  }
});

test("a back is drawn with the same cards, and its faults and accepted pictures are its own", async () => {
  for (const [name, text] of Object.entries(BACKS)) writeFileSync(file(name), text);
  const id = "first@portrait.back";
  try {
    const { faults, goldens } = await check([id], [id]);
    expect(faults.filter(({ severity }) => severity === "error")).toEqual([]);
    expect(goldens.map(({ name, state }) => [name, state])).toEqual([[id, "accepted"]]);
    writeFileSync(
      file("back.css"),
      `${BACKS["back.css"]}.card { background: #fc0 } .name { width: 9px; white-space: nowrap; colr: red }`,
    );
    const after = await check([id]);
    const errors = after.faults.filter(({ severity }) => severity === "error");
    expect(errors.map(({ file, code }) => `${file} ${code}`).sort()).toEqual([
      "back.css css_property",
      "back.html overflow",
    ]);
    expect(after.goldens).toMatchObject([{ name: id, state: "changed" }]);
  } finally {
    for (const name of [...Object.keys(BACKS), `golden/${id}.webp`, `golden/differences/${id}.png`])
      await rm(file(name), { force: true });
  }
});

const BACKS: Record<string, string> = {
  "back.html": `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Back</title><link rel="stylesheet" href="back.css"></head>
<body><main class="card"><p class="name" data-text="player.name">Maya</p></main></body></html>
`,
  "back.css": `* { margin: 0 }
.card { position: absolute; inset: 0; background: #fff; color: #000; font: 700 30px "Noto Sans Variable", var(--fallback-fonts) }
.name { position: absolute; left: 20px; top: 20px; width: 400px }
`,
};
