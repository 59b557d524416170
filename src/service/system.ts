import { randomBytes } from "node:crypto";
import { customAlphabet } from "nanoid";
import type { Random } from "../core/ports.ts";

// What this process has of the machine it runs on.

const letters = customAlphabet("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", 24);
export const systemRandom: Random = {
  id: (prefix) => `${prefix}_${letters()}`,
  bytes: (length) => new Uint8Array(randomBytes(length)),
};

/** How this very program is started once more: from source, or from the compiled file. */
export function programCommand(): string[] {
  const compiled = import.meta.path.startsWith("/$bunfs/");
  return compiled ? [process.execPath] : [process.execPath, `${import.meta.dir}/../main.ts`];
}

/** How a worker process of this very program is started. */
export function workerCommand(): string[] {
  return [...programCommand(), "render-worker"];
}
