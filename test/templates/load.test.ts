import { afterEach, describe, expect, test } from "bun:test";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import { join } from "node:path";
import { FONT_LIBRARY_CSS } from "../../src/render/fonts/fonts.ts";
import { BUILT_IN } from "../../src/templates/built-in.ts";
import { FONT_FAMILIES } from "../../src/templates/font-families.ts";
import { digestOf, folderStamp, loadTemplate } from "../../src/templates/load.ts";

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
  test("a built-in one is what its folder is, to the digest", async () => {
    expect([...BUILT_IN.keys()]).toEqual(["club_card"]);
    expect(await loadTemplate("club_card")).toEqual(await loadTemplate(SOURCE));
  });

  test("the digest is of all files' names and bytes, and of nothing else", async () => {
    const own = new Map([
      ["card.css", new Uint8Array([1, 2])],
      ["card.html", new Uint8Array([3])],
    ]);
    const digests = [
      own,
      new Map([...own].reverse()),
      new Map([...own, ["fonts/x.woff2", new Uint8Array()]]),
      new Map([...own, ["fonts/y.woff2", new Uint8Array()]]),
      new Map([
        ["card.css", new Uint8Array([1])],
        ["card.html", new Uint8Array([2, 3])],
      ]),
    ].map(digestOf);
    expect(digests[0]).toMatch(/^[0-9a-f]{64}$/);
    expect(digests[1]).toBe(digests[0] as string);
    expect(new Set(digests).size).toBe(4);
  });

  test("an own font counts for the digest and is seen by the stamp; samples do not", async () => {
    const dir = await changed("card.css", (css) => css);
    const state = async () => [(await loadTemplate(dir)).digest, await folderStamp(dir)];
    const before = await state();
    await writeFile(join(dir, "samples/mine.json"), "{}");
    expect(await state()).toEqual(before);
    await mkdir(join(dir, "fonts"));
    await writeFile(join(dir, "fonts/own.woff2"), "font");
    const after = await state();
    expect([after[0] === before[0], after[1] === before[1]]).toEqual([false, false]);
    expect([...(await loadTemplate(dir)).fonts.keys()]).toEqual(["own.woff2"]);
  });

  test("the families that need no files are those the font library has rules for", () => {
    const rules = [...FONT_LIBRARY_CSS.matchAll(/font-family: ?["']([^"']+)["']/g)].map(([, name]) => name);
    expect([...FONT_FAMILIES].sort()).toEqual([...new Set(rules as string[])].sort());
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
      await expect(loadTemplate(await changed(file, change))).rejects.toThrow(message);
    });
  }

  test("a folder that does not exist is named", async () => {
    await expect(loadTemplate("/nowhere/at/all")).rejects.toThrow(
      /\/nowhere\/at\/all\/template\.json cannot be read/,
    );
  });
});
