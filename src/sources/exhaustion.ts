import { closeSync, openSync } from "node:fs";
import { MIN_FREE_DESCRIPTORS } from "../core/limits.ts";

/** This machine lacks descriptors, ports, memory or its network. */
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
 * Whether a connection failed for want of something on this machine. Bun says ECONNREFUSED where there was no descriptor
 * for the socket (seen on 1.4.5), so that is believed only when a few more could be opened now.
 */
export function isOurs(error: unknown): boolean {
  const codes = codesOf(error);
  return (
    codes.some((code) => EXHAUSTION_CODES.has(code)) || (codes.includes("ECONNREFUSED") && lacksDescriptors())
  );
}

/** Of an error, and of those it is made of: one for each address that was tried. */
function codesOf(error: unknown): string[] {
  if (!(error instanceof Error)) return [];
  const own = "code" in error ? [String(error.code)] : [];
  return error instanceof AggregateError ? [...own, ...error.errors.flatMap(codesOf)] : own;
}

function lacksDescriptors(): boolean {
  const opened: number[] = [];
  try {
    while (opened.length < MIN_FREE_DESCRIPTORS) opened.push(openSync("/dev/null", "r"));
    return false;
  } catch {
    return true;
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}
