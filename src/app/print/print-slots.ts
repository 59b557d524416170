import { Refusal } from "../../core/errors.ts";
import { MAX_ACCOUNT_PRINT_FILES, MAX_PRINT_FILES, PRINT_RETRY_SECONDS } from "../../core/print-limits.ts";

/** How many files are being written for each account. */
const writing = new Map<string, number>();

/**
 * A place among the print files that are written at a time; what is returned gives it back, once. Throws
 * RATE_LIMIT_EXCEEDED when the account has its share, SERVICE_OVERLOADED when all are taken.
 */
export function takePrintSlot(accountId: string): () => void {
  const own = writing.get(accountId) ?? 0;
  const all = [...writing.values()].reduce((sum, count) => sum + count, 0);
  const retry = { retryAfterSeconds: PRINT_RETRY_SECONDS };
  if (own >= MAX_ACCOUNT_PRINT_FILES)
    throw new Refusal(
      "RATE_LIMIT_EXCEEDED",
      `The account is being sent ${own} print files already, and may have ${MAX_ACCOUNT_PRINT_FILES} at a time. Read one of them to its end, or close its connection.`,
      retry,
    );
  if (all >= MAX_PRINT_FILES)
    throw new Refusal(
      "SERVICE_OVERLOADED",
      "The service is writing as many print files as it can at a time. Send the same request again after the time in Retry-After.",
      retry,
    );
  writing.set(accountId, own + 1);
  let isTaken = true;
  return () => {
    if (!isTaken) return;
    isTaken = false;
    const left = (writing.get(accountId) ?? 1) - 1;
    if (left > 0) writing.set(accountId, left);
    else writing.delete(accountId);
  };
}
