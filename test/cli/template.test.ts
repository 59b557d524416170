import { afterAll, beforeAll, expect, test } from "bun:test";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { publishTemplate } from "../../src/app/operations/publish-template.ts";
import { refuseUnchecked } from "../../src/cli/template-publish.ts";
import { openWorkspace } from "../../src/service/workspace.ts";
import type { CheckReport } from "../../src/studio/check/check.ts";
import { loadTemplate } from "../../src/templates/load.ts";
import { ownTemplate, silentLog, type TestFolder, testConfig, testFolder } from "../harness.ts";
import { runCommand } from "./run.ts";

let folder: TestFolder;
let dir: string;
beforeAll(async () => {
  folder = testFolder();
  dir = join(folder.dir, "designs", "derby");
  await ownTemplate(join(folder.dir, "designs"), "derby");
  const workspace = await openWorkspace(testConfig(folder.dir), silentLog);
  await publishTemplate(workspace, await loadTemplate(dir), { isListed: true });
  await workspace.store.close();
});
afterAll(() => folder.remove());

const cardpress = (...command: string[]) => runCommand(folder.dir, ...command);

test("template list shows every template: version, where it is from, and whether partners may ask for it", async () => {
  const { code, json } = await cardpress("template", "list", "--json");
  expect(code).toBe(0);
  const templates = json() as { name: string; version: string; from: string; listed: boolean }[];
  expect(templates.map(({ name, version, from, listed }) => [name, version, from, listed])).toEqual([
    ["action_card", "1.1.0", "built in", false],
    ["club_card", "1.0.0", "built in", true],
    ["derby", "1.0.0", "published", true],
    ["full_bleed", "1.0.0", "built in", false],
    ["holiday_card", "1.0.0", "built in", false],
    ["match_day", "1.1.0", "built in", false],
    ["retro_sticker", "1.0.0", "built in", false],
    ["team_sheet", "1.0.0", "built in", false],
  ]);
});

test("a version that stands for other files is refused before the long check, and so is a folder with a fault", async () => {
  const style = Bun.file(join(dir, "card.css"));
  const before = await style.text();
  await Bun.write(style, `${before}\n/* changed */`);
  const other = await cardpress("template", "publish", dir);
  expect([other.code, other.err]).toEqual([1, expect.stringContaining('Raise "version" in template.json')]);
  await Bun.write(style, `${before}\n.card {`);
  const broken = await cardpress("template", "publish", dir);
  expect([broken.code, broken.err]).toEqual([1, expect.stringMatching(/derby\/card\.css:\d+:\d+: /)]);
  await Bun.write(style, before);
});

test("a picture is accepted in the folder of its template alone, since others lack it", async () => {
  const designs = join(folder.dir, "designs");
  await ownTemplate(designs, "final");
  const { code, err } = await cardpress("template", "check", designs, "--accept", "first@portrait");
  await rm(join(designs, "final"), { recursive: true });
  expect([code, err]).toEqual([1, expect.stringContaining("holds 2 templates. Give the folder of the one")]);
});

test("what did not pass the check, or was changed during it, is not published, and every fault is listed", async () => {
  const template = await loadTemplate(dir);
  const report: CheckReport = {
    template: "derby",
    folder: dir,
    isGood: false,
    faults: [
      {
        ...{ file: "card.css", line: 12, column: 3, severity: "error", code: "unknown_property" },
        ...{ message: 'Chromium knows no property "colr".', cases: [] },
      },
    ],
    goldens: [],
    drawn: 1,
    cost: null,
    failed: [],
  };
  await expect(refuseUnchecked(report, template)).rejects.toThrow(
    /card\.css:12:3: Chromium knows no property "colr"[\s\S]*was not published/,
  );
  const passed = { ...report, isGood: true, faults: [] };
  await refuseUnchecked(passed, template);
  await expect(refuseUnchecked(passed, { ...template, digest: "0".repeat(64) })).rejects.toThrow(
    "changed while they were checked",
  );
});

test("publishing asks the browser itself: what it does not know is refused with file and line, and once fixed it is offered", async () => {
  const [style, manifest] = [join(dir, "card.css"), join(dir, "template.json")];
  const [css, json] = await Promise.all([Bun.file(style).text(), Bun.file(manifest).text()]);
  // What the hundreds of cards of its samples are looked at for is proven elsewhere, with the same check.
  for (const folder of ["samples", "golden"]) await rm(join(dir, folder), { recursive: true, force: true });
  await Bun.write(manifest, json.replace('"version": "1.0.0"', '"version": "1.1.0"'));
  await Bun.write(style, `${css}\n.card { colr: red }\n`);
  const refused = await cardpress("template", "publish", dir);
  expect([refused.code, refused.err]).toEqual([
    1,
    expect.stringMatching(/card\.css:\d+:\d+: Chromium knows no property "colr"[\s\S]*was not published/),
  ]);
  await Bun.write(style, `${css}\n.card { color: red }\n`);
  const published = await cardpress("template", "publish", dir, "--json");
  expect([published.code, published.err]).toEqual([0, ""]);
  expect(published.json()).toMatchObject({ name: "derby", version: "1.1.0", listed: true, before: "1.0.0" });
  await Promise.all([Bun.write(style, css), Bun.write(manifest, json)]);
});

test("template unlist takes a published template off the list", async () => {
  expect((await cardpress("template", "unlist", "derby", "--json")).json()).toEqual({
    name: "derby",
    listed: false,
  });
  expect((await cardpress("template", "unlist", "club_card")).err).toContain("CARDPRESS_PRESETS");
});
