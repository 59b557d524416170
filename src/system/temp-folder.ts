import { accessSync, constants } from "node:fs";
import { tmpdir } from "node:os";

/**
 * Where the system's folder for temporary files cannot be written, as in a container whose root is read-only,
 * `own` takes its place, for this process and those that it starts: Chromium wants one.
 */
export function ensureTempFolder(own: string): void {
  try {
    accessSync(tmpdir(), constants.W_OK | constants.X_OK);
  } catch {
    process.env.TMPDIR = own;
  }
}
