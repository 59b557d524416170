import { createHash, timingSafeEqual } from "node:crypto";
import { type GaugesDeps, gauges } from "../app/operations/gauges.ts";
import type { Config } from "../config.ts";
import { Refusal } from "../core/errors.ts";
import type { Sample } from "../core/metrics.ts";
import { standardHeaders } from "./envelope.ts";
import type { Exchange } from "./exchange.ts";
import { type HealthDeps, readiness } from "./health.ts";
import { isOwnHost } from "./host.ts";

const LOOPBACK = /^(127\.|::1$|::ffff:127\.)/;

/**
 * Headers that proxies add about their client: if any is present, the request does not come from this
 * machine.
 */
const PROXY_HEADERS =
  /^(forwarded|via|x-forwarded-.+|x-original-.+|x-envoy-.+|x-real-ip|.+-client-?ip|cf-(ray|connecting-ip)|cloudfront-.+)$/;

export interface MetricsDeps extends GaugesDeps, HealthDeps {}

/**
 * GET /metrics in Prometheus text format 0.0.4. Requires CARDPRESS_METRICS_TOKEN if set. Otherwise only the
 * machine itself may read it: what a reverse proxy forwards, by its headers or under a public name, and what
 * a page in a local browser requests under a name of its own, gets 404.
 */
export async function metrics(deps: MetricsDeps, exchange: Exchange): Promise<Response> {
  const { request, clientAddress } = exchange;
  const isForwarded = [...request.headers.keys()].some((name) => PROXY_HEADERS.test(name));
  const isInside = !isForwarded && LOOPBACK.test(clientAddress) && isOwnHost(request, "http://localhost");
  refuseStrangers(deps.config, request, isInside);
  return metricsAnswer(deps, standardHeaders(exchange));
}

/** Throws NOT_FOUND unless the request has the token or, when none is set, comes from this machine. */
export function refuseStrangers(
  { metricsToken }: Pick<Config, "metricsToken">,
  request: Request,
  isInside: boolean,
): void {
  if (metricsToken === undefined ? isInside : showsToken(request, metricsToken)) return;
  throw new Refusal(
    "NOT_FOUND",
    metricsToken === undefined
      ? "There is nothing at /metrics for this client; it answers this machine only, at 127.0.0.1 or localhost."
      : "There is nothing at /metrics for this client; it answers requests with Authorization: Bearer and CARDPRESS_METRICS_TOKEN.",
  );
}

/** Compares hashes, so that timing reveals nothing about the token. */
function showsToken(request: Request, token: string): boolean {
  const given = request.headers.get("authorization") ?? "";
  return timingSafeEqual(sha256(given), sha256(`Bearer ${token}`));
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** All current measurements. */
export async function metricsAnswer(deps: MetricsDeps, headers: Record<string, string>): Promise<Response> {
  const checks = Object.entries(await readiness(deps));
  const samples: Sample[] = [
    ...(await gauges(deps)),
    ...checks.map(
      ([check, ok]) => ({ name: "cardpress_ready", labels: { check }, value: ok ? 1 : 0 }) as const,
    ),
  ];
  return new Response(deps.meter.text(samples), {
    headers: { ...headers, "Content-Type": "text/plain; version=0.0.4; charset=utf-8" },
  });
}
