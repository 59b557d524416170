import { Command } from "commander";
import { firstOperatorLink } from "../app/manage-users.ts";
import { type Config, readConfig, withPort } from "../config.ts";
import { consoleAnswer } from "../console/answer.ts";
import { DRAIN_TIMEOUT_MS } from "../core/limits.ts";
import type { Log } from "../core/ports.ts";
import { type Service, startService, type WorkspaceOptions } from "../deps.ts";
import { bind } from "../http/bind.ts";
import { memoryRateLimiter } from "../http/rate-limit.ts";
import { listen } from "../http/server.ts";
import { jsonLog } from "../log.ts";
import { VERSION } from "../version.ts";

/** Renders under way get this long to finish after SIGTERM; then they go back to the queue. */
const RENDER_GRACE_MS = 15_000;

export function serveCommand(): Command {
  return new Command("serve")
    .description("run the service")
    .option("--json", "print JSON (logs are JSON lines in any case)")
    .action(async () => {
      // From the first moment on: a stop during the start is one as well.
      const stop = untilSignal();
      const server = await startServer(readConfig(process.env), jsonLog());
      try {
        const link = await firstOperatorLink(server.service);
        if (link !== null) process.stderr.write(firstRunNotice(link));
        await stop;
      } finally {
        await server.stop();
      }
      process.exit(0);
    });
}

/** For people, on stderr: the log on stdout is never given a secret. */
function firstRunNotice(link: string): string {
  return `\nNobody can sign in to the console yet. Open this link once, within three days, to become its operator:\n\n  ${link}\n\n`;
}

export interface RunningServer {
  config: Config;
  service: Service;
  /** Drains: no request is cut, unfinished work goes back to the queue. */
  stop(): Promise<void>;
}

/** Starts the whole service and listens. Throws an OperatorError, with nothing left running, where it cannot listen. */
export async function startServer(
  wanted: Config,
  log: Log,
  options: WorkspaceOptions = {},
): Promise<RunningServer> {
  const config = wanted.port === 0 ? withPort(wanted, await freePort(wanted.host)) : wanted;
  // A port that is taken is told before a browser starts for nothing.
  const beforeStart = async () => void (await freePort(config.host, config.port));
  const service = await startService(config, log, { ...options, beforeStart });
  try {
    return serveRequests(service, log, options);
  } catch (error) {
    // Its loops and browsers would keep the process alive, and the data folder locked.
    await service.drain(0);
    await service.close();
    throw error;
  }
}

function serveRequests(service: Service, log: Log, options: WorkspaceOptions): RunningServer {
  const { config } = service;
  let draining = false;
  const limiter = memoryRateLimiter(() => service.clock.now());
  const pages = consoleAnswer({
    ...service,
    ...(options.outbound && { outbound: options.outbound }),
    limiter,
  });
  const http = listen({ ...service, limiter, pages, isDraining: () => draining }, config);
  log.info("listening", {
    address: config.baseUrl,
    version: VERSION,
    dataDir: config.dataDir,
    workers: config.renderWorkers,
  });
  return {
    config,
    service,
    stop: async () => {
      draining = true;
      log.info("draining", {});
      // Whatever hangs, an orchestrator's SIGKILL must not come first.
      const giveUp = setTimeout(() => process.exit(1), DRAIN_TIMEOUT_MS + 3_000);
      // Both at once: renders finish while the last requests do.
      await Promise.all([
        Promise.race([http.stop(), Bun.sleep(DRAIN_TIMEOUT_MS)]),
        service.drain(RENDER_GRACE_MS),
      ]);
      await service.close();
      clearTimeout(giveUp);
      log.info("stopped", {});
    },
  };
}

/**
 * A port nobody listens on now: `wanted`, or any. Chosen before anything starts, because every address we hand out
 * contains it. Throws an OperatorError where `wanted` is taken.
 */
export async function freePort(host: string, wanted = 0): Promise<number> {
  const probe = bind({ host, port: wanted }, () =>
    Bun.serve({ hostname: host, port: wanted, reusePort: false, fetch: () => new Response() }),
  );
  const { port = 0 } = probe;
  await probe.stop(true);
  return port;
}

/** Ctrl-C, a stop, or the end of the terminal it runs in. */
export function untilSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
      process.once(signal, () => resolve(signal));
  });
}
