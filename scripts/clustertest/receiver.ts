import { Webhook } from "standardwebhooks";

/** Share of the events whose first attempt is answered 500. */
const FAILED = 0.1;
/** Long enough for attempts to overlap. */
const ANSWER_MS = 30;

export interface Receiver {
  origin: string;
  /** The endpoint at this path has this secret. */
  expect(path: string, secret: string): void;
  /** Ids of the events that were answered 200, by path. */
  delivered: Map<string, Set<string>>;
  figures: { attempts: number; failed: number; repeats: number; badSignatures: number; mostAtOnce: number };
  stop(): Promise<void>;
}

/** The partners' receivers: they verify signatures, and fail one event in ten at its first attempt. */
export function webhookReceiver(random: () => number): Receiver {
  const verifiers = new Map<string, Webhook>();
  const delivered = new Map<string, Set<string>>();
  const failedOnce = new Set<string>();
  const inFlight = new Map<string, number>();
  const figures = { attempts: 0, failed: 0, repeats: 0, badSignatures: 0, mostAtOnce: 0 };
  const take = async (request: Request, path: string): Promise<Response> => {
    const id = request.headers.get("webhook-id") ?? "";
    try {
      verifiers.get(path)?.verify(await request.text(), request.headers.toJSON());
    } catch {
      figures.badSignatures += 1;
      return new Response("bad signature", { status: 401 });
    }
    await Bun.sleep(ANSWER_MS);
    const name = `${path} ${id}`;
    if (!failedOnce.has(name) && random() < FAILED) {
      failedOnce.add(name);
      figures.failed += 1;
      return new Response("down", { status: 500 });
    }
    failedOnce.add(name);
    const known = delivered.get(path) ?? new Set();
    delivered.set(path, known);
    if (known.has(id)) figures.repeats += 1;
    known.add(id);
    return new Response("ok");
  };
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request) => {
      const path = new URL(request.url).pathname;
      const now = (inFlight.get(path) ?? 0) + 1;
      inFlight.set(path, now);
      figures.attempts += 1;
      figures.mostAtOnce = Math.max(figures.mostAtOnce, now);
      try {
        return await take(request, path);
      } finally {
        inFlight.set(path, (inFlight.get(path) ?? 1) - 1);
      }
    },
  });
  return {
    origin: `http://127.0.0.1:${server.port}`,
    expect: (path, secret) => void verifiers.set(path, new Webhook(secret)),
    delivered,
    figures,
    stop: () => server.stop(true),
  };
}
