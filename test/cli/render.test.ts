import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { templateRegistry } from "../../src/templates/registry.ts";
import { declareCompositions, ownTemplate, type TestFolder, testFolder } from "../harness.ts";
import { pngOfDepth } from "../sources/pictures.ts";
import { runCommand, runCommandWith, startCommand } from "./run.ts";

const PHOTO = join(import.meta.dir, "../photos/unsplash_man.jpg");
const CARD = {
  player: { name: "Ana", position: "ST", number: 9, skill_level: 87 },
  style: { width: 512, height: 512, format: "png" },
};

let folder: TestFolder;
const at = (name: string) => join(folder.dir, name);
beforeAll(() => {
  folder = testFolder();
  writeFileSync(at("card.json"), JSON.stringify(CARD));
  writeFileSync(at("list.json"), "[]");
  mkdirSync(at("folder.png"));
});
afterAll(() => folder.remove());

const args = (out: string) => ["--input", at("card.json"), "--photo", PHOTO, "--out", at(out), "--json"];
const render = (...more: string[]) => runCommand(folder.dir, "render", ...more);

test("the ending of --out decides the format, in any case and over the request's own", async () => {
  const { code, json } = await render(...args("CARD.JPG"));
  expect(code).toBe(0);
  expect(json()).toMatchObject({ contentType: "image/jpeg", width: 512, height: 512 });
  expect((await new Bun.Image(await Bun.file(at("CARD.JPG")).bytes()).metadata()).format).toBe("jpeg");
});

test("--out may be a PDF for a printer, with its cut, its bleed and its back as the second page", async () => {
  const print = { width: 815, height: 1110, back: true };
  writeFileSync(at("print.json"), JSON.stringify({ ...CARD, style: print }));
  const pdf = (input: string, ...more: string[]) =>
    render(...args("card.pdf"), "--input", at(input), ...more);
  const { code, json } = await pdf("print.json");
  const bytes = await Bun.file(at("card.pdf")).bytes();
  const sha256 = new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
  expect({ code, ...json() }).toMatchObject({
    code: 0,
    contentType: "application/pdf",
    bytes: bytes.length,
    receipt: { sha256 },
  });
  const text = Buffer.from(bytes).toString("latin1");
  expect(text).toContain("/Count 2");
  // 63 x 88 mm within a bleed of 3 mm.
  expect(text.split("/BleedBox [0 0 195.591 266.457] /TrimBox [8.504 8.504 187.087 257.953]")).toHaveLength(
    3,
  );

  const unfit = await pdf("card.json");
  expect(JSON.parse(unfit.err).error).toMatch(/style\.format .*815x1110 \(63 x 88 mm\)/);
  const twice = await pdf("print.json", "--back", at("back.pdf"));
  expect([twice.code, twice.err]).toEqual([2, expect.stringContaining("set style.back to true in --input")]);
});

test("--photo may be a path from the current folder", async () => {
  const photo = relative(process.cwd(), PHOTO);
  const { code } = await render(...args("card.webp"), "--photo", photo);
  expect({ code, photo }).toEqual({ code: 0, photo: expect.not.stringMatching(/^\//) });
});

test("--composition takes precedence over the details, and is refused like them where the template does not support it", async () => {
  const templates = at("compositions");
  for (const name of ["in_the_photo", "plain"]) await ownTemplate(templates, name);
  await declareCompositions(templates, "in_the_photo", ["photo", "cutout"]);
  await declareCompositions(templates, "plain");
  writeFileSync(
    at("photo.json"),
    JSON.stringify({ ...CARD, style: { ...CARD.style, composition: "photo" } }),
  );
  const draw = async (input: string, ...more: string[]) => {
    const env = { CARDPRESS_TEMPLATES_DIR: templates };
    return runCommandWith(env, folder.dir, "render", ...args("composed.png"), "--input", at(input), ...more);
  };
  const error = ({ err }: { err: string }) => JSON.parse(err).error;
  const lacks = 'is "photo", which the preset plain does not support; it supports "cutout".';
  const own = await draw("photo.json", "--template", "plain");
  expect([own.code, error(own)]).toEqual([1, expect.stringContaining(`style.composition ${lacks}`)]);
  const option = await draw("card.json", "--template", "plain", "--composition", "photo");
  expect([option.code, error(option)]).toEqual([1, expect.stringContaining(`--composition ${lacks}`)]);
  const unknown = await draw("card.json", "--composition", "both");
  expect([unknown.code, unknown.err]).toEqual([2, expect.stringContaining("one of auto, cutout, photo")]);
  const drawn = await draw("photo.json", "--template", "in_the_photo", "--composition", "cutout");
  expect(drawn.json()).toMatchObject({ composition: "cutout" });
});

test("--template draws any template there is, listed or not; without it the first that is listed", async () => {
  const templates = at("templates");
  await ownTemplate(templates, "season_card", (css) => `${css}\n/* own */`);
  const own = { CARDPRESS_TEMPLATES_DIR: templates };
  const drawn = await runCommandWith(
    own,
    folder.dir,
    "render",
    ...args("own.png"),
    "--template",
    "season_card",
  );
  const { digest } = await templateRegistry({ templatesDir: templates, presets: [] }).current("season_card");
  expect(drawn.json()).toMatchObject({ width: 512, template: { version: "1.0.0", digest } });
  const none = `There is no template "poster". There are action_card, club_card, full_bleed, holiday_card, match_day, retro_sticker, season_card, team_sheet; others are folders in ${templates}.`;
  for (const [presets, ...option] of [["poster"], ["club_card", "--template", "poster"]]) {
    const env = { ...own, CARDPRESS_PRESETS: presets as string };
    const refused = await runCommandWith(env, folder.dir, "render", ...args("x.png"), ...option);
    expect({ code: refused.code, error: JSON.parse(refused.err).error }).toEqual({ code: 1, error: none });
  }
});

test("what cannot be a card is reported by its option, in one line", async () => {
  await Bun.write(at("deep.png"), pngOfDepth(3, 64));
  const refusals: [string[], number, RegExp][] = [
    [args("card.gif"), 2, /--out .*card\.gif must end in \.png, \.webp, \.jpg, \.jpeg, \.webm, \.mp4, \.pdf/],
    [args("folder.png"), 1, /--out .*folder\.png is a folder/],
    [args("card.json/card.png"), 1, /--out .* cannot be written/],
    [[...args("card.png"), "--badge", at("card.json")], 1, /--badge .*card\.json is not a picture/],
    // Its header is in order; only the browser can tell.
    [
      [...args("card.png"), "--badge", at("deep.png")],
      1,
      /^--badge .*deep\.png: The club badge could not be/,
    ],
    [[...args("card.png"), "--input", at("list.json")], 1, /--input .*list\.json must hold a JSON object/],
  ];
  for (const [given, code, message] of refusals) {
    const answer = await render(...given);
    expect({ out: answer.out, code: answer.code }).toEqual({ out: "", code });
    const { error } = JSON.parse(answer.err);
    expect(error).toMatch(message);
    expect(error).not.toContain("\n");
  }
  expect(readdirSync(folder.dir)).not.toContain("card.png");
});

test.each(["SIGTERM", "SIGINT"] as const)("%s ends it and leaves no folder behind", async (signal) => {
  const scratch = at(signal);
  mkdirSync(scratch);
  const child = startCommand({ TMPDIR: scratch }, folder.dir, "render", ...args("late.png"));
  const left = () => readdirSync(scratch).filter((name) => name.startsWith("cardpress-"));
  while (left().length === 0) await Bun.sleep(5);
  child.kill(signal);
  expect(await child.exited).toBe(1);
  expect(await new Response(child.stderr).text()).toContain(`${signal} came before the card was made`);
  expect(left()).toEqual([]);
});
