import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Config } from "../config.ts";
import type { Log } from "../core/ports.ts";
import { createRenderPool, type PreviewPool } from "../render/pool.ts";
import { rendererOptions } from "../service/renderer-options.ts";
import { systemRandom, workerCommand } from "../service/system.ts";
import { DEFAULT_TEMPLATE } from "../templates/built-in.ts";
import { browserCache } from "./browser-cache.ts";

/** Production workers for a designer's command, with a scratch folder. */
export interface OpenPreviewPool {
  pool: PreviewPool;
  scratch: string;
  close(): Promise<void>;
}

/** Designers look at hundreds of cards an hour; each recycled worker costs them its warm page. */
const RENDERS_PER_BROWSER = 5_000;
const BROWSER_LIFETIME_MS = 24 * 60 * 60 * 1000;

/**
 * Starts the workers, which are warm some seconds later. Throws an OperatorError when no browser can run.
 * @param normalPriority for pictures that somebody waits for: those of production are drawn at a lower one
 */
export async function openPreviewPool(
  config: Config,
  log: Log,
  normalPriority = false,
  workers = 1,
): Promise<OpenPreviewPool> {
  const scratch = await mkdtemp(join(tmpdir(), "cardpress-design-"));
  try {
    const renderer = await rendererOptions(
      { ...config, templatesDir: undefined, presets: [DEFAULT_TEMPLATE] },
      { cache: await browserCache(config, scratch), profiles: scratch, cutouts: join(scratch, "cutouts") },
    );
    const pool = createRenderPool({
      workers,
      command: workerCommand(),
      renderer: { ...renderer, normalPriority },
      log,
      random: systemRandom,
      rendersPerBrowser: RENDERS_PER_BROWSER,
      browserLifetimeMs: BROWSER_LIFETIME_MS,
    });
    return {
      pool,
      scratch,
      close: async () => {
        await pool.close();
        await rm(scratch, { recursive: true, force: true });
      },
    };
  } catch (error) {
    await rm(scratch, { recursive: true, force: true });
    throw error;
  }
}
