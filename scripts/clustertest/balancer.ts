import { request as ask, createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Node } from "./node.ts";
import { breakOff } from "./storage-proxy.ts";

const PROBE_MS = 1_000;
const PROBE_PATIENCE_MS = 2_500;
/** Longer than any answer may take. */
const PATIENCE_MS = 30_000;
/** Marks an answer as the balancer's own. */
export const OWN_ANSWER = "x-balancer";
/** Names the node that answered. */
export const ANSWERED_BY = "x-answered-by";
/** How long others were asked before it in vain, ms. */
export const PASSED_ON_AFTER = "x-passed-on-after";

export interface Balancer {
  address: string;
  stop(): void;
}

/** A round-robin proxy that asks nodes for their readiness, and sends to all of them while none is ready. */
export async function startBalancer(port: number, nodes: readonly Node[]): Promise<Balancer> {
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
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const body = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>));
    const arrivedAt = performance.now();
    for (const node of inTurn()) {
      const passedOnAfter = Math.round(performance.now() - arrivedAt);
      try {
        const found = await asked(node, request, body);
        const own = { [ANSWERED_BY]: node.name, [PASSED_ON_AFTER]: String(passedOnAfter) };
        return passOn(found, response, own);
      } catch (error) {
        // What never reached a node may be sent to another one.
        const isRefused = (error as { code?: string }).code === "ECONNREFUSED";
        if (isRefused || request.method === "GET") continue;
        return void response
          .writeHead(502, { [OWN_ANSWER]: (error as Error).message, [ANSWERED_BY]: node.name })
          .end();
      }
    }
    response.writeHead(502, { [OWN_ANSWER]: "no node answers" }).end();
  };
  const server = createServer((request, response) => {
    answer(request, response).catch(() => request.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return {
    address: `http://127.0.0.1:${port}`,
    stop: () => {
      clearInterval(probes);
      server.closeAllConnections();
      server.close();
    },
  };
}

/**
 * Sends a request to a node. Not by fetch(), of which a process makes 256 at a time: more would wait here,
 * not there.
 */
function asked(
  node: Node,
  { method, url, headers }: IncomingMessage,
  body: Buffer,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(node.address);
    const sent = ask({ hostname, port, method, path: url, headers, agent: false }, resolve);
    sent.on("error", reject);
    sent.setTimeout(PATIENCE_MS, () => sent.destroy(new Error("no answer in time")));
    sent.end(body);
  });
}

/** What breaks off on its way here breaks off on its way on. */
function passOn(from: IncomingMessage, to: ServerResponse, own: Record<string, string>): void {
  to.writeHead(from.statusCode ?? 502, { ...from.headers, ...own });
  from.on("error", () => breakOff(to));
  from.on("aborted", () => breakOff(to));
  to.on("close", () => from.destroy());
  from.pipe(to);
}
