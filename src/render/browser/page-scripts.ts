import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * A macro: the scripts in a folder of `src/render`, by name, as a page runs them: without types. Bun calls it
 * as it compiles the file with the call, so a compiled cardpress carries the scripts with it.
 */
export function readPageScripts(folder: string): Record<string, string> {
  const transpiler = new Bun.Transpiler({ loader: "ts", target: "browser" });
  const path = join(import.meta.dir, "..", folder);
  const names = readdirSync(path).filter((name) => /\.[jt]s$/.test(name));
  const scriptOf = (name: string) => {
    const text = readFileSync(join(path, name), "utf8");
    return name.endsWith(".ts") ? transpiler.transformSync(text) : text;
  };
  return Object.fromEntries(names.sort().map((name) => [name, scriptOf(name)]));
}
