import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, renameSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { watchFolder } from "../../src/studio/watch.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cardpress-watch-"));
  mkdirSync(join(folder, "card"));
  writeFileSync(join(folder, "card/card.css"), "a {}");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/**
 * Does something in the folder, and answers once its path is reported, with all that were reported until
 * then.
 */
async function reported(path: string, act: () => void): Promise<string[]> {
  const seen: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const watcher = watchFolder(folder, (paths) => {
    seen.push(...paths);
    if (seen.includes(path)) resolve();
  });
  act();
  await promise;
  watcher.close();
  return seen;
}

const at = (name: string) => join(folder, name);
const css = "card/card.css";

const WAYS: [string, () => void][] = [
  ["over itself", () => writeFileSync(at(css), "b {}")],
  [
    "beside it, renamed over it",
    () => {
      writeFileSync(at("card/.card.css.new"), "b {}");
      renameSync(at("card/.card.css.new"), at(css));
    },
  ],
  [
    "anew, the old one kept as a backup",
    () => {
      renameSync(at(css), at("card/card.css~"));
      writeFileSync(at(css), "b {}");
    },
  ],
  [
    "anew, the old one deleted",
    () => {
      unlinkSync(at(css));
      writeFileSync(at(css), "b {}");
    },
  ],
];

test.each(WAYS)("a file that an editor saves %s is reported, and nothing beside it", async (_, save) => {
  expect([...new Set(await reported(css, save))]).toEqual([css]);
});

test("a file in a folder that is made while watching is reported when it is saved", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { promise: folderSeen, resolve: seeFolder } = Promise.withResolvers<void>();
  const watcher = watchFolder(folder, (paths) => {
    if (paths.includes("new")) seeFolder();
    if (paths.includes("new/card.html")) resolve();
  });
  mkdirSync(at("new"));
  await folderSeen;
  writeFileSync(at("new/card.html"), "<p>");
  await promise;
  watcher.close();
});

test("what editors and version control write for themselves is not reported", async () => {
  const seen = await reported(css, () => {
    for (const name of ["card/.card.css.swp", "card/4913", "card/card.css~", "card/preview.css"])
      writeFileSync(at(name), "x");
    mkdirSync(at(".git"));
    writeFileSync(at(".git/index"), "x");
    writeFileSync(at(css), "b {}");
  });
  expect([...new Set(seen)]).toEqual([css]);
});
