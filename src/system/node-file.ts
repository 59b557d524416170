import { readFile } from "node:fs/promises";
import { writeWhole } from "./write-whole.ts";

/**
 * Writes down which node runs on this data folder, and returns which did before; undefined at the first
 * start.
 */
export async function replaceNodeId(path: string, node: string): Promise<string | undefined> {
  const before = (await readFile(path, "utf8").catch(() => "")).trim();
  await writeWhole(path, node);
  return before || undefined;
}
