import { createServer, connect as dial, type Socket } from "node:net";

/** A network before a server that loses packets: it closes nothing, and nobody notices. */
export interface SilentProxy {
  port: number;
  /** From now on nothing passes on the connections there are, in either direction. */
  forgetConnections(): void;
  /** Whether new connections are accepted and get no answer. */
  isDead: boolean;
  /**
   * Lets the next COMMIT of a connection on which `text` was sent reach the server, and loses all that
   * follows on it, its answer first. Resolves once it has been sent.
   */
  loseCommitAfter(text: string): Promise<void>;
  /** How many connections it has taken. */
  taken(): number;
  close(): Promise<void>;
}

interface Flow {
  isSilent: boolean;
  /** Which text it has been sent. */
  isMarked: boolean;
}

/** Starts one before a server on this machine. */
export async function silentProxy(upstreamPort: number): Promise<SilentProxy> {
  const flows = new Set<Flow>();
  const sockets = new Set<Socket>();
  let taken = 0;
  let awaited: { text: string; sent: () => void } | undefined;
  const watch = (flow: Flow, chunk: Buffer) => {
    if (!awaited) return;
    const text = chunk.toString("latin1");
    flow.isMarked ||= text.includes(awaited.text);
    if (!flow.isMarked || !text.includes("COMMIT")) return;
    const { sent } = awaited;
    awaited = undefined;
    return sent;
  };
  const server = createServer({ allowHalfOpen: true }, (near) => {
    taken++;
    const flow: Flow = { isSilent: proxy.isDead, isMarked: false };
    flows.add(flow);
    const far = dial({ port: upstreamPort, host: "127.0.0.1", allowHalfOpen: true });
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => {});
    }
    near.on("data", (chunk: Buffer) => {
      if (flow.isSilent) return;
      const sent = watch(flow, chunk);
      far.write(chunk);
      if (!sent) return;
      flow.isSilent = true;
      sent();
    });
    far.on("data", (chunk) => {
      if (!flow.isSilent) near.write(chunk);
    });
    near.on("end", () => flow.isSilent || far.end());
    far.on("end", () => flow.isSilent || near.end());
  });
  const proxy: SilentProxy = {
    port: 0,
    isDead: false,
    forgetConnections: () => {
      for (const flow of flows) flow.isSilent = true;
    },
    loseCommitAfter: (text) =>
      new Promise((sent) => {
        for (const flow of flows) flow.isMarked = false;
        awaited = { text, sent };
      }),
    taken: () => taken,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((closed) => server.close(closed));
    },
  };
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const address = server.address();
  proxy.port = typeof address === "object" && address ? address.port : 0;
  return proxy;
}
