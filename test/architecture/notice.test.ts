import { expect, test } from "bun:test";
import { basename, join } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import { Glob } from "bun";

// People who get the program get the works of others in it, and have a right to know whose.

const root = join(import.meta.dir, "../..");
const notice = await Bun.file(join(root, "NOTICE")).text();

test("NOTICE names every package that the single file carries", async () => {
  const built = await Bun.build({
    entrypoints: [join(root, "src/main.ts")],
    target: "bun",
    metafile: true,
  });
  const packages = Object.keys(built.metafile?.inputs ?? {}).map(
    (path) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1],
  );
  // The fonts are named by their families.
  const names = new Set(packages.filter((name) => name !== undefined && !name.startsWith("@fontsource")));
  const words = new Set(notice.split(/[\s,:()]+|\.\s/));
  expect(names.size).toBeGreaterThan(40);
  expect([...names].filter((name) => !words.has(name as string))).toEqual([]);
});

test("NOTICE names every file that is unpacked with the packaged browser", async () => {
  const bin = join(root, "node_modules/@sparticuz/chromium/bin");
  const unpacked: string[] = [];
  for (const name of ["al2023.tar.br", "fonts.tar.br"]) {
    const tar = brotliDecompressSync(await Bun.file(join(bin, name)).bytes());
    unpacked.push(...[...(await new Bun.Archive(tar).files()).keys()].map((path) => basename(path)));
  }
  expect(unpacked.length).toBeGreaterThan(10);
  expect(unpacked.filter((name) => !notice.includes(name))).toEqual([]);
});

test("NOTICE has the SHA-256 of every network that is kept here", async () => {
  const models = join(root, "src/render/photo/models");
  const names = [...new Glob("*").scanSync(models)];
  expect(names.length).toBeGreaterThan(5);
  for (const name of names) {
    const sha256 = new Bun.CryptoHasher("sha256")
      .update(await Bun.file(join(models, name)).bytes())
      .digest("hex");
    const hashes = [...notice.slice(notice.indexOf(name)).matchAll(/\b[0-9a-f]{64}\b/g)].map(
      ([hash]) => hash,
    );
    expect(`${name}: ${hashes.find((hash) => hash === sha256)}`).toBe(`${name}: ${sha256}`);
  }
});
