import { lacksDescriptors } from "../system/descriptors.ts";

/** This machine has run out of descriptors, ports or memory, or has no network. */
const EXHAUSTION_CODES = new Set([
  "EMFILE",
  "ENFILE",
  "EADDRNOTAVAIL",
  "ENOBUFS",
  "ENOMEM",
  "EAGAIN",
  "ENETDOWN",
]);

/**
 * Whether a connection failed because this machine ran out of something. Bun reports ECONNREFUSED when it has
 * no descriptor for the socket (seen on 1.4.5), so a refusal is only believed when a few more could be opened
 * now.
 */
export function isOurs(error: unknown): boolean {
  const codes = codesOf(error);
  return (
    codes.some((code) => EXHAUSTION_CODES.has(code)) || (codes.includes("ECONNREFUSED") && lacksDescriptors())
  );
}

/** Of an error and its parts, one for each address that was tried. */
function codesOf(error: unknown): string[] {
  if (!(error instanceof Error)) return [];
  const own = "code" in error ? [String(error.code)] : [];
  return error instanceof AggregateError ? [...own, ...error.errors.flatMap(codesOf)] : own;
}
