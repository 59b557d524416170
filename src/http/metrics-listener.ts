import { Refusal } from "../core/errors.ts";
import { bind, type ListenAddress } from "./bind.ts";
import { readyAnswer } from "./health.ts";
import { isOwnHost } from "./host.ts";
import { type MetricsDeps, metricsAnswer, refuseStrangers } from "./metrics.ts";

/**
 * Answers /metrics, /ready and /live on an address of their own, which no proxy leads to (CARDPRESS_METRICS_HOST and
 * CARDPRESS_METRICS_PORT). Throws an OperatorError where it cannot listen there.
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
        return Response.json({ status: "ok" });
      case "/ready":
        return await readyAnswer(deps, {});
      case "/metrics":
        // A page in somebody's browser must not read it by letting its own name point here.
        refuseStrangers(deps.config, request, isOwnHost(request, deps.config.baseUrl));
        return await metricsAnswer(deps, {});
      default:
        return new Response("Here are /metrics, /ready and /live.\n", { status: 404 });
    }
  } catch (error) {
    return new Response(`${(error as Error).message}\n`, { status: error instanceof Refusal ? 404 : 500 });
  }
}
