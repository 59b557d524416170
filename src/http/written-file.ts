import { standardHeaders } from "./envelope.ts";
import type { Exchange } from "./exchange.ts";

/** A file to keep; a stream is written while it is read. */
export function writtenFile(
  exchange: Exchange,
  parts: ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer>,
  disposition: string,
  type: string,
): Response {
  return new Response(parts, {
    headers: {
      ...standardHeaders(exchange),
      "Content-Type": type,
      "Content-Disposition": disposition,
      "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
    },
  });
}
