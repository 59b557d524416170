/**
 * The paths that a change touches: what is not committed yet, and the commits since the branch left the
 * origin's main one, or on that itself the last commit. None where there is no git, or no commit before.
 */
export function changedPaths(root: string): string[] {
  const git = (...args: string[]) => {
    const { exitCode, stdout } = Bun.spawnSync(["git", ...args], { cwd: root, stderr: "ignore" });
    return exitCode === 0 ? stdout.toString().split("\n").filter(Boolean) : [];
  };
  try {
    const [head] = git("rev-parse", "HEAD");
    const [left] = git("merge-base", "HEAD", "origin/HEAD");
    const since = left && left !== head ? left : "HEAD~1";
    return [
      ...git("diff", "--name-only", "--no-renames", since),
      ...git("ls-files", "--others", "--exclude-standard"),
    ];
  } catch {
    return [];
  }
}
