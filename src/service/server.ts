import { setTimeout as sleep } from "node:timers/promises";
import { type Config, withPort } from "../config.ts";
import type { Log } from "../core/ports.ts";
import { DRAIN_TIMEOUT_MS, EXIT_TIMEOUT_MS, RENDER_GRACE_MS } from "../core/stop-limits.ts";
import { COMMIT, VERSION } from "../version.ts";
import { freePort } from "./free-port.ts";
import { type Service, type ServiceOptions, startService } from "./start.ts";

export interface RunningServer {
  config: Config;
  service: Service;
  /** Drains: no request is cut off, unfinished work returns to the queue. */
  stop(): Promise<void>;
}

/**
 * Starts the whole service and listens. Throws an OperatorError, with nothing left running, when it cannot
 * listen.
 */
export async function startServer(
  wanted: Config,
  log: Log,
  options: Omit<ServiceOptions, "beforeStart"> = {},
): Promise<RunningServer> {
  const config = wanted.port === 0 ? withPort(wanted, await freePort(wanted.host)) : wanted;
  // A taken port is reported before a browser is started for nothing.
  const beforeStart = async () => void (await freePort(config.host, config.port));
  const service = await startService(config, log, { ...options, beforeStart });
  try {
    return serveRequests(service, await waysIn(), log);
  } catch (error) {
    // Otherwise its loops and browsers would keep the process alive and the data folder locked.
    await service.drain(0);
    await service.close();
    throw error;
  }
}

/** Loaded only now: half of the program's code, which costs no time while the first render worker starts. */
async function waysIn() {
  const [{ consoleAnswer }, { listenForMetrics }, { listen }] = await Promise.all([
    import("../console/answer.ts"),
    import("../http/metrics-listener.ts"),
    import("../http/server.ts"),
  ]);
  return { consoleAnswer, listenForMetrics, listen };
}

type WaysIn = Awaited<ReturnType<typeof waysIn>>;

function serveRequests(
  service: Service,
  { consoleAnswer, listenForMetrics, listen }: WaysIn,
  log: Log,
): RunningServer {
  const { config } = service;
  let draining = false;
  const pages = consoleAnswer(service);
  const deps = { ...service, pages, isDraining: () => draining };
  const inside = config.metricsListener && listenForMetrics(deps, config.metricsListener);
  let http: ReturnType<typeof listen>;
  try {
    http = listen(deps, config);
  } catch (error) {
    void inside?.stop();
    throw error;
  }
  log.info("listening", {
    address: config.baseUrl,
    version: VERSION,
    commit: COMMIT,
    dataDir: config.dataDir,
    workers: config.renderWorkers,
  });
  return {
    config,
    service,
    stop: async () => {
      draining = true;
      log.info("draining", {});
      const giveUp = setTimeout(() => process.exit(1), EXIT_TIMEOUT_MS);
      // In parallel: renders finish while the last requests do.
      await Promise.all([
        // A timer that keeps no process alive: a command that failed ends at once after this.
        Promise.race([http.stop(), sleep(DRAIN_TIMEOUT_MS, undefined, { ref: false })]),
        service.drain(RENDER_GRACE_MS),
      ]);
      // Keeps answering health checks until here, so that the shutdown can be observed.
      await inside?.stop();
      await service.close();
      clearTimeout(giveUp);
      log.info("stopped", {});
    },
  };
}
