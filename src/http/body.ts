import { BodyBuffer } from "../core/body-buffer.ts";
import { Refusal } from "../core/errors.ts";
import { excessOfJson } from "../core/json-bounds.ts";
import { placeOfFault } from "../core/json-place.ts";
import {
  BODY_TIMEOUT_MS,
  DISCARD_IDLE_MS,
  DISCARD_IDLE_TURNS,
  DISCARD_TIMEOUT_MS,
  MAX_BODY_BYTES,
  MAX_DISCARDED_BODY_BYTES,
  MAX_DISCARDED_PIECES,
  MAX_FORM_PARTS,
} from "../core/limits.ts";
import { payloadTooLarge, unsupportedMediaType } from "../core/partner-refusals.ts";
import { HttpRefusal } from "./http-refusal.ts";

/** Throws 415 unless the request declares plain JSON in UTF-8. */
export function requireJsonType(request: Request): void {
  const [type = "", ...parameters] = (request.headers.get("content-type") ?? "").split(";");
  const charset = parameters.map((p) => p.trim().toLowerCase()).find((p) => p.startsWith("charset="));
  const utf8 = charset === undefined || /^charset="?utf-?8"?$/.test(charset);
  if (type.trim().toLowerCase() !== "application/json" || !utf8) {
    throw unsupportedMediaType("Content-Type");
  }
  const coding = (request.headers.get("content-encoding") ?? "").trim().toLowerCase();
  if (coding !== "" && coding !== "identity") {
    throw unsupportedMediaType("Content-Encoding");
  }
}

interface UploadLimits {
  timeoutMs: number;
  maxBytes: number;
}

interface SentForm {
  file: { name: string; bytes: Uint8Array };
  fields: URLSearchParams;
}

/** The fields and the single file of a form. Throws 415, 413 and 400. */
export async function readUpload(request: Request, limits: UploadLimits): Promise<SentForm> {
  const { file, fields } = await readMultipart(request, limits);
  if (!file) throw brokenForm("it has 0 files");
  return { file, fields };
}

/** The same of a form whose file may be left out; null then. */
export async function readMultipart(
  request: Request,
  { timeoutMs, maxBytes }: UploadLimits,
): Promise<{ file: SentForm["file"] | null; fields: URLSearchParams }> {
  const type = request.headers.get("content-type") ?? "";
  if (!/^multipart\/form-data\s*;/i.test(type)) throw unsupportedMediaType("Content-Type of an upload");
  const bytes = await readBounded(request, timeoutMs, maxBytes, "Send a smaller file.");
  refuseManyParts(bytes, type);
  const form = await new Response(new Blob([bytes as Uint8Array<ArrayBuffer>]), {
    headers: { "Content-Type": type },
  })
    .formData()
    .catch((cause) => {
      throw brokenForm("it breaks off or is written wrongly", cause);
    });
  const fields = new URLSearchParams();
  const files: File[] = [];
  let chars = 0;
  for (const [name, value] of form.entries()) {
    chars += name.length;
    if (typeof value !== "string") files.push(value as File);
    else {
      chars += value.length;
      fields.append(name, value);
    }
  }
  // As much as a form without a file may have.
  if (chars > MAX_BODY_BYTES)
    throw brokenForm(`its fields have ${chars} characters beside the file, and may have ${MAX_BODY_BYTES}`);
  const [file = null] = files;
  if (files.length > 1) throw brokenForm(`it has ${files.length} files`);
  return {
    // A part without a file name has none in Bun, whatever its type says.
    file: file && { name: (file.name ?? "").slice(-MAX_FILE_NAME_CHARS), bytes: await file.bytes() },
    fields,
  };
}

/** As long as file systems allow, with the ending. */
const MAX_FILE_NAME_CHARS = 255;

/** Before they are parsed: a form of many tiny parts, each with a name, takes a hundred times its size. */
function refuseManyParts(bytes: Uint8Array, type: string): void {
  const [, quoted, plain = quoted] = /boundary=(?:"([^"]+)"|([^\s;]+))/i.exec(type) ?? [];
  if (plain === undefined) return;
  const form = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const boundary = Buffer.from(`--${plain}`);
  let parts = 0;
  for (let at = form.indexOf(boundary); at >= 0; at = form.indexOf(boundary, at + boundary.length)) {
    parts += 1;
    // The last boundary ends the form.
    if (parts > MAX_FORM_PARTS + 1) throw brokenForm(`it has more than ${MAX_FORM_PARTS} parts`);
  }
}

function brokenForm(reason: string, cause?: unknown): Refusal {
  const message = `must be a form with one file named "file": ${reason}.`;
  return new Refusal("INVALID_REQUEST", `The body ${message}`, {
    details: [{ field: "body", message }],
    cause,
  });
}

/** The JSON body of a call that may be sent without one: {} then. Throws 415, 413 and 400. */
export async function readJsonIfSent(request: Request): Promise<unknown> {
  if (request.body === null || request.headers.get("content-length") === "0") return {};
  requireJsonType(request);
  return readJson(request);
}

/**
 * Reads and parses a JSON body. Throws 413 as soon as the limit is exceeded, by the declared length or by the
 * bytes received; 400 for anything but JSON in UTF-8.
 */
export async function readJson(request: Request, maxBytes = MAX_BODY_BYTES): Promise<unknown> {
  const bytes = await readBounded(request, BODY_TIMEOUT_MS, maxBytes);
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw brokenJson("it is not valid UTF-8");
  }
  seen.set(request, text);
  if (text.trim() === "") throw brokenJson("it is empty");
  refuseExcess(text);
  try {
    return JSON.parse(text);
  } catch (error) {
    const reason = (error as Error).message.replace(/^JSON Parse error: /, "");
    const place = placeOfFault(text);
    throw brokenJson(place === undefined ? reason : `at ${place}: ${reason}`);
  }
}

const seen = new WeakMap<Request, string>();

/** The body text a request was read with, valid JSON or not; undefined when it was not read. */
export function jsonSeen(request: Request): string | undefined {
  return seen.get(request);
}

/** 400 for a text with more brackets than any message needs, before a parser is given it. */
export function refuseExcess(text: string): void {
  const excess = excessOfJson(text);
  if (excess !== undefined) throw brokenJson(excess);
}

function brokenJson(reason: string): Refusal {
  return new Refusal("INVALID_REQUEST", `The body must be one JSON object: ${reason}.`, {
    details: [{ field: "body", message: `must be one JSON object: ${reason}.` }],
  });
}

/**
 * Reads a body's bytes. Throws 413 as soon as the limit is exceeded, and 400 for a body that breaks off or
 * does not arrive in time, which nobody will receive and which is not logged as our fault.
 */
export async function readBounded(
  request: Request,
  timeoutMs = BODY_TIMEOUT_MS,
  maxBytes = MAX_BODY_BYTES,
  remedy?: string,
): Promise<Uint8Array> {
  if (announcedBytes(request) > maxBytes) throw tooLarge(maxBytes, remedy);
  if (!request.body) return new Uint8Array();
  const reader = request.body.getReader();
  let late = false;
  const stop = () => void reader.cancel().catch(() => {});
  const deadline = setTimeout(() => {
    late = true;
    stop();
  }, timeoutMs);
  try {
    const body = new BodyBuffer(maxBytes, announcedBytes(request));
    for (;;) {
      const { done, value } = await reader.read().catch((cause) => {
        throw incomplete("broke off before its end.", cause);
      });
      if (late) throw incomplete(`must arrive within ${timeoutMs / 1000} s.`);
      if (done) return body.whole;
      const outcome = body.add(value);
      if (outcome === "full") {
        // discardBody handles the rest.
        reader.releaseLock();
        throw tooLarge(maxBytes, remedy);
      }
      if (outcome === "trickling")
        throw incomplete(
          "arrives in pieces of a few bytes each: let your client send it whole, with its Content-Length.",
          new Error(body.size),
        );
    }
  } finally {
    clearTimeout(deadline);
    stop();
  }
}

/**
 * Discards what a client is still sending with a request that was answered early: closing the connection
 * would reset it, and many clients would report that instead of the response. So it is for those that asked
 * for 100 Continue: Bun sends it by itself before the request arrives here. Never rejects; gives up on a body
 * that is too long, too slow, in tiny chunks, or never begins. False when more may follow: then the
 * connection must be closed, because Bun keeps reading whatever arrives on an open one.
 */
export async function discardBody(request: Request): Promise<boolean> {
  const { body } = request;
  if (announcedBytes(request) > MAX_DISCARDED_BODY_BYTES) return false;
  // Bun exposes no body for GET or HEAD; one without a length may never end.
  if (!body) return !request.headers.has("transfer-encoding");
  // The code that read the body is responsible for its end.
  if (body.locked) return true;
  const reader = body.getReader();
  let gaveUp = false;
  const stop = () => void reader.cancel().catch(() => {});
  const giveUp = () => {
    gaveUp = true;
    stop();
  };
  const deadline = setTimeout(giveUp, DISCARD_TIMEOUT_MS);
  let silentTurns = 0;
  const idle = setInterval(() => {
    silentTurns += 1;
    if (silentTurns >= DISCARD_IDLE_TURNS) giveUp();
  }, DISCARD_IDLE_MS / DISCARD_IDLE_TURNS);
  try {
    for (let [size, pieces] = [0, 0]; size <= MAX_DISCARDED_BODY_BYTES && pieces <= MAX_DISCARDED_PIECES; ) {
      const { done, value } = await reader.read();
      if (done) return !gaveUp;
      size += value.length;
      pieces += 1;
      silentTurns = 0;
    }
  } catch {
    // Nobody is left to receive the response.
  } finally {
    clearTimeout(deadline);
    clearInterval(idle);
    stop();
  }
  return false;
}

/** NaN when the length is not announced. */
function announcedBytes(request: Request): number {
  return Number(request.headers.get("content-length") ?? Number.NaN);
}

/** The unread rest of the body cannot be skipped on this connection. */
const CLOSING = { Connection: "close" };

function incomplete(message: string, cause?: unknown): HttpRefusal {
  const refusal = new Refusal("INVALID_REQUEST", `The body ${message} Send the request again.`, {
    details: [{ field: "body", message }],
    cause,
  });
  return new HttpRefusal(refusal, CLOSING);
}

function tooLarge(maxBytes: number, remedy?: string): HttpRefusal {
  return new HttpRefusal(payloadTooLarge(maxBytes, remedy), CLOSING);
}
