import { expect, test } from "bun:test";
import { join } from "node:path";

// The formatter wraps code at this width and leaves comments as they are.

const ROOT = join(import.meta.dir, "../..");
const COLUMNS = 110;
const COMMENTED = ["*.ts", "*.tsx", "*.js", "*.css", ".ci", "deploy"];

/**
 * The comments of a file that are too wide, by line. What the linter reads in them stays on one line, and so
 * does what stands indented in them: commands and settings to copy.
 */
function wideIn(file: string, source: string): string[] {
  if (!/\.(tsx?|js|css)$/.test(file)) return wideLines(file, source, (line) => /^\s*# \S/.test(line));
  if (!file.endsWith(".css"))
    return wideLines(
      file,
      source,
      (line) => /^\s*(\/\/|\/\*|\*(?= |\/))/.test(line) && !/\/\/ (biome-ignore|@ts-)/.test(line),
    );
  // A stylesheet's comments go on in lines without a sign.
  let isInside = false;
  return wideLines(file, source, (line) => {
    const isComment = isInside || /^\s*\/\*/.test(line);
    if (isComment) isInside = !line.includes("*/");
    return isComment;
  });
}

function wideLines(file: string, source: string, isComment: (line: string) => boolean): string[] {
  return source
    .split("\n")
    .flatMap((line, n) => (isComment(line) && line.length > COLUMNS ? [`${file}:${n + 1}`] : []));
}

test("no comment is wider than the code", async () => {
  const listed = Bun.spawnSync(["git", "ls-files", ...COMMENTED], { cwd: ROOT });
  const files = listed.stdout.toString().trim().split("\n");
  const wide: string[] = [];
  for (const file of files) wide.push(...wideIn(file, await Bun.file(join(ROOT, file)).text()));
  expect(wide).toEqual([]);
  expect(files.length).toBeGreaterThan(900);
});

test("wide comments are found, of any kind", () => {
  const words = "word ".repeat(30);
  const source = [`// ${words}`, "const a = 1;", ` * ${words}`, `/** ${words}*/`, `// biome-ignore ${words}`];
  expect(wideIn("a.ts", source.join("\n"))).toEqual(["a.ts:1", "a.ts:3", "a.ts:4"]);
  const style = [`/* Words`, `   ${words}*/`, `.a { ${words} }`, `  /* ${words}*/`];
  expect(wideIn("a.css", style.join("\n"))).toEqual(["a.css:2", "a.css:4"]);
  const script = [`# ${words}`, `run ${words}`, `#   run ${words}`];
  expect(wideIn(".ci/run", script.join("\n"))).toEqual([".ci/run:1"]);
});
