import { request as ask, createServer, type IncomingMessage, type ServerResponse } from "node:http";

/** Shares of the requests that go wrong. */
const REFUSED = 0.05;
const STALLED = 0.02;
/** Of those that read an object or a list. */
const TRUNCATED = 0.1;

export type StorageMode = "well" | "flaky" | "down";

export interface StorageProxy {
  origin: string;
  /** How often each kind of fault was met. */
  met: Record<"refused" | "stalled" | "truncated" | "down", number>;
  setMode(mode: StorageMode): void;
  isDown(): boolean;
  stop(): void;
}

/** An answer's own destroy() ends one of which no byte is sent yet as a whole, empty one. */
export const breakOff = (response: ServerResponse) => void response.socket?.destroy();

/**
 * A proxy before S3 storage that answers 500 and 503, stalls, breaks answers off, or takes no connections.
 * Notes whatever changes the storage.
 */
export async function storageProxy(
  endpoint: string,
  random: () => number,
  note: (line: string) => void = () => {},
): Promise<StorageProxy> {
  const { hostname, port } = new URL(endpoint);
  let mode: StorageMode = "well";
  const met = { refused: 0, stalled: 0, truncated: 0, down: 0 };
  const stalled = new Set<ServerResponse>();
  const pass = (request: IncomingMessage, response: ServerResponse, truncate: boolean) => {
    // With the same Host header, which is part of what is signed.
    const { method = "GET", url: path = "/", headers } = request;
    const onwards = ask({ hostname, port, method, path, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      if (method !== "GET" && method !== "HEAD") note(`${method} ${path} ${answer.statusCode}`);
      if (!truncate) return void answer.pipe(response);
      answer.once("data", (bytes: Buffer) => {
        met.truncated += 1;
        note(`${method} ${path} ${answer.statusCode} cut short`);
        response.write(bytes.subarray(0, Math.floor(bytes.length / 2)), () => breakOff(response));
        answer.destroy();
      });
      // An answer without a body cannot be cut.
      answer.once("end", () => response.end());
    });
    onwards.on("error", () => breakOff(response));
    response.on("close", () => onwards.destroy());
    request.pipe(onwards);
  };
  const server = createServer((request, response) => {
    if (mode === "down") {
      met.down += 1;
      return void request.socket.destroy();
    }
    const chance = mode === "flaky" ? random() : 1;
    if (chance < REFUSED) {
      met.refused += 1;
      request.resume();
      response.writeHead(chance < REFUSED / 2 ? 500 : 503, { "Content-Type": "application/xml" });
      return void response.end(
        "<Error><Code>SlowDown</Code><Message>Please reduce your rate.</Message></Error>",
      );
    }
    if (chance < REFUSED + STALLED) {
      met.stalled += 1;
      stalled.add(response);
      return void response.on("close", () => stalled.delete(response));
    }
    pass(request, response, mode === "flaky" && request.method === "GET" && random() < TRUNCATED);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as { port: number }).port}`,
    met,
    setMode: (next) => {
      mode = next;
      if (mode !== "flaky") for (const response of stalled) breakOff(response);
    },
    isDown: () => mode === "down",
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
