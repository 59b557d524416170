import type { Meter } from "../core/metrics.ts";
import type { Log, Random } from "../core/ports.ts";
import type { RendererOptions } from "./protocol.ts";

/** What a pool is created with, and starts its workers by. */
export interface RenderPoolOptions {
  workers: number;
  /** The command that starts a worker process. */
  command: string[];
  renderer: RendererOptions;
  log: Log;
  random: Random;
  /** Counts starts and exits. */
  meter?: Meter;
  /** Called before a failed start is retried: something it needs may have been damaged. */
  repair?: () => Promise<unknown>;
  /** On average: each worker's share varies by up to RENDERS_SPREAD. */
  rendersPerBrowser?: number;
  browserLifetimeMs?: number;
  /** For a worker with its browser; above it the worker is recycled, far above it killed. */
  workerMemoryBytes?: number;
  memoryLookMs?: number;
  /** After this long without work all workers end, and start again with the next; never unless given. */
  restAfterMs?: number;
  /** Bytes by process group; read from the system unless given. */
  groupMemory?: () => Map<number, number>;
  renderTimeoutMs?: number;
  /** Time limit for one step of a worker's first start. */
  startStepMs?: number;
}
