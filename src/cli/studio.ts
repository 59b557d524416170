import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { Command } from "commander";
import { readConfig } from "../config.ts";
import { OperatorError } from "../core/errors.ts";
import { quietLog } from "../log.ts";
import { untilSignal } from "../service/stop-signal.ts";
import { systemRandom } from "../service/system.ts";
import { serveStudio } from "../studio/serve.ts";
import { openStudio } from "../studio/studio.ts";
import { wholeNumber } from "./arguments.ts";
import { printResult } from "./output.ts";
import { openDesignBench } from "./preview-pool.ts";

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
          `${root} is no folder that can be read. Name a template's folder, or one that holds some.`,
        );
      const bench = await openDesignBench(config, quietLog(), true);
      try {
        const studio = await openStudio({
          root,
          scratch: `${bench.scratch}/studio`,
          pool: bench.pool,
          baseUrl: config.baseUrl,
        });
        const server = serveStudio(studio, { port: options.port, random: systemRandom });
        printResult(options.json, { url: server.url, folder: root }, () => notice(server.url, root));
        if (options.open && !options.json) openBrowser(server.url);
        await stop;
        await server.stop();
        await studio.close();
      } finally {
        await bench.close();
      }
      process.exit(0);
    });
}

function notice(url: string, root: string): string {
  return `The studio of ${root}\n\n  ${url}\n\nOpen it in a browser on this machine; whoever has the address may use it. Ctrl-C ends it.`;
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
