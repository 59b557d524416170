import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { Command } from "commander";
import { type Config, readConfig } from "../config.ts";
import { OperatorError } from "../core/errors.ts";
import { quietLog } from "../log.ts";
import { untilSignal } from "../service/stop-signal.ts";
import { systemRandom } from "../service/system.ts";
import { type RunningStudio, serveStudio } from "../studio/serve.ts";
import { openStudio } from "../studio/studio.ts";
import { wholeNumber } from "./arguments.ts";
import { printResult } from "./output.ts";
import { openPreviewPool } from "./preview-pool.ts";

export function studioCommand(): Command {
  return new Command("studio")
    .description("design templates: every save is on the screen at once, drawn as production draws")
    .argument(
      "[dir]",
      "a template's folder, or one that holds some; otherwise CARDPRESS_TEMPLATES_DIR or this folder",
    )
    .option("--port <port>", "the port on 127.0.0.1; otherwise a free one", wholeNumber(0, 65_535), 0)
    .option("--no-open", "print the address and open no browser")
    .option("--json", "print JSON")
    .action(async (dir: string | undefined, options: { port: number; open: boolean; json?: boolean }) => {
      const stop = untilSignal();
      const config = readConfig(process.env);
      const root = resolve(dir ?? config.templatesDir ?? ".");
      if (!(await stat(root).catch(() => null))?.isDirectory())
        throw new OperatorError(
          `${root} is not a readable folder. Name a template's folder, or one that holds some.`,
        );
      await withStudio(config, root, options.port, async (server) => {
        printResult(options.json, { url: server.url, folder: root }, () => notice(server.url, root));
        if (options.open && !options.json) openBrowser(server.url);
        await stop;
      });
      process.exit(0);
    });
}

/**
 * Whatever fails, everything that was opened is closed: a watcher left behind would keep the program alive.
 */
async function withStudio(
  config: Config,
  root: string,
  port: number,
  use: (server: RunningStudio) => Promise<void>,
): Promise<void> {
  await using opened = new AsyncDisposableStack();
  const previews = opened.adopt(await openPreviewPool(config, quietLog(), true), (one) => one.close());
  const studio = opened.adopt(
    await openStudio({
      root,
      scratch: `${previews.scratch}/studio`,
      pool: previews.pool,
      baseUrl: config.baseUrl,
    }),
    (one) => one.close(),
  );
  await use(opened.adopt(serveStudio(studio, { port, random: systemRandom }), (one) => one.stop()));
}

function notice(url: string, root: string): string {
  return `The studio of ${root}\n\n  ${url}\n\nOpen it in a browser on this machine; anyone who has the address can use it. Ctrl-C ends it.`;
}

/** Works on a desktop; elsewhere the printed address has to do. */
function openBrowser(url: string): void {
  const hasDesktop = process.platform !== "linux" || process.env.DISPLAY || process.env.WAYLAND_DISPLAY;
  if (!hasDesktop) return;
  const command = process.platform === "darwin" ? "open" : "xdg-open";
  try {
    Bun.spawn([command, url], { stdio: ["ignore", "ignore", "ignore"] }).unref();
  } catch {
    // The address has been printed anyway.
  }
}
