import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, statSync, utimesSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { tidyUnpacked, unpackOnce } from "../../src/system/unpack-once.ts";
import { CONTENTS, unpackedIn } from "../../src/system/unpacked.ts";
import { type TestFolder, testFolder } from "../harness.ts";

let folder: TestFolder;
let cache: string;
beforeEach(() => {
  folder = testFolder();
  cache = join(folder.dir, "unpacked");
  mkdirSync(cache);
});
afterEach(() => folder.remove());

const DAY_S = 24 * 3600;
const version = (version: string) => ({
  kind: "thing",
  version,
  bytes: 5,
  unpack: (to: string) => writeFile(join(to, "file"), "12345"),
});
const ageOf = (name: string) => Date.now() / 1000 - statSync(join(cache, name, CONTENTS)).mtimeMs / 1000;
function makeOld(name: string, days: number) {
  const then = Date.now() / 1000 - days * DAY_S;
  utimesSync(join(cache, name, CONTENTS), then, then);
}
const folders = () =>
  readdirSync(cache)
    .filter((name) => name.startsWith("thing-"))
    .sort();

const children: Bun.Subprocess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

/** Another process that uses a version until it is ended. */
async function user(of: string) {
  const code = `
    import { unpackOnce } from ${JSON.stringify(join(import.meta.dir, "../../src/system/unpack-once.ts"))};
    await unpackOnce(process.argv[1], { kind: "thing", version: process.argv[2], bytes: 5, unpack: async (to) => void (await Bun.write(to + "/file", "12345")) });
    console.log("in use");
    setInterval(() => {}, 1000);`;
  const child = Bun.spawn([process.execPath, "-e", code, cache, of], { stdout: "pipe", stderr: "ignore" });
  children.push(child);
  const { value } = await child.stdout.getReader().read();
  expect(new TextDecoder().decode(value)).toBe("in use\n");
  return {
    async end() {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}

test("a version that nobody has used for a week is removed, with what killed processes left", async () => {
  const other = await user("1");
  await other.end();
  makeOld("thing-1", 6.9);
  mkdirSync(join(cache, "thing-0.new.tmp"));
  await unpackOnce(cache, version("2"));
  expect(folders()).toEqual(["thing-1", "thing-2"]);
  makeOld("thing-1", 7.1);
  expect(await tidyUnpacked(cache)).toEqual(["thing-1"]);
  expect(folders()).toEqual(["thing-2"]);
});

test("a version that another process uses stays, however long ago it was unpacked, until that process ends", async () => {
  const other = await user("1");
  makeOld("thing-1", 400);
  await unpackOnce(cache, version("2"));
  expect(await tidyUnpacked(cache)).toEqual([]);
  expect(folders()).toEqual(["thing-1", "thing-2"]);
  await other.end();
  expect(await tidyUnpacked(cache)).toEqual(["thing-1"]);
});

test("using a version makes it young again, and so does the hourly look while this process uses it", async () => {
  await unpackOnce(cache, version("1"));
  makeOld("thing-1", 30);
  await unpackOnce(cache, version("1"));
  expect(ageOf("thing-1")).toBeLessThan(DAY_S);
  makeOld("thing-1", 30);
  expect(await tidyUnpacked(cache)).toEqual([]);
  expect(ageOf("thing-1")).toBeLessThan(DAY_S);
  expect(await unpackedIn(cache)).toMatchObject([{ name: "thing-1", bytes: 5 }]);
});

test("nothing but what was unpacked here is removed", async () => {
  mkdirSync(join(cache, "mine"));
  await writeFile(join(cache, "mine/file"), "");
  utimesSync(join(cache, "mine"), 0, 0);
  await unpackOnce(cache, version("1"));
  await tidyUnpacked(cache);
  expect(existsSync(join(cache, "mine/file"))).toBe(true);
});
