import { readFileSync } from "node:fs";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import tls from "node:tls";

const TLS_DIR = join(import.meta.dir, "tls");
const pem = (name: string) => readFileSync(join(TLS_DIR, `test-only-${name}.pem`), "utf8");

export const TEST_AUTHORITY = pem("authority");
export type TestCertificate = "photos.example" | "expired" | "self-signed";

export interface TestServer {
  port: number;
  /** `http://127.0.0.1:port`, or `https://photos.example:port` with a certificate. */
  origin: string;
  /** The start line and headers of every request received. */
  requests: string[];
  /** Resolves when the first connection has been closed by the other side. */
  firstClosed: Promise<void>;
  close: () => void;
}

type Answer = (socket: Socket, request: string) => void;

/** A server that speaks whatever bytes a test wants, also such as no HTTP library would send. */
export async function serveRaw(answer: Answer, certificate?: TestCertificate): Promise<TestServer> {
  const sockets = new Set<Socket>();
  const requests: string[] = [];
  const firstClosed = Promise.withResolvers<void>();
  const onSocket = (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => firstClosed.resolve());
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
      if (!text.includes("\r\n\r\n")) return;
      requests.push(text);
      answer(socket, text);
      text = "";
    });
  };
  const server = certificate
    ? tls.createServer({ cert: pem(certificate), key: pem("photos.example.key") }, onSocket)
    : createServer(onSocket);
  server.on("tlsClientError", () => {});
  const port = await listen(server, "127.0.0.1");
  return {
    port,
    origin: certificate ? `https://photos.example:${port}` : `http://127.0.0.1:${port}`,
    requests,
    firstClosed: firstClosed.promise,
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** Sends `greeting` to every connection and then nothing: a hang in the middle of a TLS handshake. */
export async function serveSilence(greeting = ""): Promise<TestServer> {
  const firstClosed = Promise.withResolvers<void>();
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("data", () => {});
    socket.write(greeting);
    socket.on("close", () => firstClosed.resolve());
  });
  const port = await listen(server, "127.0.0.1");
  return {
    port,
    origin: `https://photos.example:${port}`,
    requests: [],
    firstClosed: firstClosed.promise,
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** Serves each path's bytes with a Content-Length, and 404 for the rest. */
export function serveFiles(files: Record<string, Uint8Array>): Promise<TestServer> {
  return serveRaw((socket, request) => {
    const body = files[request.split(" ")[1] ?? ""];
    if (body === undefined) socket.end(head(404, { "Content-Length": 0 }));
    else {
      socket.write(head(200, { "Content-Length": body.length, "Content-Type": "text/plain" }));
      socket.end(body);
    }
  });
}

export function head(status: number, headers: Record<string, string | number> = {}): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} Any\r\n${lines.join("")}\r\n`;
}

export interface Canary {
  port: number;
  /** False where the machine has no IPv6 at all. */
  listensOnIpv6: boolean;
  /** Connections from anybody but this canary itself, after everything sent until now has arrived. */
  connections: () => Promise<number>;
  close: () => void;
}

/** Listens on every address of the machine, IPv4 and IPv6. */
export async function startCanary(): Promise<Canary> {
  let count = 0;
  let awaited: (() => void) | undefined;
  const server = createServer((socket) => {
    socket.on("error", () => {});
    count++;
    awaited?.();
    socket.destroy();
  });
  const port = await listen(server, "::").catch(() => listen(server, "0.0.0.0"));
  const listensOnIpv6 = (server.address() as AddressInfo).family === "IPv6";
  let own = 0;
  return {
    port,
    listensOnIpv6,
    connections: async () => {
      // Connections are accepted in order: when our own arrives, every earlier one has been counted.
      const { promise, resolve } = Promise.withResolvers<void>();
      awaited = resolve;
      const before = count;
      const probe = await Bun.connect({ hostname: "127.0.0.1", port, socket: { data() {} } });
      if (count === before) await promise;
      probe.end();
      return count - ++own;
    },
    close: () => server.close(),
  };
}

function listen(server: Server, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, host, () => resolve((server.address() as AddressInfo).port));
  });
}
