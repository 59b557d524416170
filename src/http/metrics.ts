import { createHash, timingSafeEqual } from "node:crypto";
import { type VitalsDeps, vitals } from "../app/operations/vitals.ts";
import type { Config } from "../config.ts";
import { Refusal } from "../core/errors.ts";
import type { Sample } from "../core/metrics.ts";
import { standardHeaders } from "./envelope.ts";
import type { Exchange } from "./exchange.ts";
import { type HealthDeps, readiness } from "./health.ts";
import { isOwnHost } from "./host.ts";

const LOOPBACK = /^(127\.|::1$|::ffff:127\.)/;

/** What proxies say about the client they pass on: whichever of these is there, it is not this machine that asks. */
const PROXY_HEADERS =
  /^(forwarded|via|x-forwarded-.+|x-original-.+|x-envoy-.+|x-real-ip|.+-client-?ip|cf-(ray|connecting-ip)|cloudfront-.+)$/;

export interface MetricsDeps extends VitalsDeps, HealthDeps {}

/**
 * GET /metrics in Prometheus' text format 0.0.4. Answers whoever shows CARDPRESS_METRICS_TOKEN; where none is set, the
 * machine itself: what a reverse proxy passes on, by its headers or under a public name, and what a page in this machine's
 * browser asks for under a name of its own, is refused as if the address did not exist.
 */
export async function metrics(deps: MetricsDeps, exchange: Exchange): Promise<Response> {
  const { request, clientAddress } = exchange;
  const isForwarded = [...request.headers.keys()].some((name) => PROXY_HEADERS.test(name));
  const isInside = !isForwarded && LOOPBACK.test(clientAddress) && isOwnHost(request, "http://localhost");
  refuseStrangers(deps.config, request, isInside);
  return metricsAnswer(deps, standardHeaders(exchange));
}

/** Throws NOT_FOUND unless the request shows the token or, where there is none, comes from inside. */
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
      : "There is nothing at /metrics for this client; it answers whoever sends Authorization: Bearer with CARDPRESS_METRICS_TOKEN.",
  );
}

/** Compared by their hashes, so that the time it takes tells nothing about the token. */
function showsToken(request: Request, token: string): boolean {
  const given = request.headers.get("authorization") ?? "";
  return timingSafeEqual(sha256(given), sha256(`Bearer ${token}`));
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** Every number there is, now. */
export async function metricsAnswer(deps: MetricsDeps, headers: Record<string, string>): Promise<Response> {
  const checks = Object.entries(await readiness(deps));
  const samples: Sample[] = [
    ...(await vitals(deps)),
    ...checks.map(
      ([check, ok]) => ({ name: "cardpress_ready", labels: { check }, value: ok ? 1 : 0 }) as const,
    ),
  ];
  return new Response(deps.meter.text(samples), {
    headers: { ...headers, "Content-Type": "text/plain; version=0.0.4; charset=utf-8" },
  });
}
