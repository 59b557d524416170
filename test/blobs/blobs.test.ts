import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BlobKind, Blobs } from "../../src/blobs/blobs.ts";
import { openBucket } from "../../src/blobs/bucket.ts";
import { bucketBlobs } from "../../src/blobs/bucket-blobs.ts";
import { blobPath, folderBlobs } from "../../src/blobs/folder-blobs.ts";
import { openDataFolder } from "../../src/system/data-folder.ts";
import { emptyBucket, stopEmulator } from "../buckets.ts";
import { type TestFolder, testFolder } from "../harness.ts";
import { otherDisk } from "../other-disk.ts";

// What every way to keep blobs promises; each one joins the list below.

interface Kept {
  blobs: Blobs;
  /** A folder of this machine for the test's own files. */
  scratch: string;
  /**
   * Makes blobs older than all that are put from now on; gives the last time (epoch ms) at which they were
   * put.
   */
  age(kind: BlobKind, names: string[]): Promise<number>;
  /** Leaves what a put leaves whose process is killed. */
  breakOff(at: number): void;
}

const open: TestFolder[] = [];
afterEach(async () => {
  for (const folder of open.splice(0)) await folder.remove();
});

async function inFolder(): Promise<Kept> {
  const made = testFolder();
  open.push(made);
  const folder = openDataFolder(made.dir);
  return {
    blobs: folderBlobs(folder),
    scratch: folder.scratch,
    age: async (kind, names) => {
      const at = Date.parse("2026-01-01T00:00:00Z");
      for (const name of names) utimesSync(blobPath(folder, kind, name), at / 1000, at / 1000);
      return at;
    },
    breakOff: (at) => {
      const path = join(folder.sources, "half.tmp");
      writeFileSync(path, "ha");
      utimesSync(path, at / 1000, at / 1000);
    },
  };
}

const SECOND_MS = 1_000;
afterAll(stopEmulator);

async function inBucket(): Promise<Kept> {
  const made = testFolder();
  open.push(made);
  const folder = openDataFolder(made.dir);
  const bucket = await openBucket(await emptyBucket());
  const cache = join(made.dir, "copies");
  return {
    blobs: bucketBlobs(bucket, { cache, cutouts: folderBlobs(folder), renewedAfterMs: -1 }),
    scratch: folder.scratch,
    // The storage's clock must advance, and its resolution may be whole seconds.
    age: async (kind) => {
      let last = 0;
      for await (const { modifiedAt } of bucket.list(`${kind}/`)) last = Math.max(last, modifiedAt);
      for (let now = 0; now <= last + SECOND_MS; ) {
        await bucket.put("probe", new Uint8Array([1]));
        now = (await bucket.head("probe"))?.modifiedAt ?? 0;
      }
      return last;
    },
    breakOff: (at) => {
      mkdirSync(join(cache, "source"), { recursive: true });
      const path = join(cache, "source/half.tmp");
      writeFileSync(path, "ha");
      utimesSync(path, at / 1000, at / 1000);
    },
  };
}

const NAME = "img_1-Xy.png";
const READ = new Request("https://cards.example/cdn/x");

async function namesIn(list: AsyncIterable<string>): Promise<string[]> {
  const names: string[] = [];
  for await (const name of list) names.push(name);
  return names.sort();
}

describe.each([
  ["a folder", inFolder],
  ["a bucket", inBucket],
] as const)("blobs in %s", (_, make) => {
  test("are there as they were put, from memory or from a file, which is gone then", async () => {
    const { blobs, scratch } = await make();
    const file = join(scratch, "made");
    writeFileSync(file, "a picture");
    await blobs.put("picture", NAME, { path: file });
    await blobs.put("source", "ab12", "a photo");
    expect(existsSync(file)).toBe(false);
    expect(await (await blobs.open("picture", NAME))?.text()).toBe("a picture");
    expect(await Bun.file(await blobs.local("source", "ab12")).text()).toBe("a photo");
    expect(await blobs.stat("source", "ab12")).toEqual({ bytes: 7 });
    expect(await blobs.tidy(Number.POSITIVE_INFINITY)).toBe(0);
  });

  test("that are not there are reported as such, and kinds do not share names", async () => {
    const { blobs } = await make();
    await blobs.put("source", "ab12", "a photo");
    expect(await blobs.open("picture", "ab12")).toBeNull();
    expect(await blobs.stat("cutout", "ab12")).toBeNull();
    expect(await blobs.serve("picture", "ab12", READ, {})).toBeNull();
    expect(await blobs.refresh("picture", "ab12", 7)).toBe(false);
    expect(await blobs.remove("picture", "ab12")).toBe(false);
    expect(await blobs.copy({ kind: "placeholder", name: "x" }, { kind: "picture", name: NAME })).toBe(
      "absent",
    );
    expect(existsSync(await blobs.local("picture", "ab12"))).toBe(false);
  });

  test("are served whole or in part, with the headers that are asked for", async () => {
    const { blobs } = await make();
    await blobs.put("picture", NAME, "0123456789");
    const server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: async (request) =>
        (await blobs.serve("picture", NAME, request, { ETag: '"v"' })) ?? new Response(null, { status: 404 }),
    });
    const whole = await fetch(server.url);
    expect([
      whole.status,
      whole.headers.get("accept-ranges"),
      whole.headers.get("content-length"),
      whole.headers.get("etag"),
      await whole.text(),
    ]).toEqual([200, "bytes", "10", '"v"', "0123456789"]);
    const part = await fetch(server.url, { headers: { Range: "bytes=2-4" } });
    expect([part.status, part.headers.get("content-range"), await part.text()]).toEqual([
      206,
      "bytes 2-4/10",
      "234",
    ]);
    await server.stop(true);
  });

  test("have a copy that stays when the first goes", async () => {
    const { blobs } = await make();
    await blobs.put("placeholder", "512x512.png", "drawn");
    const given = await blobs.copy(
      { kind: "placeholder", name: "512x512.png" },
      { kind: "picture", name: NAME },
    );
    expect(["linked", "copied"]).toContain(given);
    expect(await blobs.remove("placeholder", "512x512.png")).toBe(true);
    expect(await (await blobs.open("picture", NAME))?.text()).toBe("drawn");
  });

  test("are listed by age; one that was made young meanwhile is not removed as old", async () => {
    const { blobs, age } = await make();
    for (const name of ["aa", "bc"]) await blobs.put("source", name, name);
    const old = await age("source", ["aa", "bc"]);
    await blobs.put("source", "ab", "ab");
    expect(await namesIn(blobs.list("source", old))).toEqual(["aa", "bc"]);
    expect(await blobs.refresh("source", "aa", 2)).toBe(true);
    expect(await blobs.refresh("source", "bc", 3)).toBe(false);
    expect(await blobs.remove("source", "aa", { unlessYoungerThan: old })).toBe(false);
    expect(await blobs.remove("source", "bc", { unlessYoungerThan: old })).toBe(true);
    expect(await namesIn(blobs.list("source", Number.POSITIVE_INFINITY))).toEqual(["aa", "ab"]);
  });

  test("of which a put was broken off are never listed, and are tidied away in time", async () => {
    const { blobs, breakOff } = await make();
    const at = Date.parse("2026-01-01T00:00:00Z");
    breakOff(at);
    expect(await namesIn(blobs.list("source", Number.POSITIVE_INFINITY))).toEqual([]);
    expect([await blobs.tidy(at - 1), await blobs.tidy(at), await blobs.tidy(at)]).toEqual([0, 1, 0]);
  });
});

test("in a folder each kind lies where backups and earlier releases look for it", async () => {
  const made = testFolder();
  open.push(made);
  const folder = openDataFolder(made.dir);
  const blobs = folderBlobs(folder);
  await blobs.put("source", "abcd", "photo");
  await blobs.put("picture", NAME, "picture");
  await blobs.put("placeholder", "1x1.png", "drawn");
  expect(readdirSync(join(made.dir, "sources/ab"))).toEqual(["abcd"]);
  expect(readdirSync(join(made.dir, "images/xy"))).toEqual([NAME]);
  expect(readdirSync(join(made.dir, "placeholders"))).toEqual(["1x1.png"]);
});

const elsewhere = otherDisk(tmpdir());
test.skipIf(!elsewhere)("a picture made on another disk than it is kept on is copied over", async () => {
  const made = testFolder();
  const far = testFolder(elsewhere);
  open.push(made, far);
  const folder = openDataFolder(made.dir);
  const blobs = folderBlobs({ ...folder, images: join(far.dir, "images") });
  writeFileSync(join(folder.scratch, "made"), "a picture");
  await blobs.put("picture", NAME, { path: join(folder.scratch, "made") });
  expect(await (await blobs.open("picture", NAME))?.text()).toBe("a picture");
  expect(readdirSync(folder.scratch)).toEqual([]);
});
