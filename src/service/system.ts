import { randomBytes } from "node:crypto";
import { customAlphabet } from "nanoid";
import type { Random } from "../core/ports.ts";

// What this process takes from the machine it runs on: clock, ids, randomness.

const letters = customAlphabet("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", 24);
export const systemRandom: Random = {
  id: (prefix) => `${prefix}_${letters()}`,
  bytes: (length) => new Uint8Array(randomBytes(length)),
};

/** The command that runs this same program again: from source, or the compiled file. */
export function programCommand(): string[] {
  const compiled = import.meta.path.startsWith("/$bunfs/");
  return compiled ? [process.execPath] : [process.execPath, `${import.meta.dir}/../main.ts`];
}

/** The command that rewrites the database whose path is appended to it. */
export function rewriteCommand(): string[] {
  return [...programCommand(), "rewrite-database"];
}

/** The command that starts a worker process of this same program. */
export function workerCommand(): string[] {
  return [...programCommand(), "render-worker"];
}

/** The command that parses a squad list from its stdin. */
export function listReaderCommand(): string[] {
  return [...programCommand(), "read-list"];
}

/** The command that turns pictures into the inks of a press. */
export function cmykCommand(): string[] {
  return [...programCommand(), "convert-cmyk"];
}
