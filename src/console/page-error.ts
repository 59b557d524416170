import { Refusal } from "../core/errors.ts";
import type { Visit } from "./visit.ts";

/** A refusal that is shown as a page; its message tells the reader what to do. */
export class PageError extends Error {
  constructor(
    readonly status: 403 | 404 | 405 | 415 | 421,
    message: string,
  ) {
    super(message);
    this.name = "PageError";
  }
}

/** The same answer for what is not there and for what is not yours. */
export function notFound(): PageError {
  return new PageError(404, "There is no such page here, or it belongs to another account.");
}

/** Logs what is a fault of ours. A refusal is none, nor is one for want of a free place: its cause, such as a full disk, is. */
export function logFault({ exchange, deps }: Visit, error: unknown): void {
  const fault =
    error instanceof Refusal ? (error.code === "SERVICE_OVERLOADED" ? error.cause : undefined) : error;
  if (fault === undefined) return;
  const cause = fault instanceof Error ? fault.stack : String(fault);
  deps.log.error("console_failed", { requestId: exchange.requestId, cause });
}
