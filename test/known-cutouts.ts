import { copyFileSync, existsSync, linkSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * Cutouts of test photos that tests have made before, so that each photo is looked through once and not once
 * for each server: that takes seconds. Their names say by which photo and which rules they were made.
 */
export function knownCutouts(cacheDir: string) {
  const known = join(cacheDir, "cutouts");
  return {
    /** Puts all of them into a server's folder before it starts. */
    recall(cutouts: string): void {
      for (const file of filesIn(known)) {
        mkdirSync(dirname(join(cutouts, file)), { recursive: true });
        copyFileSync(join(known, file), join(cutouts, file));
      }
    },
    /** Takes over what a server has added, once it has stopped. */
    keep(cutouts: string): void {
      for (const file of filesIn(cutouts)) {
        const place = join(known, file);
        mkdirSync(dirname(place), { recursive: true });
        // Whole from its first moment on, no matter who reads it or puts it there meanwhile.
        try {
          linkSync(join(cutouts, file), place);
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
        }
      }
    },
  };
}

const filesIn = (dir: string) =>
  existsSync(dir)
    ? readdirSync(dir, { recursive: true, encoding: "utf8" }).filter((file) =>
        statSync(join(dir, file)).isFile(),
      )
    : [];
