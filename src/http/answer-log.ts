import type { Log } from "../core/ports.ts";
import type { Exchange } from "./exchange.ts";
import { ROUTES } from "./route-table.ts";

/**
 * Anyone who knows the URL of a setup link, picture or card can open it, and a player who is deleted must not
 * stay in the log.
 */
const SECRET_ADDRESS = /(\/setup|\/cdn|\/share|\/gallery|\/cards|\/v1\/players)\/.*/;

/**
 * What supervisors and collectors ask every few seconds is most of a quiet service's log, unless it is left
 * out while all is well.
 */
export function isProbeInOrder(path: string | undefined, status: number): boolean {
  return status === 200 && PROBES.has(path ?? "");
}

const PROBES: ReadonlySet<string> = new Set([ROUTES.live.path, ROUTES.ready.path, ROUTES.metrics.path]);

/** Logs how a request was answered. */
export function logAnswer(log: Log, exchange: Exchange, status: number, ms: number): void {
  log.info("request", {
    requestId: exchange.requestId,
    method: exchange.request.method,
    path: exchange.url.pathname.replace(SECRET_ADDRESS, "$1/…").slice(0, 200),
    status,
    ms: Math.round(ms * 10) / 10,
  });
}
