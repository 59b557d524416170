/**
 * Rebuilds the photos of scripts/picture-photos.tsv, on which the rules of the cutout are judged: test
 * pictures in public repositories, each known by its blob, with what is expected of it. They belong to
 * others, so they are fetched for a look and never committed. Tags say by impression how a person's skin and
 * hair and a photo's light look, so that the grades of groups can be compared.
 *
 *     bun scripts/picture-photos.ts --out DIR                 clones what is needed into DIR/repositories
 *     bun scripts/picture-photos.ts --out DIR --clones DIR    with clones that are there, as OWNER+NAME
 *     bun scripts/picture-photos.ts --out DIR --tag core      those with one tag
 *     bun run picture --photos DIR --list scripts/picture-photos.tsv
 */

import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { offerHelp } from "./help.ts";

offerHelp(import.meta);

const { values: options } = parseArgs({
  options: { out: { type: "string" }, clones: { type: "string" }, tag: { type: "string" } },
});
if (!options.out) throw new Error("Say with --out where the photos go.");
const { out } = options;
const clones = options.clones ?? join(out, "repositories");

interface ListedPhoto {
  file: string;
  repository: string;
  tags: string;
  blob: string;
}

async function readList(): Promise<ListedPhoto[]> {
  const text = await Bun.file(join(import.meta.dir, "picture-photos.tsv")).text();
  const [head = "", ...lines] = text.trimEnd().split("\n");
  const names = head.split("\t");
  const all = lines.map(
    (line) =>
      Object.fromEntries(line.split("\t").map((cell, i) => [names[i], cell])) as unknown as ListedPhoto,
  );
  return all.filter(({ tags }) => !options.tag || tags.split(",").includes(options.tag));
}

const unreachable = new Set<string>();

/** The git directory of a repository's clone, which is made without any files where there is none. */
function gitDirOf(repository: string): string | null {
  const folder = join(clones, repository.replace("/", "+"));
  const found = ["repo/.git", "repo", ".git", ""]
    .map((place) => join(folder, place))
    .find((place) => existsSync(join(place, "objects")));
  if (found || unreachable.has(repository)) return found ?? null;
  const address = `https://github.com/${repository}.git`;
  const clone = ["git", "clone", "--quiet", "--bare", "--filter=blob:none", address, folder];
  if (Bun.spawnSync(clone, { stderr: "inherit" }).exitCode === 0) return folder;
  unreachable.add(repository);
  return null;
}

/** A blob's bytes; git checks them against its name. */
function blobOf({ repository, blob }: ListedPhoto): Uint8Array | null {
  const gitDir = gitDirOf(repository);
  if (!gitDir) return null;
  const { exitCode, stdout } = Bun.spawnSync(["git", `--git-dir=${gitDir}`, "cat-file", "blob", blob]);
  return exitCode === 0 ? stdout : null;
}

await mkdir(clones, { recursive: true });
const missing: string[] = [];
const photos = await readList();
for (const photo of photos) {
  const bytes = blobOf(photo);
  if (bytes) await Bun.write(join(out, photo.file), bytes);
  else missing.push(photo.file);
}
console.log(`${photos.length - missing.length} of ${photos.length} photos rebuilt`);
if (missing.length > 0) console.log(`not found: ${missing.join(", ")}`);
process.exitCode = missing.length > 0 ? 1 : 0;
