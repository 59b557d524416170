/** What one run of requests told. */
export interface Load {
  requests: number;
  perSecond: number;
  /** Milliseconds from a request to the end of its answer, in order. */
  times: number[];
}

export interface LoadOptions {
  port: number;
  /** With everything, also the blank line at its end. */
  request: string;
  /** What the first line of every answer has to say. */
  status: number;
  connections: number;
  requests: number;
  /** Requests a second over all connections; as many as are answered when absent. */
  perSecond?: number;
}

/**
 * Sends one request again and again over connections that stay open, each its next one after its answer. On bare
 * sockets, since a client that reads headers costs more than the server that is measured. Rejects on any other status.
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

/** The time within which that share of the answers came. */
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
