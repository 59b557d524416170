import { expect, test } from "bun:test";
import { join } from "node:path";

// An export says that others use it: where none does, readers look for them in vain.

const ROOT = join(import.meta.dir, "../..");
const DECLARED = /^export (?:declare )?(?:async )?(function\*?|const|let|class|type|interface|enum) (\w+)/gm;
const LISTED = /^export (?:type )?\{([^}]*)\}/gm;

/**
 * What a file exports and others are to import. A type that its own file names a second time is left out: it
 * words what the file's functions take and answer, whether or not a caller writes it down.
 */
function exportsOf(source: string): string[] {
  const declared = [...source.matchAll(DECLARED)].flatMap(([, kind = "", name = ""]) => {
    const isWording =
      /^(type|interface)$/.test(kind) && (source.match(new RegExp(`\\b${name}\\b`, "g"))?.length ?? 0) > 1;
    return isWording ? [] : [name];
  });
  const listed = [...source.matchAll(LISTED)].flatMap(([, names = ""]) =>
    names.split(",").flatMap((name) => /(\w+)\s*$/.exec(name)?.[1] ?? []),
  );
  return [...declared, ...listed];
}

/** The modules that a file imports, each with the names it takes: of a module imported whole, all. */
function importsOf(source: string): { path: string; names: string[] | "all" }[] {
  const named = /(?:^(?:import|export)|@import) (?:type )?(?:\w+,\s*)?\{([^}]*)\}\s*from\s+"(\.[^"]+)"/gm;
  // What is imported while the program runs, or for a type in JSDoc, is named by the text beside it.
  const called = /\bimport\(\s*"(\.[^"]+)"/g;
  return [
    ...[...source.matchAll(named)].map(([, names = "", path = ""]) => ({
      path,
      names: names.split(",").map((name) => /^\s*(?:type )?(\w+)/.exec(name)?.[1] ?? ""),
    })),
    ...[...source.matchAll(called)].map(([, path = ""]) => ({ path, names: source.match(/\w+/g) ?? [] })),
    ...[...source.matchAll(/^import \* as \w+ from "(\.[^"]+)"/gm)].map(([, path = ""]) => ({
      path,
      names: "all" as const,
    })),
  ];
}

/** The exports of `src` that no other file imports; the files are given by their paths. */
function unusedExports(files: ReadonlyMap<string, string>): string[] {
  const used = new Set<string>();
  // What `export *` passes on is imported from the file that has it.
  const origins = new Map<string, string[]>();
  for (const [file, source] of files)
    origins.set(
      file,
      [...source.matchAll(/^export \* from "(\.[^"]+)"/gm)].map(([, path = ""]) => join(file, "..", path)),
    );
  for (const [file, source] of files)
    for (const { path, names } of importsOf(source)) {
      const target = join(file, "..", path);
      for (const module of [target, ...(origins.get(target) ?? [])])
        for (const name of names === "all" ? exportsOf(files.get(module) ?? "") : names)
          used.add(`${module}: ${name}`);
    }
  return [...files]
    .filter(([file]) => file.startsWith("src/"))
    .flatMap(([file, source]) => exportsOf(source).map((name) => `${file}: ${name}`))
    .filter((exported) => !used.has(exported));
}

test("what src exports is imported somewhere", async () => {
  const listed = Bun.spawnSync(["git", "ls-files", "*.ts", "*.tsx", "*.js"], { cwd: ROOT });
  const files = new Map<string, string>();
  for (const file of listed.stdout.toString().trim().split("\n"))
    files.set(file, await Bun.file(join(ROOT, file)).text());
  expect(unusedExports(files)).toEqual([]);
  expect(files.size).toBeGreaterThan(900);
});

test("an export that nothing imports is found, and one that is imported in any way is not", () => {
  const files = new Map([
    ["src/a.ts", "export const one = 1;\nexport function two() {}\nexport { three, four as five };\n"],
    [
      "src/b.ts",
      "export type Lone = 1;\nexport interface Options {}\nexport const six = (o: Options) => o;\n",
    ],
    [
      "src/c.js",
      '/** @import { eleven } from "./h.ts" */\nimport { one } from "./a.ts";\nconst { six } = await import("./b.ts");\n',
    ],
    ["src/e.ts", "export const seven = 7;\nexport const eight = 8;\n"],
    ["src/f.ts", 'export * from "./e.ts";\n'],
    ["src/g.ts", 'import { seven } from "./f.ts";\nimport * as all from "./i.ts";\n'],
    ["src/h.ts", "export type eleven = 11;\n"],
    ["src/i.ts", "export const ten = 10;\n"],
    ["test/d.ts", 'import {\n  two,\n  type five as other,\n} from "../src/a.ts";\n'],
  ]);
  expect(unusedExports(files)).toEqual(["src/a.ts: three", "src/b.ts: Lone", "src/e.ts: eight"]);
});
