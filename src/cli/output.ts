import { OperatorError, Refusal, type RefusalCode } from "../core/errors.ts";
import { inOneLine } from "../core/name.ts";
import { storageFault } from "../core/storage-unavailable.ts";
import { asPartnerRefusal } from "../http/envelope.ts";

/** Prints one JSON value with `--json`, otherwise the text for people. */
export function printResult(json: boolean | undefined, value: unknown, text: () => string): void {
  process.stdout.write(`${json ? JSON.stringify(value) : text()}\n`);
}

/** Where to look for what was not found. */
const HINTS: Partial<Record<RefusalCode, string>> = {
  ACCOUNT_NOT_FOUND: '"cardpress account list" shows the accounts.',
  KEY_NOT_FOUND: '"cardpress key list --account ID" shows the keys.',
};

/** Prints an error to stderr and sets the exit code: 1 failed, 2 wrong usage. */
export function reportFailure(thrown: unknown, json: boolean): void {
  const error = storageFault(thrown) ? asPartnerRefusal(thrown) : thrown;
  const expected = error instanceof OperatorError || error instanceof Refusal;
  const message = expected
    ? withHint(error)
    : error instanceof Error
      ? (error.stack ?? error.message)
      : String(error);
  process.stderr.write(json ? `${JSON.stringify({ error: message })}\n` : `cardpress: ${message}\n`);
  process.exitCode = error instanceof OperatorError ? error.exitCode : 1;
}

function withHint(error: OperatorError | Refusal): string {
  const hint = error instanceof Refusal ? HINTS[error.code] : undefined;
  return hint === undefined ? error.message : `${error.message} ${hint}`;
}

/** A table with aligned columns, whatever characters are in its cells. */
export function table(rows: Record<string, unknown>[]): string {
  const [first] = rows;
  if (!first) return "";
  const names = Object.keys(first);
  const cells = [names, ...rows.map((row) => names.map((name) => inOneLine(String(row[name] ?? "-"))))];
  const widths = names.map((_, column) =>
    Math.max(...cells.map((row) => Bun.stringWidth(row[column] ?? ""))),
  );
  return cells
    .map((row) =>
      row
        .map((cell, c) => cell + " ".repeat((widths[c] ?? 0) - Bun.stringWidth(cell)))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/**
 * What people typed to get here: deploy/cardpressctl names itself, so that what it advises works as it
 * stands.
 */
export function calledAs(): string {
  return process.env.CARDPRESS_CALLED_AS === "cardpressctl" ? "cardpressctl" : "cardpress";
}
