import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * A macro: the scripts in a folder of `src`, by name, as a page runs them: without types. Bun calls it as it
 * compiles the file with the call, so a compiled cardpress carries the scripts with it.
 */
export function readPageScripts(folder: string): Record<string, string> {
  const transpiler = new Bun.Transpiler({ loader: "ts", target: "browser" });
  const path = join(import.meta.dir, "..", folder);
  const scriptOf = (name: string) => transpiler.transformSync(readFileSync(join(path, name), "utf8"));
  return Object.fromEntries(
    readdirSync(path)
      .filter((name) => name.endsWith(".ts"))
      .sort()
      .map((name) => [name, scriptOf(name)]),
  );
}
