/** Notifies every open page of events, as server-sent events. */
export interface EventStream {
  send(event: string, data: unknown): void;
  /** A stream for one page; it ends when the request is aborted. */
  open(signal: AbortSignal): Response;
  close(): void;
}

/**
 * How often to send a comment, so that proxies and sleeping tabs do not take a silent stream for a dead one.
 */
const HEARTBEAT_MS = 20_000;

export function eventStream(): EventStream {
  const encoder = new TextEncoder();
  const pages = new Set<ReadableStreamDefaultController<Uint8Array>>();
  const write = (page: ReadableStreamDefaultController<Uint8Array>, text: string) => {
    try {
      page.enqueue(encoder.encode(text));
    } catch {
      // The page has just disconnected.
      pages.delete(page);
    }
  };
  const all = (text: string) => {
    for (const page of pages) write(page, text);
  };
  const heartbeat = setInterval(() => all(": still here\n\n"), HEARTBEAT_MS);
  heartbeat.unref();
  return {
    send: (event, data) => all(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`),
    open: (signal) => {
      let mine: ReadableStreamDefaultController<Uint8Array>;
      const stream = new ReadableStream<Uint8Array>({
        start: (controller) => {
          mine = controller;
          pages.add(controller);
          // A page that lost the connection soon reconnects, and then draws everything again.
          write(controller, "retry: 500\n\n");
        },
        cancel: () => void pages.delete(mine),
      });
      signal.addEventListener("abort", () => pages.delete(mine), { once: true });
      return new Response(stream, {
        headers: { "Content-Type": "text/event-stream", "Cache-Control": "no-store" },
      });
    },
    close: () => {
      clearInterval(heartbeat);
      for (const page of pages) {
        try {
          page.close();
        } catch {}
      }
      pages.clear();
    },
  };
}
