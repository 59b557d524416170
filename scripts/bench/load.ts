/** The result of a run of requests. */
export interface Load {
  requests: number;
  perSecond: number;
  /** Milliseconds from request to end of answer, sorted. */
  times: number[];
}

export interface LoadOptions {
  port: number;
  /** The complete request, including the blank line at its end. */
  request: string;
  /** The status that every answer must have. */
  status: number;
  connections: number;
  requests: number;
  /** Requests per second over all connections; unlimited when absent. */
  perSecond?: number;
}

/**
 * Sends one request repeatedly over open connections, each waiting for its answer before the next. Uses bare
 * sockets, since a client that parses headers costs more than the measured server. Rejects on any other
 * status.
 */
export async function load(options: LoadOptions): Promise<Load> {
  const { connections, requests, perSecond } = options;
  const times: number[] = [];
  const startedAt = performance.now();
  let sent = 0;
  const one = async (): Promise<void> => {
    const client = await connect(options);
    while (sent < requests) {
      const dueMs = perSecond === undefined ? 0 : startedAt + (sent * 1000) / perSecond - performance.now();
      sent += 1;
      if (dueMs >= 1) await Bun.sleep(dueMs);
      const at = performance.now();
      await client.ask();
      times.push(performance.now() - at);
    }
    client.end();
  };
  await Promise.all(Array.from({ length: connections }, one));
  const seconds = (performance.now() - startedAt) / 1000;
  return { requests: times.length, perSecond: times.length / seconds, times: times.sort((a, b) => a - b) };
}

/** The time within which this share of the answers arrived. */
export function within(times: number[], share: number): number {
  return times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
}

async function connect({ port, request, status }: LoadOptions) {
  let text = "";
  let waiting: PromiseWithResolvers<void> | undefined;
  const good = `HTTP/1.1 ${status} `;
  const fail = (why: string) => waiting?.reject(new Error(why));
  const socket = await Bun.connect({
    hostname: "127.0.0.1",
    port,
    socket: {
      data: (_, bytes) => {
        text += bytes.toString("latin1");
        const head = text.indexOf("\r\n\r\n");
        if (head < 0) return;
        const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
        if (text.length < head + 4 + length) return;
        if (text.startsWith(good)) waiting?.resolve();
        else fail(text);
        text = "";
      },
      close: () => fail("the connection was closed"),
      error: (_, error) => fail(error.message),
    },
  });
  return {
    ask: () => {
      waiting = Promise.withResolvers<void>();
      socket.write(request);
      return waiting.promise;
    },
    end: () => {
      waiting = undefined;
      socket.end();
    },
  };
}
