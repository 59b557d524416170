import { setTimeout as sleep } from "node:timers/promises";
import PQueue from "p-queue";
import type { Log } from "../core/ports.ts";

/** A worker loop over the database: a wake-up makes it look sooner, polling makes sure it looks at all. */
export interface Loop {
  wake(): void;
  /** Starts nothing new, and resolves when the current runs have ended. */
  stop(): Promise<void>;
}

export interface LoopOptions {
  name: string;
  /** How many runs may be in progress at once. */
  concurrency: number;
  pollMs: number;
  /**
   * Does one piece of work. Calls `more` as soon as it has claimed something, so that another run looks for
   * more in parallel.
   */
  runOne: (signal: AbortSignal, more: () => void) => Promise<void>;
  log: Log;
}

export function startLoop(options: LoopOptions): Loop {
  const queue = new PQueue({ concurrency: options.concurrency });
  const stopping = new AbortController();
  const { signal } = stopping;

  const look = () => {
    // One run may be queued: otherwise a wake-up could be lost to runs that are just finding nothing.
    if (!signal.aborted && queue.size === 0) void queue.add(run);
  };
  const run = async () => {
    if (signal.aborted) return;
    try {
      await options.runOne(signal, look);
    } catch (error) {
      // The database or the disk is in trouble. Polling will try again; retrying immediately would only spin.
      if (!signal.aborted) options.log.error("loop_failed", { loop: options.name, error: String(error) });
    }
  };
  const poll = (async () => {
    while (!signal.aborted) {
      look();
      await sleep(options.pollMs, undefined, { signal }).catch(() => {});
    }
  })();

  return {
    wake: look,
    stop: async () => {
      stopping.abort(new Error(`${options.name} stops`));
      await poll;
      await queue.onIdle();
    },
  };
}
