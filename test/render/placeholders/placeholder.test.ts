import { afterAll, describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { blobPath, folderBlobs } from "../../../src/blobs/folder-blobs.ts";
import { MAX_SHARED_PLACEHOLDERS } from "../../../src/core/limits.ts";
import { DAY_MS } from "../../../src/core/time.ts";
import { placeholder, scaledPlaceholder } from "../../../src/render/placeholders/placeholder.ts";
import { sharedPlaceholders } from "../../../src/render/placeholders/placeholder-files.ts";
import { otherDisk } from "../../other-disk.ts";

describe("placeholders", () => {
  const sizes: [number, number][] = [
    [512, 512],
    [1024, 1280],
    [2048, 512],
    [512, 2048],
    [1279, 721],
  ];
  for (const [width, height] of sizes) {
    test(`${width}x${height} is answered in every format at exactly that size`, async () => {
      for (const format of ["png", "webp", "jpeg"] as const) {
        const { bytes, contentType } = await placeholder(width, height, format);
        expect(contentType).toBe(`image/${format}`);
        expect(await new Bun.Image(bytes).metadata()).toMatchObject({ width, height, format });
      }
    });
  }
});

describe("shared placeholders", () => {
  const dir = mkdtempSync(join(tmpdir(), "cardpress-placeholders-"));
  const folder = join(dir, "shared");
  mkdirSync(folder);
  const folders = {
    sources: "",
    cutouts: "",
    images: join(dir, "images"),
    placeholders: folder,
    templateFiles: "",
  };
  const shared = sharedPlaceholders(folderBlobs(folders));
  const size = scaledPlaceholder(512, 640, "jpeg");
  const path = (name: string) => blobPath(folders, "picture", name);
  afterAll(() => rmSync(dir, { recursive: true }));

  test("many images of one size are one file, each with a name of its own", async () => {
    writeFileSync(join(folder, "of-another-release.png"), "old");
    const first = await shared.give(size, "a");
    expect(first.drawnBytes).toBe(first.bytes);
    for (const name of ["b", "c"]) expect((await shared.give(size, name)).drawnBytes).toBe(0);
    expect(new Set(["a", "b", "c"].map((name) => statSync(path(name)).ino)).size).toBe(1);
    expect(readdirSync(folder)).toEqual(["512x640.jpeg"]);
    rmSync(path("a"));
    expect(await new Bun.Image(path("b")).metadata()).toMatchObject({ width: 512, height: 640 });
  });

  test("a picture that the storage does not take leaves no file behind", async () => {
    const drawn = join(dir, "drawn");
    writeFileSync(drawn, "picture");
    const blobs = { ...folderBlobs(folders), put: () => Promise.reject(new Error("out of reach")) };
    const draw = async () => ({ path: drawn, bytes: 7 });
    const given = sharedPlaceholders(blobs).give({ name: "x.png", contentType: "image/png", draw }, "x");
    await expect(given).rejects.toThrow("out of reach");
    expect(existsSync(drawn)).toBe(false);
  });

  test("a name given today is a young file, so that no sweep takes it for a leftover", async () => {
    const old = new Date(Date.now() - DAY_MS);
    utimesSync(path("b"), old, old);
    await shared.give(size, "d");
    expect(statSync(path("d")).mtimeMs).toBeGreaterThan(old.getTime() + DAY_MS / 2);
  });

  test("a shared file that is gone is drawn again, and the pictures given before stay", async () => {
    rmSync(join(folder, "512x640.jpeg"));
    const again = await shared.give(size, "e");
    expect(again.drawnBytes).toBe(again.bytes);
    expect(statSync(path("d")).size).toBe(again.bytes);
    expect((await shared.give(size, "f")).drawnBytes).toBe(0);
  });

  const far = otherDisk(dir);
  test.skipIf(!far)("on a disk of its own each image has a copy, and pays for it", async () => {
    const other = mkdtempSync(`${far}/cardpress-placeholders-`);
    try {
      const images = join(other, "images");
      const placeholders = sharedPlaceholders(folderBlobs({ ...folders, images, placeholders: folder }));
      for (const name of ["first", "second"]) {
        const given = await placeholders.give(size, name);
        expect(statSync(blobPath({ ...folders, images }, "picture", name)).size).toBe(given.bytes);
        expect(given.drawnBytes).toBe(given.bytes);
      }
    } finally {
      rmSync(other, { recursive: true });
    }
  });

  test("files of sizes not asked for lately are given up; the pictures given before stay", async () => {
    for (let n = 0; n < MAX_SHARED_PLACEHOLDERS; n++)
      await shared.give(scaledPlaceholder(512, 700 + n, "jpeg"), `size-${n}`);
    expect(readdirSync(folder).length).toBeLessThanOrEqual(MAX_SHARED_PLACEHOLDERS);
    expect(readdirSync(folder)).not.toContain("512x640.jpeg");
    expect(await new Bun.Image(path("f")).metadata()).toMatchObject({ width: 512, height: 640 });
  });
});
