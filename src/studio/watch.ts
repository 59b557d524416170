import { relative } from "node:path";
import { watch } from "chokidar";

/** Editors write a file in several steps within this time, in milliseconds: a truncation, the bytes, a rename. */
const SETTLE_MS = 15;

/** Files that are written beside a save, not by it. */
const IGNORED = /(^|\/)(\.[^/]+|node_modules|[^/]+~|[^/]+\.sw[px]|4913|preview\.css)$/;

/**
 * Calls back with the paths below `folder` that changed, once writing has settled. chokidar turns the ways in which
 * editors save (rename over, unlink and create) into plain changes.
 */
export function watchFolder(folder: string, onChange: (paths: string[]) => void) {
  const changed = new Set<string>();
  let timer: Timer | undefined;
  const watcher = watch(folder, {
    ignoreInitial: true,
    ignored: (path) => IGNORED.test(relative(folder, path)),
  });
  const ready = new Promise<void>((resolve) => watcher.once("ready", () => resolve()));
  watcher.on("all", (_, path) => {
    changed.add(relative(folder, path));
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
    ready,
    close: async () => {
      clearTimeout(timer);
      await watcher.close();
    },
  };
}
