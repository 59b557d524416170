/**
 * Cuts a version: writes it into the packages, dates it in CHANGELOG.md, and keeps its OpenAPI document.
 *
 *     bun scripts/cut-release.ts 1.0.0
 *
 * Look at the changes, commit them as "Release 1.0.0", have them land, and tag that commit v1.0.0: the
 * release workflow makes the rest. `bun run release` does the same here.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { offerHelp } from "./help.ts";
import { datedChangelog } from "./release/changelog.ts";

offerHelp(import.meta);

const ROOT = join(import.meta.dir, "..");
/** The files that say a version, each once. */
const VERSIONED = [
  "package.json",
  "clients/typescript/package.json",
  "clients/card/package.json",
  "clients/python/pyproject.toml",
];

const [version = ""] = process.argv.slice(2);
if (!/^\d+\.\d+\.\d+$/.test(version))
  throw new Error(`A version is three numbers such as 1.0.0, not "${version}".`);

const changelog = join(ROOT, "CHANGELOG.md");
const day = new Date().toISOString().slice(0, 10);
writeFileSync(changelog, datedChangelog(readFileSync(changelog, "utf8"), version, day));
for (const file of VERSIONED) {
  const path = join(ROOT, file);
  const text = readFileSync(path, "utf8");
  writeFileSync(path, text.replace(/^(\s*"?version"?(?:: | = ))"[^"]+"/m, `$1"${version}"`));
}
// Only now does the document have the new version.
const { fixtureOf, releasedDocument } = await import("./release/openapi.ts");
writeFileSync(fixtureOf(version), `${JSON.stringify(releasedDocument(), null, 2)}\n`);
Bun.spawnSync([join(ROOT, "node_modules/.bin/biome"), "format", "--write", fixtureOf(version)]);
console.log(`Cut ${version}: look at "git diff", and commit it as "Release ${version}".`);
