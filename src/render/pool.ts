import { setTimeout as sleep } from "node:timers/promises";
import {
  BROWSER_LIFETIME_MS,
  MEMORY_LOOK_MS,
  RENDER_TIMEOUT_MS,
  WORKER_MEMORY_BYTES,
  WORKER_MEMORY_END,
} from "../core/limits.ts";
import { isOutOfDescriptors } from "../system/descriptors.ts";
import { memoryOfGroups } from "./browser/group-memory.ts";
import type { RenderPoolOptions } from "./pool-options.ts";
import {
  answerIn,
  askWorker,
  CLOSED,
  clearAway,
  kill,
  memoryOf,
  type PreviewOutcome,
  RESTING,
  RenderInterrupted,
  type RenderOutcome,
  refusedBy,
  startWorker,
  type Work,
  type Worker,
} from "./pool-worker.ts";
import type { SupportsJob } from "./preview/messages.ts";
import type { DocumentJob, PreviewJob, RenderJob, Stage } from "./protocol.ts";

export { RenderFault, RenderInterrupted } from "./pool-worker.ts";

/** Pause before retrying a worker that could not start, doubled each time up to the maximum. */
const FIRST_RESTART_DELAY_MS = 200;
const MAX_RESTART_DELAY_MS = 30_000;
/**
 * While all workers are idle, their memory is measured at one tick in so many only: that reads two files of
 * every process on the machine, and was most of what a resting service did.
 */
const IDLE_TICKS = 15;

/** A warm worker, exclusively yours until released. */
export interface Renderer {
  render(job: RenderJob, onStage: (stage: Stage) => void): Promise<RenderOutcome>;
  /** Prints a document as a PDF into the job's file. */
  printDocument(job: DocumentJob): Promise<void>;
  release(): void;
}

/** The same worker with the operations designers need. */
export interface PreviewRenderer extends Renderer {
  /** Draws a folder's template from its current files. */
  preview(job: PreviewJob): Promise<PreviewOutcome>;
  /** Asks Chromium which declarations of a style sheet it supports. */
  supports(job: SupportsJob): Promise<boolean[]>;
}

/** Keeps a number of render workers running, warm and recycled, or none while nobody needs one. */
export interface RenderPool {
  /** Waits for a warm worker. Rejects when the pool closes or `signal` aborts. */
  acquire(signal?: AbortSignal): Promise<Renderer>;
  /**
   * How many workers are warm, and how many there should be: none in a pool at rest. A worker being recycled
   * counts until its successor is warm. `takesWork`: what is accepted now will be drawn, since a worker is
   * warm or about to be, as its browser answers, or starts for the next card.
   */
  health(): { ready: number; wanted: number; takesWork: boolean };
  /** Memory of all workers and their browsers, excluding shared pages. */
  memoryBytes(): number;
  /** Process ids of the workers, for the crash tests and `doctor`. */
  pids(): number[];
  close(): Promise<void>;
}

export interface PreviewPool extends RenderPool {
  acquire(signal?: AbortSignal): Promise<PreviewRenderer>;
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one closure over the workers and their states; apart, each part would carry all of it.
export function createRenderPool(options: RenderPoolOptions): PreviewPool {
  const { browserLifetimeMs = BROWSER_LIFETIME_MS, workerMemoryBytes = WORKER_MEMORY_BYTES } = options;
  const { groupMemory = memoryOfGroups, memoryLookMs: lookMs = MEMORY_LOOK_MS } = options;
  const closing = new AbortController();
  const warm = new Set<Worker>();
  const idle: Worker[] = [];
  const waiting: ((worker: Worker) => void)[] = [];
  const starting = new Set<Promise<void>>();
  const workers = new Set<Worker>();
  const endings = new Set<Promise<void>>();
  /** No worker is kept, since nobody has needed one for long. */
  let resting = false;
  /** The first worker after a rest is starting, and has not failed yet. */
  let waking = false;
  /** Workers that are to follow the first one. */
  let unstarted = 0;
  let lastWorkAtMs = performance.now();
  /** Due for recycling, and working until its successor is warm. One at a time, so that capacity stays. */
  let outgoing: Worker | undefined;

  const offer = (worker: Worker) => {
    const next = waiting.shift();
    if (next) next(worker);
    else idle.push(worker);
  };
  const drop = (worker: Worker, endReason?: string) => {
    worker.alive = false;
    warm.delete(worker);
    const place = idle.indexOf(worker);
    if (place >= 0) idle.splice(place, 1);
    kill(worker, endReason);
  };
  const refill = (onWarm = () => {}) => {
    const start = startUntilWarm(onWarm).finally(() => starting.delete(start));
    starting.add(start);
  };
  /** Handles a worker that broke. If it was being recycled, its successor is on the way. */
  const lose = (worker: Worker) => {
    if (!worker.alive) return;
    drop(worker);
    if (worker !== outgoing && !closing.signal.aborted) refill();
  };

  const tellFailure = (error: unknown, retryInMs: number) => {
    options.meter?.add("cardpress_render_worker_starts_total", { end: "failed" });
    options.log.error("render_worker_start_failed", { error: String(error), retryInMs });
  };
  /** Starts a worker, retrying with growing pauses until one is warm. */
  async function startUntilWarm(onWarm: () => void): Promise<void> {
    let delayMs = FIRST_RESTART_DELAY_MS;
    let isShort = false;
    for (let tries = 0; !closing.signal.aborted; ) {
      try {
        const worker = await startWorker(waking ? wakeful(options) : options, workers, tries, (ended) => {
          const ending = clearAway(ended, options.log, closing.signal).finally(() => endings.delete(ending));
          endings.add(ending);
          lose(ended);
          if (ended === outgoing && ended.retired) replaceNext();
        });
        if (closing.signal.aborted) return drop(worker, CLOSED);
        warm.add(worker);
        waking = false;
        options.meter?.add("cardpress_render_worker_starts_total", { end: "warm" });
        onWarm();
        return offer(worker);
      } catch (error) {
        if (closing.signal.aborted) return;
        waking = false;
        const wasShort = isShort;
        isShort = isOutOfDescriptors(error);
        if (!(isShort && wasShort)) tellFailure(error, isShort ? FIRST_RESTART_DELAY_MS : delayMs);
        if (isShort) {
          // No process was begun and nothing is broken: logged once, and cheap enough to be tried until it
          // works.
          await sleep(FIRST_RESTART_DELAY_MS, undefined, { signal: closing.signal }).catch(() => {});
          continue;
        }
        tries += 1;
        await sleep(delayMs, undefined, { signal: closing.signal }).catch(() => {});
        delayMs = Math.min(delayMs * 2, MAX_RESTART_DELAY_MS);
        if (closing.signal.aborted) return;
        await options.repair?.().catch((cause) => {
          options.log.error("render_worker_not_restored", { error: String(cause) });
        });
      }
    }
  }

  const isOld = (worker: Worker) =>
    worker.isLarge ||
    worker.renders >= worker.share ||
    performance.now() - worker.startedAtMs >= browserLifetimeMs;
  const retire = (worker: Worker) =>
    drop(worker, `replaced after ${worker.renders} renders, which bounds what a leak can cost`);
  /** Starts the successor of a worker due for recycling; until it is warm, the old one continues. */
  const replaceNext = () => {
    const done = !outgoing || (outgoing.retired && !workers.has(outgoing));
    if (!done || closing.signal.aborted) return;
    const old = [...warm].find(isOld);
    outgoing = old;
    if (!old) return;
    refill(() => {
      old.retired = true;
      if (idle.includes(old)) retire(old);
      if (!old.alive) replaceNext();
    });
  };
  const giveBack = (worker: Worker) => {
    if (!worker.alive) return;
    if (worker.retired) return retire(worker);
    offer(worker);
    replaceNext();
  };

  const checkMemory = () => {
    const groups = groupMemory();
    for (const worker of workers) {
      const bytes = memoryOf(worker, groups);
      worker.isLarge = bytes > workerMemoryBytes;
      if (bytes <= WORKER_MEMORY_END * workerMemoryBytes) continue;
      options.log.warn("render_worker_too_large", { pid: worker.process.pid, bytes });
      worker.killedForMemory = true;
      // A worker that is not warm yet is handled when its start ends.
      if (worker.alive) lose(worker);
      else kill(worker);
    }
  };
  /** Gives the workers' memory back to the system when nobody has needed one for long. */
  const rest = () => {
    const isAtWork = starting.size > 0 || outgoing !== undefined || idle.length < options.workers - unstarted;
    if (resting || isAtWork || performance.now() - lastWorkAtMs < (options.restAfterMs ?? Infinity)) return;
    resting = true;
    unstarted = 0;
    for (const worker of [...warm]) drop(worker, RESTING);
  };
  let lookedAtMs = performance.now();
  /** Whether a worker may have grown: one is busy, or was since the last look. Idle ones hardly do. */
  const mayHaveGrown = () =>
    idle.length < workers.size ||
    lastWorkAtMs >= lookedAtMs ||
    performance.now() - lookedAtMs >= IDLE_TICKS * lookMs;
  const watch = setInterval(() => {
    if (workers.size > 0 && mayHaveGrown()) {
      lookedAtMs = performance.now();
      checkMemory();
    }
    // Idle workers grow old too.
    replaceNext();
    rest();
  }, lookMs);

  /**
   * The first alone, which is warm in half the time: from then on cards are drawn. The others follow; after a
   * rest only when the first card is done or a second waits, since their start would take that card's
   * processor.
   */
  const startAll = () => {
    const wasResting = resting;
    waking = resting;
    resting = false;
    refill(() => {
      unstarted = options.workers - 1;
      if (!wasResting || waiting.length > 1) startOthers();
    });
  };
  const startOthers = () => {
    for (; unstarted > 0; unstarted--) refill();
  };
  startAll();

  return {
    acquire: async (signal) => {
      lastWorkAtMs = performance.now();
      if (resting) startAll();
      else if (idle.length === 0) startOthers();
      const worker = idle.shift() ?? (await nextWorker(waiting, closing.signal, signal));
      const ask = <Asked extends Work>(work: Asked, onStage: (stage: Stage) => void = () => {}) =>
        askWorker(worker, work, onStage, options.renderTimeoutMs ?? RENDER_TIMEOUT_MS, () =>
          lose(worker),
        ).catch((error) => {
          throw closing.signal.aborted ? new RenderInterrupted("the render pool was closed") : error;
        });
      return {
        render: async (job, onStage) => {
          const end = await ask({ type: "render", job }, onStage);
          return end.type === "done" ? { kind: "done", file: end.file } : refusedBy(end);
        },
        printDocument: async (job) => {
          answerIn(await ask({ type: "document", job }));
        },
        preview: async (job) => {
          const end = await ask({ type: "preview", job });
          return end.type === "previewed" ? { kind: "done", preview: end.preview } : refusedBy(end);
        },
        supports: async (job) => answerIn(await ask({ type: "supports", job })).known,
        release: () => {
          lastWorkAtMs = performance.now();
          startOthers();
          giveBack(worker);
        },
      };
    },
    health: () => ({
      ready: Math.min(warm.size, options.workers),
      wanted: resting ? 0 : options.workers,
      takesWork: resting || waking || warm.size > 0 || [...workers].some(({ isOpening }) => isOpening),
    }),
    memoryBytes: () => {
      const groups = groupMemory();
      return [...workers].reduce((all, worker) => all + memoryOf(worker, groups), 0);
    },
    pids: () => [...workers].map((worker) => worker.process.pid),
    close: async () => {
      clearInterval(watch);
      closing.abort(new Error("the render pool is closed"));
      for (const worker of workers) kill(worker, CLOSED);
      await Promise.all(starting);
      await Promise.all([...workers].map((worker) => worker.ended));
      await Promise.all(endings);
    },
  };
}

/** For the worker that a card waits for after a rest: it opens what that card needs, and the rest later. */
function wakeful(options: RenderPoolOptions): RenderPoolOptions {
  return { ...options, renderer: { ...options.renderer, warms: "one_page" } };
}

function nextWorker(
  waiting: ((worker: Worker) => void)[],
  ...signals: (AbortSignal | undefined)[]
): Promise<Worker> {
  const signal = AbortSignal.any(signals.filter((s) => s !== undefined));
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const take = (worker: Worker) => {
      signal.removeEventListener("abort", giveUp);
      resolve(worker);
    };
    const giveUp = () => {
      waiting.splice(waiting.indexOf(take), 1);
      reject(signal.reason);
    };
    signal.addEventListener("abort", giveUp, { once: true });
    waiting.push(take);
  });
}
