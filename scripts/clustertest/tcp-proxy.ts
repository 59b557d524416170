import { connect, createServer, type Socket } from "node:net";

/** What happens to the bytes: they pass, they wait (a half-open connection), or every connection is cut. */
export type TcpMode = "pass" | "stall" | "cut";

export interface TcpProxy {
  port: number;
  setMode(mode: TcpMode): void;
  stop(): void;
}

/** A proxy before a server on this machine, for connections that go bad in between. */
export async function tcpProxy(target: number): Promise<TcpProxy> {
  let mode: TcpMode = "pass";
  const pairs = new Set<{ near: Socket; far: Socket }>();
  const server = createServer((near) => {
    if (mode === "cut") return void near.destroy();
    const far = connect(target, "127.0.0.1");
    const pair = { near, far };
    pairs.add(pair);
    const end = () => {
      pairs.delete(pair);
      near.destroy();
      far.destroy();
    };
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on("data", (bytes) => void to.write(bytes));
      from.on("error", end);
      from.on("close", end);
    }
    if (mode === "stall") hold(pair);
  });
  const hold = ({ near, far }: { near: Socket; far: Socket }) => {
    near.pause();
    far.pause();
  };
  const cutNow = () => {
    for (const { near, far } of pairs) {
      near.destroy();
      far.destroy();
    }
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as { port: number }).port,
    setMode: (next) => {
      mode = next;
      if (mode === "cut") cutNow();
      for (const pair of pairs) {
        if (mode === "stall") hold(pair);
        else {
          pair.near.resume();
          pair.far.resume();
        }
      }
    },
    stop: () => {
      cutNow();
      server.close();
    },
  };
}
