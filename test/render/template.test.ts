import { afterEach, describe, expect, test } from "bun:test";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import { join } from "node:path";
import { BUILT_IN_TEMPLATES, loadTemplate } from "../../src/render/template.ts";

const SOURCE = join(import.meta.dir, "../../templates/club_card");
const made: string[] = [];
afterEach(async () => {
  for (const dir of made.splice(0)) await rm(dir, { recursive: true });
});

/** A copy of the built-in template with one of its files changed. */
async function changed(file: string, change: (text: string) => string): Promise<string> {
  const dir = await mkdtemp(join(os.tmpdir(), "cardpress-template-"));
  made.push(dir);
  await cp(SOURCE, dir, { recursive: true });
  await writeFile(join(dir, file), change(await readFile(join(SOURCE, file), "utf8")));
  return dir;
}

describe("templates", () => {
  test("the built-in one loads by name and equals its folder", async () => {
    expect(BUILT_IN_TEMPLATES).toContain("club_card");
    const [builtIn, folder] = [await loadTemplate("club_card"), await loadTemplate(SOURCE)];
    expect({ ...builtIn, fonts: 0, digest: "" }).toEqual({ ...folder, fonts: 0, digest: "" });
  });

  const broken: [what: string, file: string, change: (text: string) => string, message: RegExp][] = [
    [
      "a missing slot",
      "card.html",
      (html) => html.replace('data-slot="skill"', ""),
      /card\.html has no element with data-slot="skill"\. Add/,
    ],
    [
      "a missing picture",
      "card.html",
      (html) => html.replace('data-picture="player"', ""),
      /data-picture="player"/,
    ],
    [
      "an unknown font",
      "template.json",
      (json) => json.replace("Barlow Condensed", "Comic Neue"),
      /\/fonts: "Comic Neue" is neither bundled/,
    ],
    [
      "a font file that is not there",
      "card.css",
      (css) => `${css}@font-face{font-family:x;src:url(fonts/x.woff2)}`,
      /fonts\/x\.woff2, which does not exist/,
    ],
    [
      "a broken manifest",
      "template.json",
      (json) => json.replace('"version": "1.0.0"', '"version": "one"'),
      /template\.json cannot be used\. \/version/,
    ],
  ];
  for (const [what, file, change, message] of broken) {
    test(`${what} is refused by file, place and remedy`, async () => {
      expect(loadTemplate(await changed(file, change))).rejects.toThrow(message);
    });
  }

  test("a folder that does not exist is named", async () => {
    expect(loadTemplate("/nowhere/at/all")).rejects.toThrow(
      /\/nowhere\/at\/all\/template\.json cannot be read/,
    );
  });
});
