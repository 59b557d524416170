import { AppError, type ErrorDetail } from "../core/errors.ts";

/** A 400 whose message names the broken fields and whose details say everything. */
export function invalidRequest(details: ErrorDetail[]): AppError {
  const sentences = details.map(({ field, message }) => `${field} ${message}`);
  const shown = sentences.slice(0, 3).join(" ");
  const rest = sentences.length > 3 ? ` (and ${sentences.length - 3} more: see details)` : "";
  return new AppError("INVALID_REQUEST", shown + rest, { details });
}
