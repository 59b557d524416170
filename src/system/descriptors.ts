import { closeSync, openSync } from "node:fs";
import { MIN_FREE_DESCRIPTORS } from "../core/limits.ts";

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
