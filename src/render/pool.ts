import { RENDER_TIMEOUT_MS } from "../core/limits.ts";
import { memoryOfGroups } from "./browser/group-memory.ts";
import type { RenderPoolOptions } from "./pool-options.ts";
import { closePool, giveBack, lose, openPool, type PoolState, takeWorker } from "./pool-state.ts";
import { watchPool } from "./pool-watch.ts";
import {
  answerIn,
  askWorker,
  memoryOf,
  type PreviewOutcome,
  RenderInterrupted,
  type RenderOutcome,
  refusedBy,
  type Work,
  type Worker,
} from "./pool-worker.ts";
import type { SupportsJob } from "./preview/messages.ts";
import type { DocumentJob, PreviewJob, RenderJob, Stage } from "./protocol.ts";

export { RenderFault, RenderInterrupted } from "./pool-worker.ts";

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

/** Starts the workers of a pool, and keeps them running until it is closed. */
export function createRenderPool(options: RenderPoolOptions): PreviewPool {
  const pool = openPool(options);
  const endWatch = watchPool(pool);
  const { workers, warm } = pool;
  return {
    acquire: async (signal) => rendererOf(pool, await takeWorker(pool, signal)),
    health: () => ({
      ready: Math.min(warm.size, options.workers),
      wanted: pool.phase === "resting" ? 0 : options.workers,
      takesWork: pool.phase !== "awake" || warm.size > 0 || [...workers].some(({ isOpening }) => isOpening),
    }),
    memoryBytes: () => {
      const groups = (options.groupMemory ?? memoryOfGroups)();
      return [...workers].reduce((all, worker) => all + memoryOf(worker, groups), 0);
    },
    pids: () => [...workers].map((worker) => worker.process.pid),
    close: () => {
      endWatch();
      return closePool(pool);
    },
  };
}

function rendererOf(pool: PoolState, worker: Worker): PreviewRenderer {
  const timeoutMs = pool.options.renderTimeoutMs ?? RENDER_TIMEOUT_MS;
  const ask = <Asked extends Work>(work: Asked, onStage: (stage: Stage) => void = () => {}) =>
    askWorker(worker, work, onStage, timeoutMs, () => lose(pool, worker)).catch((error) => {
      throw pool.closing.signal.aborted ? new RenderInterrupted("the render pool was closed") : error;
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
    release: () => giveBack(pool, worker),
  };
}
