import type { Node } from "./node.ts";

const PROBE_MS = 1_000;
const PROBE_PATIENCE_MS = 2_500;
/** Longer than any answer may take. */
const PATIENCE_MS = 30_000;
/** Marks an answer as the balancer's own. */
export const OWN_ANSWER = "x-balancer";
/** Names the node that answered. */
export const ANSWERED_BY = "x-answered-by";

export interface Balancer {
  address: string;
  stop(): Promise<void>;
}

/** A round-robin proxy that asks nodes for their readiness, and sends to all of them while none is ready. */
export function startBalancer(port: number, nodes: readonly Node[]): Balancer {
  const ready = new Set<Node>(nodes);
  let turn = 0;
  const probes = setInterval(() => {
    for (const node of nodes)
      void fetch(`${node.address}/ready`, { signal: AbortSignal.timeout(PROBE_PATIENCE_MS) })
        .then(({ ok }) => (ok ? ready.add(node) : ready.delete(node)))
        .catch(() => ready.delete(node));
  }, PROBE_MS);
  const inTurn = (): Node[] => {
    const known = ready.size > 0 ? nodes.filter((node) => ready.has(node)) : [...nodes];
    turn += 1;
    return known.map((_, n) => known[(n + turn) % known.length]).filter((node) => node !== undefined);
  };
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port,
    idleTimeout: 0,
    fetch: async (request) => {
      const { pathname, search } = new URL(request.url);
      const body = request.body ? await request.bytes() : null;
      for (const node of inTurn()) {
        try {
          const answer = await fetch(node.address + pathname + search, {
            method: request.method,
            headers: request.headers,
            body,
            redirect: "manual",
            decompress: false,
            signal: AbortSignal.timeout(PATIENCE_MS),
          });
          const headers = new Headers(answer.headers);
          headers.set(ANSWERED_BY, node.name);
          return new Response(answer.body, { status: answer.status, headers });
        } catch (error) {
          // What never reached a node may be sent to another one.
          const isRefused = (error as { code?: string }).code === "ConnectionRefused";
          if (isRefused || request.method === "GET") continue;
          return new Response(null, {
            status: 502,
            headers: { [OWN_ANSWER]: String(error), [ANSWERED_BY]: node.name },
          });
        }
      }
      return new Response(null, { status: 502, headers: { [OWN_ANSWER]: "no node answers" } });
    },
  });
  return {
    address: `http://127.0.0.1:${server.port}`,
    stop: async () => {
      clearInterval(probes);
      await server.stop(true);
    },
  };
}
