import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { writeWhole } from "../system/write-whole.ts";

/** Runs git in a folder; null when git, the repository or the requested object is missing. */
async function git(dir: string, ...args: string[]): Promise<Uint8Array | null> {
  try {
    const process = Bun.spawn(["git", "-C", dir, ...args], {
      stdout: "pipe",
      stderr: "ignore",
      stdin: "ignore",
    });
    const out = await new Response(process.stdout).bytes();
    return (await process.exited) === 0 ? out : null;
  } catch {
    return null;
  }
}

/** The last commit that changed a folder, or null. */
export async function lastCommit(dir: string): Promise<string | null> {
  const out = await git(dir, "log", "-1", "--format=%H", "--", ".");
  const hash = out && new TextDecoder().decode(out).trim();
  return hash || null;
}

/** Writes a folder as of a commit to `to`. Links are left out, because they could point anywhere. */
export async function writeCommit(dir: string, commit: string, to: string): Promise<void> {
  const listing = await git(dir, "ls-tree", "-r", "-z", commit, "--", ".");
  for (const line of new TextDecoder().decode(listing ?? new Uint8Array()).split("\0")) {
    const entry = /^(\d+) blob ([0-9a-f]+)\t(.+)$/s.exec(line);
    if (!entry?.[2] || !entry[3] || entry[1] === "120000") continue;
    const bytes = await git(dir, "cat-file", "blob", entry[2]);
    const path = join(to, entry[3]);
    if (!bytes || !path.startsWith(`${to}/`)) continue;
    await mkdir(dirname(path), { recursive: true });
    await writeWhole(path, bytes);
  }
}
