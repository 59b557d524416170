import { bind } from "../http/bind.ts";

/**
 * A free port: `wanted`, or any. Chosen before anything starts, because every URL we hand out contains it.
 * Throws an OperatorError when `wanted` is taken.
 */
export async function freePort(host: string, wanted = 0): Promise<number> {
  const probe = bind({ host, port: wanted }, () =>
    Bun.serve({ hostname: host, port: wanted, reusePort: false, fetch: () => new Response() }),
  );
  const { port = 0 } = probe;
  await probe.stop(true);
  return port;
}
