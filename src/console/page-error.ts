import { Refusal } from "../core/errors.ts";
import type { Log } from "../core/ports.ts";

/** A refusal shown as a page; its message says what to do. */
export class PageError extends Error {
  constructor(
    readonly status: 403 | 404 | 405 | 415 | 421,
    message: string,
  ) {
    super(message);
    this.name = "PageError";
  }
}

/** The same response for what does not exist and what belongs to somebody else. */
export function notFound(): PageError {
  return new PageError(404, "There is no such page here, or it belongs to another account.");
}

/** Logs our own faults. Refusals are not faults, but their causes, such as a full disk, are. */
export function logFault(
  { exchange, deps }: { exchange: { requestId: string }; deps: { log: Log } },
  error: unknown,
): void {
  const fault =
    error instanceof Refusal ? (error.code === "SERVICE_OVERLOADED" ? error.cause : undefined) : error;
  if (fault === undefined) return;
  const cause = fault instanceof Error ? fault.stack : String(fault);
  deps.log.error("console_failed", { requestId: exchange.requestId, cause });
}
