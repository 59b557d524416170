/**
 * The paths that a change touches: what is not committed yet, and the commits after `from`, or else those
 * since the branch left the origin's main one, or on that itself the last commit. A day of commits on it
 * touches what nearly all files are about: who pushes several at once names the one before them. None where
 * there is no git, or no commit before.
 */
export function changedPaths(root: string, from?: string): string[] {
  const git = (...args: string[]) => {
    const { exitCode, stdout } = Bun.spawnSync(["git", ...args], { cwd: root, stderr: "ignore" });
    return exitCode === 0 ? stdout.toString().split("\n").filter(Boolean) : [];
  };
  if (from !== undefined && git("rev-parse", "--verify", `${from}^{commit}`).length === 0)
    throw new Error(`--since takes a commit such as HEAD~9, not ${from}.`);
  try {
    const [head] = git("rev-parse", "HEAD");
    const [left] = git("merge-base", "HEAD", "origin/HEAD");
    const since = from ?? (left && left !== head ? left : "HEAD~1");
    return [
      ...git("diff", "--name-only", "--no-renames", since, "--"),
      ...git("ls-files", "--others", "--exclude-standard"),
    ];
  } catch {
    return [];
  }
}
