import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The modules in the folder `page` by name: their text. */
export function readPageModules(): Record<string, string> {
  const folder = join(import.meta.dir, "page");
  const names = readdirSync(folder).filter((name) => name.endsWith(".js"));
  return Object.fromEntries(names.sort().map((name) => [name, readFileSync(join(folder, name), "utf8")]));
}
