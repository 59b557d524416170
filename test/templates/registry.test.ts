import { afterEach, beforeEach, expect, test } from "bun:test";
import { cp, mkdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { loadTemplate } from "../../src/templates/load.ts";
import { templateRegistry } from "../../src/templates/registry.ts";
import { ownTemplate, type TestFolder, testFolder } from "../harness.ts";

let folder: TestFolder;
let dir: string;
beforeEach(async () => {
  folder = testFolder();
  dir = join(folder.dir, "templates");
  await mkdir(dir);
});
afterEach(() => folder.remove());

const registry = (presets: string[], onProblem?: (problem: string) => void) =>
  templateRegistry({ templatesDir: dir, presets, ...(onProblem && { onProblem }) });
const css = (name: string) => join(dir, name, "card.css");

test("own templates stand beside the built-in ones, and every one says whether it is listed", async () => {
  await ownTemplate(dir, "season_card");
  await ownTemplate(dir, "draft");
  await mkdir(join(dir, ".git"));
  await writeFile(join(dir, "README.md"), "");
  const found = await registry(["season_card", "club_card"]).all();
  expect(found.map(({ name, folder, isListed, problem }) => ({ name, folder, isListed, problem }))).toEqual([
    { name: "action_card", folder: null, isListed: false, problem: null },
    { name: "club_card", folder: null, isListed: true, problem: null },
    { name: "draft", folder: join(dir, "draft"), isListed: false, problem: null },
    { name: "full_bleed", folder: null, isListed: false, problem: null },
    { name: "holiday_card", folder: null, isListed: false, problem: null },
    { name: "match_day", folder: null, isListed: false, problem: null },
    { name: "retro_sticker", folder: null, isListed: false, problem: null },
    { name: "season_card", folder: join(dir, "season_card"), isListed: true, problem: null },
    { name: "team_sheet", folder: null, isListed: false, problem: null },
  ]);
  const listed = await registry(["season_card", "club_card"]).check();
  expect(listed.map(({ manifest }) => manifest.name)).toEqual(["season_card", "club_card"]);
});

test("a folder of a built-in one's name takes precedence over it, also as a link", async () => {
  const elsewhere = join(folder.dir, "elsewhere");
  await ownTemplate(elsewhere, "club_card", (style) => `${style}\n/* own */`);
  const builtIn = await registry(["club_card"]).current("club_card");
  await symlink(join(elsewhere, "club_card"), join(dir, "club_card"));
  const own = await registry(["club_card"]).current("club_card");
  expect(own.css).toEndWith("/* own */");
  expect(own.digest).not.toBe(builtIn.digest);
});

test("an edit shows at once; half of one keeps the last good files, and is reported once", async () => {
  const problems: string[] = [];
  const templates = registry(["season_card"], (problem) => problems.push(problem));
  await ownTemplate(dir, "season_card");
  const before = await templates.current("season_card");
  expect(await templates.current("season_card")).toBe(before);
  await writeFile(css("season_card"), `${before.css}\n.card { opacity: 1; }`);
  const edited = await templates.current("season_card");
  expect(edited.digest).toBe((await loadTemplate(join(dir, "season_card"))).digest);
  expect(edited.digest).not.toBe(before.digest);

  const manifest = join(dir, "season_card/template.json");
  const good = await readFile(manifest, "utf8");
  await writeFile(manifest, "{");
  expect(await templates.current("season_card")).toBe(edited);
  expect(await templates.current("season_card")).toBe(edited);
  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain(`${manifest}:1:2: is not JSON`);
  await writeFile(manifest, good);
  expect((await templates.current("season_card")).digest).toBe(edited.digest);
  expect(problems).toHaveLength(1);
});

test("a folder that goes and comes back, as while it is replaced, never gives way to the built-in one", async () => {
  const templates = registry(["club_card"]);
  await ownTemplate(dir, "club_card", (style) => `${style}\n/* own */`);
  const own = await templates.current("club_card");
  await rename(join(dir, "club_card"), join(dir, "away"));
  expect(await templates.current("club_card")).toBe(own);
  await rename(join(dir, "away"), join(dir, "club_card"));
  expect((await templates.current("club_card")).digest).toBe(own.digest);
});

test("what is listed and cannot be used is named, all of it, with file, place and remedy", async () => {
  await ownTemplate(dir, "season_card");
  await cp(join(dir, "season_card"), join(dir, "copied_card"), { recursive: true });
  await ownTemplate(dir, "broken_card");
  const manifest = join(dir, "broken_card/template.json");
  await writeFile(manifest, (await readFile(manifest, "utf8")).replace('"1.0.0"', '"one"'));
  const listed = ["club_card", "broken_card", "copied_card", "none_such"];
  const error: Error = await registry(listed)
    .check()
    .then(
      () => new Error("nothing was refused"),
      (cause) => cause,
    );
  for (const part of [
    "CARDPRESS_PRESETS",
    `${manifest}:3:3: /version: use three numbers`,
    `${join(dir, "copied_card/template.json")} cannot be used. /name: is "season_card", its folder "copied_card"`,
    `There is no template "none_such". There are action_card, broken_card, club_card, copied_card, full_bleed, holiday_card, match_day, retro_sticker, season_card, team_sheet; others are folders in ${dir}.`,
  ])
    expect(error.message).toContain(part);
});

test("a folder of templates that is not there is reported, and where none is set the remedy says so", async () => {
  await rm(dir, { recursive: true });
  await expect(registry(["club_card"]).check()).rejects.toThrow(`CARDPRESS_TEMPLATES_DIR is ${dir}`);
  const builtIn = templateRegistry({ templatesDir: null, presets: ["season_card"] });
  await expect(builtIn.check()).rejects.toThrow("CARDPRESS_TEMPLATES_DIR, which is not set");
});

test("no name leads out of the folder", async () => {
  await ownTemplate(folder.dir, "season_card");
  for (const name of ["../season_card", join(folder.dir, "season_card"), "", ".", "toString"]) {
    expect(await registry(["club_card"]).has(name)).toBe(false);
    await expect(registry(["club_card"]).current(name)).rejects.toThrow("There is no template");
  }
});
