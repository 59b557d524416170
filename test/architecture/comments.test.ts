import { expect, test } from "bun:test";
import { join } from "node:path";

// The formatter wraps code at this width and leaves comments as they are.

const ROOT = join(import.meta.dir, "../..");
const COLUMNS = 110;

/** The comments of a file that are too wide, by line; what the linter reads in them stays on one line. */
function wideIn(file: string, source: string): string[] {
  return source.split("\n").flatMap((line, n) => {
    const isComment = /^\s*(\/\/|\/\*|\*(?= |\/))/.test(line) && !/\/\/ (biome-ignore|@ts-)/.test(line);
    return isComment && line.length > COLUMNS ? [`${file}:${n + 1}`] : [];
  });
}

test("no comment is wider than the code", async () => {
  const listed = Bun.spawnSync(["git", "ls-files", "*.ts", "*.tsx", "*.js", "src/**/*.css"], { cwd: ROOT });
  const files = listed.stdout.toString().trim().split("\n");
  const wide: string[] = [];
  for (const file of files) wide.push(...wideIn(file, await Bun.file(join(ROOT, file)).text()));
  expect(wide).toEqual([]);
  expect(files.length).toBeGreaterThan(900);
});

test("wide comments are found, of either kind", () => {
  const words = "word ".repeat(30);
  const source = [`// ${words}`, "const a = 1;", ` * ${words}`, `/** ${words}*/`, `// biome-ignore ${words}`];
  expect(wideIn("a.ts", source.join("\n"))).toEqual(["a.ts:1", "a.ts:3", "a.ts:4"]);
});
