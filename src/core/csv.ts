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
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const { value, done } = await lines.next();
      if (done) controller.close();
      else controller.enqueue(new TextEncoder().encode(value));
    },
    cancel: async () => void (await lines.return(undefined)),
  });
}
