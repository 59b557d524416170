import { Refusal } from "../core/errors.ts";
import { bind, type ListenAddress } from "./bind.ts";
import { readyAnswer } from "./health.ts";
import { isOwnHost } from "./host.ts";
import { type MetricsParts, metricsAnswer, refuseStrangers } from "./metrics.ts";

/**
 * Answers /metrics, /ready and /live on an address of their own, which no proxy leads to (CARDPRESS_METRICS_HOST and
 * CARDPRESS_METRICS_PORT). Throws an OperatorError where it cannot listen there.
 */
export function listenForMetrics(parts: MetricsParts, address: ListenAddress) {
  const server = bind(
    address,
    () =>
      Bun.serve({
        hostname: address.host,
        port: address.port,
        reusePort: false,
        development: false,
        maxRequestBodySize: 1,
        fetch: (request) => answer(parts, request),
      }),
    "CARDPRESS_METRICS",
  );
  return { port: server.port ?? address.port, stop: () => server.stop(true) };
}

async function answer(parts: MetricsParts, request: Request): Promise<Response> {
  try {
    switch (URL.parse(request.url)?.pathname) {
      case "/live":
        return Response.json({ status: "ok" });
      case "/ready":
        return await readyAnswer(parts, {});
      case "/metrics":
        // A page in somebody's browser must not read it by letting its own name point here.
        refuseStrangers(parts.config, request, isOwnHost(request, parts.config.baseUrl));
        return await metricsAnswer(parts, {});
      default:
        return new Response("Here are /metrics, /ready and /live.\n", { status: 404 });
    }
  } catch (error) {
    return new Response(`${(error as Error).message}\n`, { status: error instanceof Refusal ? 404 : 500 });
  }
}
