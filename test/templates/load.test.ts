import { afterEach, describe, expect, test } from "bun:test";
import { cp, mkdir, mkdtemp, readFile, rm, symlink, truncate, writeFile } from "node:fs/promises";
import os from "node:os";
import { join } from "node:path";
import { MAX_TEMPLATE_FILE_BYTES, MAX_TEMPLATE_FILES } from "../../src/core/limits.ts";
import { FONT_LIBRARY_CSS } from "../../src/render/fonts/fonts.ts";
import { BUILT_IN } from "../../src/templates/built-in.ts";
import { digestOf, folderStamp } from "../../src/templates/files.ts";
import { FONT_FAMILIES } from "../../src/templates/font-families.ts";
import { hasFoil, loadTemplate, templateOf } from "../../src/templates/load.ts";
import { HTML, sampleTemplate } from "./sample-template.ts";

const SOURCE = join(import.meta.dir, "../../templates/club_card");
const made: string[] = [];
afterEach(async () => {
  for (const dir of made.splice(0)) await rm(dir, { recursive: true });
});

/** A copy of the built-in template with one of its files changed. */
async function changed(file = "card.css", change = (text: string) => text): Promise<string> {
  const dir = await mkdtemp(join(os.tmpdir(), "cardpress-template-"));
  made.push(dir);
  await cp(SOURCE, dir, { recursive: true });
  await writeFile(join(dir, file), change(await readFile(join(SOURCE, file), "utf8")));
  return dir;
}

describe("templates", () => {
  test("a built-in one is what its folder is, to the digest", async () => {
    for (const name of BUILT_IN.keys())
      expect((await loadTemplate(name)).digest).toBe((await loadTemplate(join(SOURCE, "..", name))).digest);
  });

  test("the digest is of all files' names and bytes, and of nothing else", () => {
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

  test("own fonts and assets at any depth count for the digest and are seen by the stamp; samples do not", async () => {
    const dir = await changed();
    const state = async () => [(await loadTemplate(dir)).digest, await folderStamp(dir)];
    const before = await state();
    await mkdir(join(dir, "samples"), { recursive: true });
    await writeFile(join(dir, "samples/mine.json"), "{}");
    await writeFile(join(dir, "preview.css"), "x");
    expect(await state()).toEqual(before);
    await mkdir(join(dir, "fonts/deep/er"), { recursive: true });
    await writeFile(join(dir, "fonts/deep/er/own.woff2"), "font");
    await writeFile(join(dir, "fonts/.DS_Store"), "junk");
    const after = await state();
    expect([after[0] === before[0], after[1] === before[1]]).toEqual([false, false]);
    const { files } = await loadTemplate(dir);
    expect([...files.keys()].filter((name) => name.startsWith("fonts"))).toEqual(["fonts/deep/er/own.woff2"]);
  });

  test("has foil where an element of a side is marked, and not where a comment or a sample names it", () => {
    const hasFoilWith = (files: Record<string, string>) => hasFoil(templateOf(sampleTemplate(files)));
    const marked = (markup: string) => HTML.replace("</main>", `${markup}</main>`);
    expect(hasFoilWith({})).toBe(false);
    expect(hasFoilWith({ "card.html": marked("<!-- no data-foil here -->") })).toBe(false);
    expect(
      hasFoilWith({ "card.html": marked('<dl data-each="fields.stats"><i></i><i data-foil></i></dl>') }),
    ).toBe(false);
    expect(hasFoilWith({ "card.html": marked("<i data-foil></i>") })).toBe(true);
    const back = { "back.html": marked("<i data-foil></i>").replace("card.css", "back.css"), "back.css": "" };
    expect(hasFoilWith(back)).toBe(true);
  });

  test("the families that need no files are those the font library has rules for", () => {
    const rules = [...FONT_LIBRARY_CSS.matchAll(/font-family: ?["']([^"']+)["']/g)].map(([, name]) => name);
    expect([...FONT_FAMILIES].sort()).toEqual([...new Set(rules as string[])].sort());
  });

  test("one that cannot be used is refused with every fault by file, place and remedy", async () => {
    const dir = await changed("card.html", (html) => html.replace(/player\.(number|name)/g, "player.nubmer"));
    const failure: Error = await loadTemplate(dir).then(
      () => new Error("it was taken"),
      (error) => error,
    );
    expect(failure.message.match(/card\.html:\d+:\d+: there is no "player\.nubmer" to show/g)).toHaveLength(
      2,
    );
    expect(failure.message).toContain('Did you mean "player.number"?');
  });

  test("a folder that does not exist is named", async () => {
    await expect(loadTemplate("/nowhere/at/all")).rejects.toThrow(
      /\/nowhere\/at\/all\/template\.json cannot be read/,
    );
  });
});

describe("a hostile folder", () => {
  for (const place of ["card.html", "assets/x.png", "assets", "fonts/deep/x.woff2"])
    test(`a link at ${place} leads nowhere`, async () => {
      const dir = await changed();
      const secret = place.includes(".") ? "/etc/passwd" : "/etc";
      await rm(join(dir, place), { force: true, recursive: true });
      await mkdir(join(dir, place, ".."), { recursive: true });
      await symlink(secret, join(dir, place));
      await expect(loadTemplate(dir)).rejects.toThrow(
        /is a link, and a template holds only files of its own/,
      );
    });

  test("files too large, and too many, are refused before they are read", async () => {
    const dir = await changed();
    await mkdir(join(dir, "assets"), { recursive: true });
    const large = join(dir, "assets/large.png");
    await writeFile(large, "");
    await truncate(large, MAX_TEMPLATE_FILE_BYTES + 1);
    await expect(loadTemplate(dir)).rejects.toThrow(/large\.png has 21 MB; .* at most 20/);
    await rm(large);
    for (let n = 0; n <= MAX_TEMPLATE_FILES; n++) await writeFile(join(dir, `assets/${n}.svg`), "<svg/>");
    await expect(loadTemplate(dir)).rejects.toThrow(/more than 500 files/);
  });
});
