import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Config } from "../config.ts";

/**
 * Where a command without a server unpacks the browser: the data folder's cache if the folder exists (it is
 * not created for this), otherwise the user's own cache, or `scratch` where there is no home.
 */
export async function browserCache(config: Config, scratch: string): Promise<string> {
  const data = join(config.dataDir, "cache");
  if (existsSync(data)) return data;
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "cardpress");
  return mkdir(cache, { recursive: true, mode: 0o700 }).then(
    () => cache,
    () => scratch,
  );
}
