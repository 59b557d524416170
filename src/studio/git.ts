import { copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { writeWhole } from "../system/write-whole.ts";

// A designer opens folders that others made, with a repository whose configuration may name programs: to
// verify signatures, to fetch objects that are left out, to watch files. So git is asked with that
// configuration only where the repository lies, and with an empty one for everything else.

/** Runs git; null when git, the repository or the requested object is missing. */
async function git(args: string[], env: Record<string, string> = {}): Promise<Uint8Array | null> {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith("GIT_"));
  try {
    const child = Bun.spawn(["git", ...args], {
      // Nothing is ever fetched, whatever git this is: only newer ones know GIT_NO_LAZY_FETCH.
      env: {
        ...Object.fromEntries(own),
        GIT_NO_LAZY_FETCH: "1",
        GIT_ALLOW_PROTOCOL: "none",
        GIT_TERMINAL_PROMPT: "0",
        GIT_OPTIONAL_LOCKS: "0",
        ...env,
      },
      stdout: "pipe",
      stderr: "ignore",
      stdin: "ignore",
    });
    const out = await new Response(child.stdout).bytes();
    return (await child.exited) === 0 ? out : null;
  } catch {
    return null;
  }
}

/** A repository's objects, read without its configuration. */
interface Objects {
  /** The folder within the repository: "" or a path that ends with a slash. */
  prefix: string;
  /** The commit that is checked out. */
  head: string;
  run: (...args: string[]) => Promise<Uint8Array | null>;
}

/** Does `work` with the objects of a folder's repository; null where there is none. */
async function withObjects<T>(dir: string, work: (objects: Objects) => Promise<T>): Promise<T | null> {
  // Looks these up and runs nothing.
  const found = await git(["-C", dir, "rev-parse", "--show-prefix", "--git-common-dir", "HEAD"]);
  const [prefix, common, head, ...rest] = new TextDecoder().decode(found ?? new Uint8Array()).split("\n");
  if (prefix === undefined || !common || !head || rest.join("") !== "") return null;
  const repository = resolve(dir, common);
  const empty = await mkdtemp(join(tmpdir(), "cardpress-git-"));
  try {
    await mkdir(join(empty, "objects"));
    await mkdir(join(empty, "refs"));
    await writeFile(join(empty, "HEAD"), "ref: refs/heads/none\n");
    await writeFile(join(empty, "config"), configFor(head));
    // A shallow clone ends where this file says.
    await copyFile(join(repository, "shallow"), join(empty, "shallow")).catch(() => {});
    const env = { GIT_DIR: empty, GIT_OBJECT_DIRECTORY: join(repository, "objects") };
    return await work({ prefix, head, run: (...args) => git(["--literal-pathspecs", ...args], env) });
  } finally {
    await rm(empty, { recursive: true, force: true });
  }
}

/** What git must know to read objects: the kind of their names. */
function configFor(head: string): string {
  const format =
    head.length > 40 ? "\trepositoryformatversion = 1\n[extensions]\n\tobjectFormat = sha256\n" : "";
  return `[core]\n\tbare = true\n${format}`;
}

/** The last commit that changed a folder, or null. */
export async function lastCommit(dir: string): Promise<string | null> {
  const out = await withObjects(dir, ({ prefix, head, run }) =>
    run("rev-list", "-1", head, ...(prefix === "" ? [] : ["--", prefix])),
  );
  return (out && new TextDecoder().decode(out).trim()) || null;
}

/** Writes a folder as of a commit to `to`. Links are left out, because they could point anywhere. */
export async function writeCommit(dir: string, commit: string, to: string): Promise<void> {
  await withObjects(dir, async ({ prefix, run }) => {
    const listing = await run("ls-tree", "-r", "-z", commit, ...(prefix === "" ? [] : ["--", prefix]));
    for (const line of new TextDecoder().decode(listing ?? new Uint8Array()).split("\0")) {
      const [, mode, hash, name] = /^(\d+) blob ([0-9a-f]+)\t(.+)$/s.exec(line) ?? [];
      if (!hash || !name?.startsWith(prefix) || mode === "120000") continue;
      const bytes = await run("cat-file", "blob", hash);
      const path = join(to, name.slice(prefix.length));
      if (!bytes || !path.startsWith(`${to}/`)) continue;
      await mkdir(dirname(path), { recursive: true });
      await writeWhole(path, bytes);
    }
  });
}
