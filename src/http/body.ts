import { AppError } from "../core/errors.ts";
import { MAX_BODY_BYTES } from "../core/limits.ts";

/** Throws 415 unless the request says it carries JSON in UTF-8. */
export function requireJsonType(request: Request): void {
  const [type = "", ...parameters] = (request.headers.get("content-type") ?? "").split(";");
  const charset = parameters.map((p) => p.trim().toLowerCase()).find((p) => p.startsWith("charset="));
  const utf8 = charset === undefined || /^charset="?utf-?8"?$/.test(charset);
  if (type.trim().toLowerCase() === "application/json" && utf8) return;
  const message = "must be application/json (in UTF-8).";
  throw new AppError("UNSUPPORTED_MEDIA_TYPE", `The Content-Type header ${message}`, {
    details: [{ field: "header Content-Type", message }],
  });
}

/**
 * Reads and parses a JSON body. Throws 413 as soon as the limit is passed, by the announced length or by the bytes
 * that came; 400 for what is no JSON in UTF-8.
 */
export async function readJson(request: Request): Promise<unknown> {
  const bytes = await readBounded(request);
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw brokenJson("it is not valid UTF-8");
  }
  if (text.trim() === "") throw brokenJson("it is empty");
  try {
    return JSON.parse(text);
  } catch (error) {
    throw brokenJson((error as Error).message.replace(/^JSON Parse error: /, ""));
  }
}

function brokenJson(reason: string): AppError {
  return new AppError("INVALID_REQUEST", `The body must be one JSON object: ${reason}.`, {
    details: [{ field: "body", message: `must be one JSON object: ${reason}.` }],
  });
}

/** A body's bytes. Throws 413 as soon as the limit is passed. */
export async function readBounded(request: Request): Promise<Uint8Array> {
  if (Number(request.headers.get("content-length") ?? 0) > MAX_BODY_BYTES) throw tooLarge();
  if (!request.body) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Leaving the loop early cancels the stream: the rest is never read.
  for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function tooLarge(): AppError {
  const message = `must be at most ${MAX_BODY_BYTES / 1024} KB. Send the photo's address, not the photo.`;
  return new AppError("PAYLOAD_TOO_LARGE", `The body ${message}`, {
    details: [{ field: "body", message }],
    // The unread rest of the body cannot be skipped on this connection.
    headers: { Connection: "close" },
  });
}
