import type { AppContext } from "../app/context.ts";
import { Refusal } from "../core/errors.ts";
import type { RenderPool } from "../render/pool.ts";
import { countByState } from "../store/images.ts";
import { standardHeaders } from "./envelope.ts";
import type { Exchange } from "./exchange.ts";
import { isOwnHost } from "./host.ts";

/** Upper bounds of the request-time buckets, in seconds: from a cached read to the slowest photo fetch. */
const BUCKETS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const LOOPBACK = /^(127\.|::1$|::ffff:127\.)/;

/** What proxies say about the client they pass on: whichever of these is there, it is not this machine that asks. */
const PROXY_HEADERS =
  /^(forwarded|via|x-forwarded-.+|x-original-.+|x-envoy-.+|x-real-ip|.+-client-?ip|cf-(ray|connecting-ip)|cloudfront-.+)$/;

/** Counts answered requests, for /metrics. */
export interface RequestMetrics {
  observe(method: string, route: string, status: number, ms: number): void;
  lines(): string[];
}

export interface MetricsParts extends AppContext {
  pool: RenderPool;
  requests: RequestMetrics;
}

export function requestMetrics(): RequestMetrics {
  const counts = new Map<string, number>();
  const times = new Map<string, { buckets: number[]; sum: number; count: number }>();
  return {
    observe: (method, route, status, ms) => {
      const series = `method="${method}",route="${route}",status="${status}"`;
      counts.set(series, (counts.get(series) ?? 0) + 1);
      const seconds = ms / 1000;
      const key = `route="${route}"`;
      const time = times.get(key) ?? { buckets: BUCKETS_S.map(() => 0), sum: 0, count: 0 };
      times.set(key, time);
      for (const [place, bound] of BUCKETS_S.entries()) {
        if (seconds <= bound) time.buckets[place] = (time.buckets[place] ?? 0) + 1;
      }
      time.sum += seconds;
      time.count += 1;
    },
    lines: () => [
      "# HELP cardpress_http_requests_total Answered requests.",
      "# TYPE cardpress_http_requests_total counter",
      ...[...counts].map(([series, n]) => `cardpress_http_requests_total{${series}} ${n}`),
      "# HELP cardpress_http_request_seconds Time to answer.",
      "# TYPE cardpress_http_request_seconds histogram",
      ...[...times].flatMap(([key, { buckets, sum, count }]) => [
        ...BUCKETS_S.map((le, n) => `cardpress_http_request_seconds_bucket{${key},le="${le}"} ${buckets[n]}`),
        `cardpress_http_request_seconds_bucket{${key},le="+Inf"} ${count}`,
        `cardpress_http_request_seconds_sum{${key}} ${sum}`,
        `cardpress_http_request_seconds_count{${key}} ${count}`,
      ]),
    ],
  };
}

/**
 * GET /metrics in Prometheus' text format 0.0.4. Answers the machine itself only: what a reverse proxy passes on, by its
 * headers or under a public name, and what a page in this machine's browser asks for under a name of its own, is refused
 * as if the address did not exist.
 */
export async function metrics(parts: MetricsParts, exchange: Exchange): Promise<Response> {
  const { request, clientAddress } = exchange;
  const isForwarded = [...request.headers.keys()].some((name) => PROXY_HEADERS.test(name));
  if (isForwarded || !LOOPBACK.test(clientAddress) || !isOwnHost(request, "http://localhost")) {
    throw new Refusal(
      "NOT_FOUND",
      "There is nothing at /metrics for this client; it answers this machine only, at 127.0.0.1 or localhost.",
    );
  }
  const unfinished = await countByState(parts.store.read);
  const { ready, wanted } = parts.pool.health();
  const lines = [
    ...parts.requests.lines(),
    "# HELP cardpress_images_unfinished Images that wait or are being rendered.",
    "# TYPE cardpress_images_unfinished gauge",
    ...unfinished.map(
      (row) =>
        `cardpress_images_unfinished{environment="${row.environment}",state="${row.state}"} ${row.count}`,
    ),
    "# HELP cardpress_render_workers Render workers that are warm, and that there should be.",
    "# TYPE cardpress_render_workers gauge",
    `cardpress_render_workers{state="ready"} ${ready}`,
    `cardpress_render_workers{state="wanted"} ${wanted}`,
    "# HELP process_resident_memory_bytes Memory of the server process, without its render workers.",
    "# TYPE process_resident_memory_bytes gauge",
    `process_resident_memory_bytes ${process.memoryUsage.rss()}`,
  ];
  return new Response(`${lines.join("\n")}\n`, {
    headers: { ...standardHeaders(exchange), "Content-Type": "text/plain; version=0.0.4; charset=utf-8" },
  });
}
