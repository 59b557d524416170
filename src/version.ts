import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import packageJson from "../package.json" with { type: "json" };

/** Put in by scripts/build.ts: the program has no checkout around it. */
declare const CARDPRESS_BUILD_COMMIT: string | undefined;

/** The version of this program, as in package.json. */
export const VERSION: string = packageJson.version;

/** The commit that this program was made of, or null where nothing tells. */
export const COMMIT: string | null =
  typeof CARDPRESS_BUILD_COMMIT === "string"
    ? CARDPRESS_BUILD_COMMIT || null
    : commitOf(join(import.meta.dir, ".."));

/** The version for people and logs: a version alone is the same for everything between two releases. */
export const RELEASE: string = COMMIT === null ? VERSION : `${VERSION} (${COMMIT.slice(0, 10)})`;

/** The same as one word, for headers and receipts: the commit as semantic versioning's build metadata. */
export const BUILD: string = COMMIT === null ? VERSION : `${VERSION}+${COMMIT.slice(0, 10)}`;

/**
 * The commit that a checkout is at, or null. Read from its files: git itself would obey the folder's own
 * configuration.
 * @param root the folder that holds `.git`
 */
export function commitOf(root: string): string | null {
  try {
    const git = gitFolder(root);
    const head = text(join(git, "HEAD"));
    const ref = /^ref: (refs\/\S+)$/.exec(head)?.[1];
    return whole(ref === undefined ? head : (loose(git, ref) ?? packed(git, ref)));
  } catch {
    return null;
  }
}

/** A further worktree has a file instead of a folder, which names it. */
function gitFolder(root: string): string {
  const path = join(root, ".git");
  try {
    const folder = /^gitdir: (.+)$/.exec(text(path))?.[1];
    return folder === undefined ? path : resolve(root, folder);
  } catch {
    return path;
  }
}

/** Where branches are: of a further worktree, in the folder that all share. */
function shared(git: string): string {
  try {
    return resolve(git, text(join(git, "commondir")));
  } catch {
    return git;
  }
}

function loose(git: string, ref: string): string | undefined {
  try {
    return text(join(shared(git), ref));
  } catch {
    return undefined;
  }
}

function packed(git: string, ref: string): string | undefined {
  const line = text(join(shared(git), "packed-refs"))
    .split("\n")
    .find((each) => each.endsWith(` ${ref}`));
  return line?.split(" ")[0];
}

// Functions, not constants: COMMIT above is worked out before a constant down here would have its value.

function whole(hash: string | undefined): string | null {
  return hash && /^[0-9a-f]{40,64}$/.test(hash) ? hash : null;
}

function text(path: string): string {
  return readFileSync(path, "utf8").trim();
}
