import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { lastCommit, writeCommit } from "../../src/studio/git.ts";

let root: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "studio-git-"));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const NAMES = ["-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"];
function git(dir: string, args: string[], input = ""): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync(["git", "-C", dir, ...NAMES, ...args], {
    stdin: Buffer.from(input),
  });
  if (exitCode !== 0) throw new Error(stderr.toString());
  return stdout.toString().trim();
}

/** A repository with a template in a folder of its own, and a later commit beside it. */
function repository(name: string, options: string[] = []): { dir: string; card: string; commit: string } {
  const dir = join(root, name);
  const card = join(dir, "cards", "gold");
  mkdirSync(card, { recursive: true });
  git(dir, ["init", "-q", ...options]);
  writeFileSync(join(card, "card.css"), "one");
  git(dir, ["add", "."]);
  git(dir, ["commit", "-qm", "card"]);
  const commit = git(dir, ["rev-parse", "HEAD"]);
  writeFileSync(join(dir, "other.txt"), "two");
  git(dir, ["add", "."]);
  git(dir, ["commit", "-qm", "other"]);
  return { dir, card, commit };
}

async function written(dir: string, commit: string, to: string, file: string): Promise<string> {
  await writeCommit(dir, commit, join(root, to));
  return readFileSync(join(root, to, file), "utf8");
}

test("a folder has the last commit that changed it, and its files as of that", async () => {
  for (const options of [[], ["--object-format=sha256"]]) {
    const { dir, card, commit } = repository(`plain${options.length}`, options);
    expect(await lastCommit(card)).toBe(commit);
    expect(await lastCommit(dir)).toBe(git(dir, ["rev-parse", "HEAD"]));
    writeFileSync(join(card, "card.css"), "saved, not committed");
    expect(await written(card, commit, `gold${options.length}`, "card.css")).toBe("one");
    expect(await written(dir, commit, `all${options.length}`, "cards/gold/card.css")).toBe("one");
  }
  expect(await lastCommit(root)).toBeNull();
});

test("a shallow clone and a second worktree are read like any other", async () => {
  const { dir, card, commit } = repository("origin");
  git(root, ["clone", "-q", "--depth=1", `file://${dir}`, "shallow"]);
  const head = git(dir, ["rev-parse", "HEAD"]);
  expect(await lastCommit(join(root, "shallow/cards/gold"))).toBe(head);
  git(dir, ["worktree", "add", "-q", "../tree"]);
  expect(await lastCommit(join(root, "tree/cards/gold"))).toBe(commit);
  expect(await lastCommit(card)).toBe(commit);
});

test("no program that a repository's configuration names is run", async () => {
  const { dir, card } = repository("hostile");
  const ran = join(root, "ran");
  const program = join(root, "program.sh");
  writeFileSync(program, `#!/bin/sh\necho "$0 $*" >> ${ran}\nexit 1\n`);
  chmodSync(program, 0o755);
  // A signed commit, which git verifies where the configuration wants it to, and a file that was left out of
  // a clone.
  const tree = git(dir, ["rev-parse", "HEAD^{tree}"]);
  const signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----";
  const who = "A <a@example.com> 1700000000 +0000";
  const signed = git(
    dir,
    ["hash-object", "-t", "commit", "-w", "--stdin"],
    `tree ${tree}\nauthor ${who}\ncommitter ${who}\n${signature}\n\nsigned\n`,
  );
  git(dir, ["update-ref", "HEAD", signed]);
  const blob = git(dir, ["rev-parse", "HEAD:cards/gold/card.css"]);
  rmSync(join(dir, ".git/objects", blob.slice(0, 2), blob.slice(2)));
  for (const [name, value] of [
    ["log.showSignature", "true"],
    ["gpg.program", program],
    ["core.fsmonitor", program],
    ["core.pager", program],
    ["core.sshCommand", program],
    ["diff.external", program],
    ["protocol.allow", "always"],
    ["protocol.file.allow", "always"],
    ["core.repositoryformatversion", "1"],
    ["extensions.partialClone", "origin"],
    ["remote.origin.promisor", "true"],
    ["remote.origin.url", dir],
    ["remote.origin.uploadpack", program],
  ] as const)
    git(dir, ["config", name, value]);
  rmSync(ran, { force: true });
  expect(await lastCommit(card)).toBe(signed);
  await writeCommit(card, signed, join(root, "hostile-gold"));
  expect(existsSync(ran) && readFileSync(ran, "utf8")).toBe(false);
});
