import { streamed } from "./streamed.ts";

/**
 * What spreadsheets take for the beginning of a formula, the forms of full width included, which some take as
 * well.
 */
const FORMULA = /^[=+\-@＝＋－＠\t\r\n]/;

/**
 * One field of a CSV file. Text that looks like a formula gets a leading apostrophe, with which spreadsheets
 * show it.
 */
export function csvField(text: string): string {
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Lines as a body, each written when it is read. */
export function streamOfLines(lines: AsyncGenerator<string>): ReadableStream<Uint8Array> {
  return streamed(encoded(lines));
}

async function* encoded(lines: AsyncGenerator<string>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for await (const line of lines) yield encoder.encode(line);
}
