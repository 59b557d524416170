import { Refusal } from "../../core/errors.ts";
import {
  LIST_READER_LOOK_MS,
  LIST_READER_MEMORY_BYTES,
  LIST_READER_TIMEOUT_MS,
  MAX_LIST_BYTES,
  MAX_LIST_READERS,
  MAX_WAITING_LISTS,
} from "../../core/list-limits.ts";
import type { Log } from "../../core/ports.ts";
import { residentBytes } from "../../system/own-limits.ts";
import type { ListAnswer } from "./list-worker.ts";
import type { SquadList } from "./squad-list.ts";

/** Reads a squad list that somebody of an account uploaded. Throws INVALID_REQUEST that says what to do. */
export type ReadSquadList = (accountId: string, bytes: Uint8Array) => Promise<SquadList>;

/** In JSON a control character takes six bytes. The frame around each row and cell is small beside that. */
const MAX_ANSWER_BYTES = 8 * MAX_LIST_BYTES;

/**
 * Reads lists in a process of its own each: whatever a file makes a parser do, the service goes on answering,
 * and the kernel ends it.
 * @param command starts a process that runs list-worker.ts
 */
export function listReader({ command, log }: { command: readonly string[]; log: Log }): ReadSquadList {
  const accounts = new Set<string>();
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (accountId, bytes) => {
    if (accounts.has(accountId) || waiting.length >= MAX_WAITING_LISTS)
      throw new Refusal(
        "LIMIT_REACHED",
        "Another list is being read. Wait a moment, and upload this one again.",
      );
    accounts.add(accountId);
    try {
      if (running >= MAX_LIST_READERS) await new Promise<void>((begin) => waiting.push(begin));
      else running += 1;
      try {
        return await readElsewhere(command, bytes, log);
      } finally {
        // The place passes on to the one that has waited longest.
        const next = waiting.shift();
        if (next) next();
        else running -= 1;
      }
    } finally {
      accounts.delete(accountId);
    }
  };
}

async function readElsewhere(command: readonly string[], bytes: Uint8Array, log: Log): Promise<SquadList> {
  const child = Bun.spawn([...command], {
    stdin: bytes as Uint8Array<ArrayBuffer>,
    stdout: "pipe",
    stderr: "ignore",
    // Neither settings nor secrets: it needs none.
    env: { PATH: process.env.PATH, HOME: process.env.HOME, TMPDIR: process.env.TMPDIR },
    timeout: LIST_READER_TIMEOUT_MS,
    killSignal: "SIGKILL",
    maxBuffer: MAX_ANSWER_BYTES,
  });
  // The kernel refuses it large pieces of memory; small ones come from what the engine has set aside, without
  // a limit.
  const watch = setInterval(() => {
    if (residentBytes(child.pid) > LIST_READER_MEMORY_BYTES) child.kill("SIGKILL");
  }, LIST_READER_LOOK_MS);
  const [text, exitCode] = await Promise.all([new Response(child.stdout).text(), child.exited]).finally(() =>
    clearInterval(watch),
  );
  if (exitCode !== 0) {
    log.warn("list_reader_ended", { exitCode, signal: child.signalCode, bytes: bytes.length });
    throw new Refusal(
      "INVALID_REQUEST",
      "The file takes more memory or time to read than any squad list. Copy the squad's cells into a new file, and upload that.",
    );
  }
  const answer = JSON.parse(text) as ListAnswer;
  if ("refused" in answer) throw new Refusal("INVALID_REQUEST", answer.refused);
  return answer.list;
}
