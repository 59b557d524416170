import { expect, test } from "bun:test";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "../..");
const ci = await Bun.file(join(ROOT, ".ci/run")).text();
const { scripts } = await Bun.file(join(ROOT, "package.json")).json();
const SETUP = "bun run setup && ";

test.each([
  ["lint", ""],
  ["typecheck", ""],
  ["test", " --engines"],
])("CI runs what people run with `bun run %s`, which installs by itself", (name, options) => {
  expect(scripts[name]).toStartWith(SETUP);
  expect(ci).toMatch(new RegExp(`^part ".+" ${scripts[name].slice(SETUP.length)}${options}( \\|\\||$)`, "m"));
});

test("CI installs the packages once, and those of the tools, each as its lock file has them", () => {
  const installs = [...ci.matchAll(/bun install[^&\n]*/g)].map(([command]) => command.trim());
  expect(installs).toEqual([scripts.setup, "bun install --cwd scripts/tools --frozen-lockfile --silent"]);
  expect(ci).not.toMatch(/^[^#\n]*\bbun run\b/m);
});
