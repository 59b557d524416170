import { Refusal } from "../core/errors.ts";
import { bind, type ListenAddress } from "./bind.ts";
import { liveAnswer, readyAnswer } from "./health.ts";
import { isOwnHost } from "./host.ts";
import { type MetricsDeps, metricsAnswer, refuseStrangers } from "./metrics.ts";

/**
 * Serves /metrics, /ready and /live on a separate address that no proxy forwards to (CARDPRESS_METRICS_HOST
 * and CARDPRESS_METRICS_PORT). Throws an OperatorError when it cannot listen there.
 */
export function listenForMetrics(deps: MetricsDeps, address: ListenAddress) {
  const server = bind(
    address,
    () =>
      Bun.serve({
        hostname: address.host,
        port: address.port,
        reusePort: false,
        development: false,
        maxRequestBodySize: 1,
        fetch: (request) => answer(deps, request),
      }),
    "CARDPRESS_METRICS",
  );
  return { port: server.port ?? address.port, stop: () => server.stop(true) };
}

async function answer(deps: MetricsDeps, request: Request): Promise<Response> {
  try {
    switch (URL.parse(request.url)?.pathname) {
      case "/live":
        return liveAnswer({});
      case "/ready":
        return await readyAnswer(deps, {});
      case "/metrics":
        // Guards against DNS rebinding: a page in somebody's browser must not read it.
        refuseStrangers(deps.config, request, isOwnHost(request, deps.config.baseUrl));
        return await metricsAnswer(deps, {});
      default:
        return new Response("Here are /metrics, /ready and /live.\n", { status: 404 });
    }
  } catch (error) {
    return new Response(`${(error as Error).message}\n`, { status: error instanceof Refusal ? 404 : 500 });
  }
}
