import { watch } from "node:fs";

/**
 * Editors write a file in several steps within this time, in milliseconds: a truncation, the bytes, a rename.
 */
const SETTLE_MS = 15;

/** Files that are written beside a save, not by it. */
const IGNORED = /(^|\/)(\.[^/]+|[^/]+~|[^/]+\.sw[px]|4913|preview\.css)$|(^|\/)(node_modules|\.[^/]+)\//;

/**
 * Calls back with the paths below `folder` that changed, once writing has settled. Editors rename over a
 * file, or unlink it and create another: each of these is a change of that path.
 */
export function watchFolder(folder: string, onChange: (paths: string[]) => void) {
  const changed = new Set<string>();
  let timer: Timer | undefined;
  const watcher = watch(folder, { recursive: true }, (_, path) => {
    if (path === null || IGNORED.test(path)) return;
    changed.add(path);
    clearTimeout(timer);
    timer = setTimeout(() => {
      const paths = [...changed];
      changed.clear();
      onChange(paths);
    }, SETTLE_MS);
  });
  // A folder that can no longer be watched, for example because it was unmounted, must not end the studio.
  watcher.on("error", () => {});
  return {
    close: () => {
      clearTimeout(timer);
      watcher.close();
    },
  };
}
