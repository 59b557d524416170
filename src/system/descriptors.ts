import { closeSync, openSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { DESCRIPTORS_LOOK_MS, MIN_FREE_DESCRIPTORS } from "../core/outbound-limits.ts";

/** Whether this process could open hardly another file or connection now. */
export function lacksDescriptors(): boolean {
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

/** Whether something failed since this process, or the machine, had no descriptor left. */
export function isOutOfDescriptors(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return code === "EMFILE" || code === "ENFILE";
}

/** Resolves once files and connections can be opened, or when the signal aborts. */
export async function untilDescriptors(signal: AbortSignal): Promise<void> {
  while (!signal.aborted && lacksDescriptors())
    await sleep(DESCRIPTORS_LOOK_MS, undefined, { signal }).catch(() => {});
}
