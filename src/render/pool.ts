import { mkdtempSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { BROWSER_LIFETIME_MS, RENDER_TIMEOUT_MS, RENDERS_PER_BROWSER } from "../core/limits.ts";
import type { Log } from "../core/ports.ts";
import { NO_TELEMETRY } from "./onnx-runtime.ts";
import {
  type FromWorker,
  type PressOptions,
  parseFromWorker,
  type RenderedFile,
  type RenderJob,
  type Stage,
  type ToWorker,
} from "./protocol.ts";

/** Starting a worker launches a browser and loads the models: seconds on a busy machine. */
const START_TIMEOUT_MS = 60_000;
/** The pause before a worker that could not start is tried again, doubled each time up to the maximum. */
const FIRST_RESTART_DELAY_MS = 200;
const MAX_RESTART_DELAY_MS = 30_000;

/**
 * The salient network takes and gives back tens of megabytes at every run; with pages of 2 MB instead of 4 KB the kernel
 * spends less time on it: 145 instead of 180 ms a photo. C libraries other than glibc ignore the setting.
 */
const WORKER_ENVIRONMENT = { GLIBC_TUNABLES: "glibc.malloc.hugetlb=1", ...NO_TELEMETRY };

/** Each worker's browser has a folder of this name for its profile. */
const PROFILES_PREFIX = "worker-";

/** What became of one render. A fault is thrown as RenderFault instead. */
export type RenderOutcome = { kind: "done"; file: RenderedFile } | { kind: "refused"; message: string };

/** Something of ours broke during a render; another attempt may succeed. */
export class RenderFault extends Error {
  constructor(
    message: string,
    /** The disk did not take the picture. */
    readonly storage = false,
  ) {
    super(message);
  }
}

/** The render was not tried, or not to its end, for a reason that says nothing about it. */
export class RenderInterrupted extends Error {}

/** A warm worker that is yours until you release it. */
export interface Renderer {
  render(job: RenderJob, onStage: (stage: Stage) => void): Promise<RenderOutcome>;
  release(): void;
}

/** Keeps a fixed number of render workers alive, warm and young. */
export interface RenderPool {
  /** Waits for a warm worker. Rejects when the pool is closed or `signal` aborts. */
  acquire(signal?: AbortSignal): Promise<Renderer>;
  /** How many workers are warm, and how many there should be. */
  health(): { ready: number; wanted: number };
  /** Process ids of the workers, for the crash tests and `doctor`. */
  pids(): number[];
  close(): Promise<void>;
}

export interface RenderPoolOptions {
  workers: number;
  /** The command line of a worker process. */
  command: string[];
  press: PressOptions;
  log: Log;
  rendersPerBrowser?: number;
  browserLifetimeMs?: number;
  renderTimeoutMs?: number;
}

interface Worker {
  process: Bun.Subprocess;
  startedAtMs: number;
  renders: number;
  /** From its being warm until its end. */
  alive: boolean;
  /** Set while a job runs: receives its messages, or null when the process died. */
  onMessage: ((message: FromWorker | null) => void) | undefined;
}

/** The living processes, each with its browser's folder. */
type WorkerProcesses = Map<Bun.Subprocess, string>;

export function createRenderPool(options: RenderPoolOptions): RenderPool {
  const { rendersPerBrowser = RENDERS_PER_BROWSER, browserLifetimeMs = BROWSER_LIFETIME_MS } = options;
  const closing = new AbortController();
  const warm = new Set<Worker>();
  const idle: Worker[] = [];
  const waiting: ((worker: Worker) => void)[] = [];
  const starting = new Set<Promise<void>>();
  const processes: WorkerProcesses = new Map();

  const offer = (worker: Worker) => {
    const next = waiting.shift();
    if (next) next(worker);
    else idle.push(worker);
  };
  const drop = (worker: Worker) => {
    worker.alive = false;
    warm.delete(worker);
    const place = idle.indexOf(worker);
    if (place >= 0) idle.splice(place, 1);
    worker.process.kill("SIGKILL");
  };
  /**
   * Removes the browser profiles of ended workers; a killed browser leaves its own behind. It outlives its worker by a
   * moment, in which it can write its folder anew: that goes when the next worker ends.
   */
  const removeProfiles = async () => {
    const { profilesDir } = options.press;
    try {
      const left = (await readdir(profilesDir)).filter((name) => name.startsWith(PROFILES_PREFIX));
      const used = new Set(processes.values());
      for (const path of left.map((name) => join(profilesDir, name)))
        if (!used.has(path)) await rm(path, { recursive: true, force: true });
    } catch (error) {
      options.log.warn("profiles_not_removed", { error: String(error) });
    }
  };
  const refill = () => {
    const start = startUntilWarm().finally(() => starting.delete(start));
    starting.add(start);
  };

  /** Starts a worker, again and again with growing pauses, until one is warm. */
  async function startUntilWarm(): Promise<void> {
    let delayMs = FIRST_RESTART_DELAY_MS;
    while (!closing.signal.aborted) {
      try {
        const worker = await startWorker(options, processes, (lost) => {
          void removeProfiles();
          if (!lost.alive) return;
          drop(lost);
          if (!closing.signal.aborted) refill();
        });
        if (closing.signal.aborted) return drop(worker);
        warm.add(worker);
        return offer(worker);
      } catch (error) {
        if (closing.signal.aborted) return;
        options.log.error("render_worker_start_failed", { error: String(error), retryInMs: delayMs });
        await sleep(delayMs, undefined, { signal: closing.signal }).catch(() => {});
        delayMs = Math.min(delayMs * 2, MAX_RESTART_DELAY_MS);
      }
    }
  }

  /** A worker past its age is replaced; its successor starts now, while the others go on. */
  const giveBack = (worker: Worker) => {
    if (!worker.alive) return;
    const old =
      worker.renders >= rendersPerBrowser || performance.now() - worker.startedAtMs >= browserLifetimeMs;
    if (!old) return offer(worker);
    drop(worker);
    if (!closing.signal.aborted) refill();
  };

  for (let n = 0; n < options.workers; n++) refill();

  return {
    acquire: async (signal) => {
      const worker = idle.shift() ?? (await nextWorker(waiting, closing.signal, signal));
      return {
        render: (job, onStage) =>
          renderOn(worker, job, onStage, options.renderTimeoutMs ?? RENDER_TIMEOUT_MS, () => {
            if (!worker.alive) return;
            drop(worker);
            if (!closing.signal.aborted) refill();
          }).catch((error) => {
            throw closing.signal.aborted ? new RenderInterrupted("the render pool was closed") : error;
          }),
        release: () => giveBack(worker),
      };
    },
    health: () => ({ ready: warm.size, wanted: options.workers }),
    pids: () => [...processes.keys()].map((process) => process.pid),
    close: async () => {
      closing.abort(new Error("the render pool is closed"));
      for (const process of processes.keys()) process.kill("SIGKILL");
      await Promise.all(starting);
      await Promise.all([...processes.keys()].map((process) => process.exited));
      await removeProfiles();
    },
  };
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

/** Resolves when the worker is warm, rejects when its process ends before that. `onExit` is called at its end in any case. */
function startWorker(
  options: RenderPoolOptions,
  processes: WorkerProcesses,
  onExit: (worker: Worker) => void,
): Promise<Worker> {
  return new Promise((resolve, reject) => {
    let reason = "its process ended";
    const profilesDir = mkdtempSync(join(options.press.profilesDir, PROFILES_PREFIX));
    const child = Bun.spawn(options.command, {
      stdio: ["ignore", "inherit", "inherit"],
      serialization: "json",
      env: { ...process.env, ...WORKER_ENVIRONMENT },
      // A group of its own: Ctrl-C on the terminal is for the server, which lets renders finish.
      detached: true,
      ipc: (raw) => {
        const message = parseFromWorker(raw);
        if (!message) {
          reason = "it sent an unknown message";
          child.kill("SIGKILL");
        } else if (message.type === "ready") {
          clearTimeout(timer);
          worker.alive = true;
          resolve(worker);
        } else if (message.type === "broken") {
          reason = message.message;
        } else worker.onMessage?.(message);
      },
      onExit: () => {
        clearTimeout(timer);
        processes.delete(child);
        options.log.warn("render_worker_ended", { pid: child.pid, reason });
        worker.onMessage?.(null);
        onExit(worker);
        reject(new Error(reason));
      },
    });
    const worker: Worker = {
      process: child,
      startedAtMs: performance.now(),
      renders: 0,
      alive: false,
      onMessage: undefined,
    };
    processes.set(child, profilesDir);
    const timer = setTimeout(() => {
      reason = `it was not ready after ${START_TIMEOUT_MS} ms`;
      child.kill("SIGKILL");
    }, START_TIMEOUT_MS);
    child.send({ type: "start", options: { ...options.press, profilesDir } } satisfies ToWorker);
  });
}

function renderOn(
  worker: Worker,
  job: RenderJob,
  onStage: (stage: Stage) => void,
  timeoutMs: number,
  discard: () => void,
): Promise<RenderOutcome> {
  return new Promise((resolve, reject) => {
    if (!worker.alive) return reject(new RenderInterrupted("the render worker ended before it started"));
    const settle = (end: () => void) => {
      clearTimeout(timer);
      worker.onMessage = undefined;
      end();
    };
    const fault = (message: string, storage = false) =>
      settle(() => reject(new RenderFault(message, storage)));
    const timer = setTimeout(() => {
      fault(`the render took longer than ${timeoutMs} ms`);
      discard();
    }, timeoutMs);
    worker.renders += 1;
    worker.onMessage = (message) => {
      if (message === null) return fault("the render worker ended during the render");
      if (!("jobId" in message) || message.jobId !== job.jobId) return;
      if (message.type === "stage") return onStage(message.stage);
      if (message.type === "fault") return fault(message.message, message.storage);
      const outcome: RenderOutcome =
        message.type === "done"
          ? { kind: "done", file: message.file }
          : { kind: "refused", message: message.message };
      settle(() => resolve(outcome));
    };
    try {
      worker.process.send({ type: "render", job } satisfies ToWorker);
    } catch (error) {
      // Its process has ended, and we are about to hear of it.
      settle(() => reject(new RenderInterrupted(`the render worker could not be told: ${error}`)));
      discard();
    }
  });
}
