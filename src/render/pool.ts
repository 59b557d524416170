import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  BROWSER_LIFETIME_MS,
  RENDER_TIMEOUT_MS,
  RENDERS_PER_BROWSER,
  RENDERS_SPREAD,
} from "../core/limits.ts";
import type { Meter } from "../core/metrics.ts";
import type { Log, Random } from "../core/ports.ts";
import { memoryOfGroups } from "./browser/group-memory.ts";
import { browsersIn, endGroup, killGroup } from "./browser/process-group.ts";
import { NO_TELEMETRY } from "./photo/onnx-runtime.ts";
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
  /** How many workers are warm, and how many there should be. One that is being replaced works until its successor does. */
  health(): { ready: number; wanted: number };
  /** Memory of all workers and their browsers, without what they share. */
  memoryBytes(): number;
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
  random: Random;
  /** Counts starts and ends. */
  meter?: Meter;
  /** Called before a worker that could not start is tried again: whatever it needs may have been damaged. */
  mend?: () => Promise<unknown>;
  /** On average: each worker's share lies up to RENDERS_SPREAD beside it. */
  rendersPerBrowser?: number;
  browserLifetimeMs?: number;
  renderTimeoutMs?: number;
}

interface Worker {
  process: Bun.Subprocess;
  profilesDir: string;
  /** The leader of its browser's processes, once there is one. */
  browser: number | undefined;
  startedAtMs: number;
  renders: number;
  /** After this many renders it is replaced. */
  share: number;
  /** From its being warm until its end. */
  alive: boolean;
  /** Its successor is warm: it ends with the render it is at. */
  retired: boolean;
  /** Why it ended, where that was our will. */
  plan: string | undefined;
  /** Resolves when its process has ended and everybody here knows. */
  ended: Promise<void>;
  /** Set while a job runs: receives its messages, or null when the process died. */
  onMessage: ((message: FromWorker | null) => void) | undefined;
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one closure over the workers and their states; apart, each part would carry all of it.
export function createRenderPool(options: RenderPoolOptions): RenderPool {
  const { browserLifetimeMs = BROWSER_LIFETIME_MS } = options;
  const closing = new AbortController();
  const warm = new Set<Worker>();
  const idle: Worker[] = [];
  const waiting: ((worker: Worker) => void)[] = [];
  const starting = new Set<Promise<void>>();
  const workers = new Set<Worker>();
  const endings = new Set<Promise<void>>();
  /** Past its age, and at work until its successor is warm. One at a time, so that the others' strength stays. */
  let outgoing: Worker | undefined;

  const offer = (worker: Worker) => {
    const next = waiting.shift();
    if (next) next(worker);
    else idle.push(worker);
  };
  const drop = (worker: Worker, plan?: string) => {
    worker.alive = false;
    warm.delete(worker);
    const place = idle.indexOf(worker);
    if (place >= 0) idle.splice(place, 1);
    kill(worker, plan);
  };
  const refill = (onWarm = () => {}) => {
    const start = startUntilWarm(onWarm).finally(() => starting.delete(start));
    starting.add(start);
  };
  /** A worker that broke. Where it was being replaced, its successor is on the way. */
  const lose = (worker: Worker) => {
    if (!worker.alive) return;
    drop(worker);
    if (worker !== outgoing && !closing.signal.aborted) refill();
  };

  /** Starts a worker, again and again with growing pauses, until one is warm. */
  async function startUntilWarm(onWarm: () => void): Promise<void> {
    let delayMs = FIRST_RESTART_DELAY_MS;
    while (!closing.signal.aborted) {
      try {
        const worker = await startWorker(options, workers, (ended) => {
          const ending = clearAway(ended, options.log).finally(() => endings.delete(ending));
          endings.add(ending);
          lose(ended);
          if (ended === outgoing && ended.retired) replaceNext();
        });
        if (closing.signal.aborted) return drop(worker, CLOSED);
        warm.add(worker);
        options.meter?.add("cardpress_render_worker_starts_total", { end: "warm" });
        onWarm();
        return offer(worker);
      } catch (error) {
        if (closing.signal.aborted) return;
        options.meter?.add("cardpress_render_worker_starts_total", { end: "failed" });
        options.log.error("render_worker_start_failed", { error: String(error), retryInMs: delayMs });
        await sleep(delayMs, undefined, { signal: closing.signal }).catch(() => {});
        delayMs = Math.min(delayMs * 2, MAX_RESTART_DELAY_MS);
        if (closing.signal.aborted) return;
        await options.mend?.().catch((cause) => {
          options.log.error("render_worker_not_mended", { error: String(cause) });
        });
      }
    }
  }

  const isOld = (worker: Worker) =>
    worker.renders >= worker.share || performance.now() - worker.startedAtMs >= browserLifetimeMs;
  const retire = (worker: Worker) =>
    drop(worker, `replaced after ${worker.renders} renders, which bounds what a leak can cost`);
  /** Starts the successor of a worker past its age; until it is warm, the old one goes on. */
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

  for (let n = 0; n < options.workers; n++) refill();

  return {
    acquire: async (signal) => {
      const worker = idle.shift() ?? (await nextWorker(waiting, closing.signal, signal));
      return {
        render: (job, onStage) =>
          renderOn(worker, job, onStage, options.renderTimeoutMs ?? RENDER_TIMEOUT_MS, () =>
            lose(worker),
          ).catch((error) => {
            throw closing.signal.aborted ? new RenderInterrupted("the render pool was closed") : error;
          }),
        release: () => giveBack(worker),
      };
    },
    health: () => ({ ready: Math.min(warm.size, options.workers), wanted: options.workers }),
    memoryBytes: () => {
      const groups = memoryOfGroups();
      return [...workers].reduce((all, worker) => all + memoryOf(worker, groups), 0);
    },
    pids: () => [...workers].map((worker) => worker.process.pid),
    close: async () => {
      closing.abort(new Error("the render pool is closed"));
      for (const worker of workers) kill(worker, CLOSED);
      await Promise.all(starting);
      await Promise.all([...workers].map((worker) => worker.ended));
      await Promise.all(endings);
    },
  };
}

const CLOSED = "the render pool was closed";

/** A worker leads a group of its own, and so does its browser. */
function memoryOf({ process, browser }: Worker, groups: Map<number, number>): number {
  return (groups.get(process.pid) ?? 0) + (browser === undefined ? 0 : (groups.get(browser) ?? 0));
}

/** Ends a worker and its browser, also where they hang. `plan` says why, where nothing is wrong with it. */
function kill(worker: Worker, plan?: string): void {
  worker.plan ??= plan;
  worker.process.kill("SIGKILL");
  if (worker.browser !== undefined) killGroup(worker.browser);
}

/** Removes what an ended worker leaves: a browser that may not have noticed, and then its profile. */
async function clearAway({ browser, profilesDir }: Worker, log: Log): Promise<void> {
  try {
    // A worker that ended while its browser started could not tell which one it is.
    const groups = browser === undefined ? browsersIn(profilesDir) : [browser];
    // A browser that outlived its worker by a moment would write its folder anew.
    await Promise.all(groups.map(endGroup));
    await rm(profilesDir, { recursive: true, force: true });
  } catch (error) {
    log.warn("profile_not_removed", { error: String(error) });
  }
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
  workers: Set<Worker>,
  onExit: (worker: Worker) => void,
): Promise<Worker> {
  return new Promise((resolve, reject) => {
    let reason = "its process ended";
    const ended = Promise.withResolvers<void>();
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
          kill(worker);
        } else if (message.type === "ready") {
          clearTimeout(timer);
          worker.alive = true;
          resolve(worker);
        } else if (message.type === "browser") {
          worker.browser = message.pid;
        } else if (message.type === "problem") {
          options.log.warn("render_worker_problem", { pid: child.pid, problem: message.message });
        } else if (message.type === "broken") {
          reason = message.message;
        } else worker.onMessage?.(message);
      },
      onExit: () => {
        clearTimeout(timer);
        workers.delete(worker);
        const { plan } = worker;
        const end = plan === undefined ? "broken" : plan === CLOSED ? "closed" : "replaced";
        options.meter?.add("cardpress_render_worker_ends_total", { end });
        if (plan === undefined) options.log.warn("render_worker_ended", { pid: child.pid, reason });
        else options.log.info("render_worker_ended", { pid: child.pid, reason: plan });
        worker.onMessage?.(null);
        onExit(worker);
        ended.resolve();
        reject(new Error(reason));
      },
    });
    const worker: Worker = {
      process: child,
      profilesDir,
      browser: undefined,
      startedAtMs: performance.now(),
      renders: 0,
      share: shareOfRenders(options),
      alive: false,
      retired: false,
      plan: undefined,
      ended: ended.promise,
      onMessage: undefined,
    };
    workers.add(worker);
    const timer = setTimeout(() => {
      reason = `it was not ready after ${START_TIMEOUT_MS} ms`;
      kill(worker);
    }, START_TIMEOUT_MS);
    child.send({ type: "start", options: { ...options.press, profilesDir } } satisfies ToWorker);
  });
}

/** Workers that start and work side by side must not all be replaced at the same time. */
function shareOfRenders({ random, rendersPerBrowser = RENDERS_PER_BROWSER }: RenderPoolOptions): number {
  const [byte = 0] = random.bytes(1);
  return Math.round(rendersPerBrowser * (1 + RENDERS_SPREAD * ((2 * byte) / 255 - 1)));
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
