import { mkdtempSync, rmdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { FailureReason } from "../core/failure-reasons.ts";
import { MOST_RENDER_MS, RENDER_TIMEOUT_MS, RENDERS_PER_BROWSER, RENDERS_SPREAD } from "../core/limits.ts";
import type { Log } from "../core/ports.ts";
import { untilDescriptors } from "../system/descriptors.ts";
import { browsersIn, endGroup, killGroup } from "./browser/process-group.ts";
import { limitGivenTime } from "./browser/withheld.ts";
import { NO_TELEMETRY } from "./photo/onnx-runtime.ts";
import type { RenderPoolOptions } from "./pool-options.ts";
import type { Previewed } from "./preview/messages.ts";
import {
  type FromWorker,
  parseFromWorker,
  type RenderedFile,
  type Stage,
  type ToWorker,
} from "./protocol.ts";

// One render worker as its pool sees it: a process with a browser that is started, given jobs, and ended.

/**
 * Time limit for one step of a start, such as launching the browser: under a second, three on a busy machine.
 * A step that takes longer, though a processor was given, has stalled, and a retry is quicker than waiting.
 */
const START_STEP_TIMEOUT_MS = 12_000;
/** On machines too slow for that, each retry gets twice the time, up to this. */
const MAX_START_STEP_TIMEOUT_MS = 60_000;
/** The same by the clock, where other programs have the processor: to begin anew would take as long again. */
const MOST_START_STEP_MS = 10 * 60_000;
/**
 * The salient network allocates and frees tens of megabytes per run; with pages of 2 MB instead of 4 KB the
 * kernel spends less time on it: 145 instead of 180 ms a photo. C libraries other than glibc ignore the
 * setting.
 */
const WORKER_ENVIRONMENT = { GLIBC_TUNABLES: "glibc.malloc.hugetlb=1", ...NO_TELEMETRY };

/** Prefix of the folders for browser profiles, one per worker. */
const PROFILES_PREFIX = "worker-";

/** A card that cannot be made of what was sent, with the reason for the partner. */
export type RefusedOutcome = { kind: "refused"; message: string; reason: FailureReason };

/** The outcome of one render. Faults are thrown as RenderFault instead. */
export type RenderOutcome = { kind: "done"; file: RenderedFile } | RefusedOutcome;

/** The outcome of one preview, as of a render. */
export type PreviewOutcome = { kind: "done"; preview: Previewed } | RefusedOutcome;

/** Something of ours broke during a render; a retry may succeed. */
export class RenderFault extends Error {
  constructor(
    message: string,
    /** The disk refused the picture. */
    readonly storage = false,
  ) {
    super(message);
  }
}

/** The render was not started, or was interrupted, for a reason that says nothing about it. */
export class RenderInterrupted extends Error {}

/** A worker, from the start of its process until that has ended. */
export interface Worker {
  process: Bun.Subprocess;
  profilesDir: string;
  /** The leader of the browser's process group, once it exists. */
  browser: number | undefined;
  startedAtMs: number;
  renders: number;
  /** After this many renders the worker is recycled. */
  share: number;
  /** Holds more memory than a worker should: treated as old. */
  isLarge: boolean;
  /** Held so much memory that it was killed. */
  killedForMemory: boolean;
  /**
   * Its browser answers and its pages are being opened, after no failed start: work given to it will be done.
   */
  isOpening: boolean;
  /** Between being warm and exiting. */
  alive: boolean;
  /** Its successor is warm, so it exits after the current render. */
  retired: boolean;
  /** Why we ended it, if we did. */
  endReason: string | undefined;
  /** Resolves when its process has exited and all handlers have run. */
  ended: Promise<void>;
  /** Set while a job runs: receives its messages, or null when the process died. */
  onMessage: ((message: FromWorker | null) => void) | undefined;
}

export const CLOSED = "the render pool was closed";
export const RESTING = "no card was asked for in a while: its memory is given back";

/** A worker leads its own process group, and so does its browser. */
export function memoryOf({ process, browser }: Worker, groups: Map<number, number>): number {
  return (groups.get(process.pid) ?? 0) + (browser === undefined ? 0 : (groups.get(browser) ?? 0));
}

/**
 * Kills a worker and its browser, even if they hang. `endReason` says why when nothing is wrong with it.
 */
export function kill(worker: Worker, endReason?: string): void {
  worker.endReason ??= endReason;
  worker.isOpening = false;
  worker.process.kill("SIGKILL");
  if (worker.browser !== undefined) killGroup(worker.browser);
}

/**
 * Cleans up after a worker: a browser that may not have noticed, then its profile. Both take descriptors,
 * which are waited for unless the pool closes.
 */
export async function clearAway(
  { process: { pid }, browser, profilesDir }: Worker,
  log: Log,
  closing: AbortSignal,
): Promise<void> {
  await untilDescriptors(closing);
  try {
    // A worker that died while a browser was starting could not report which process it is.
    const groups = new Set(browsersIn(profilesDir));
    // What it was waiting for itself, such as a video's encoder, is in its own group.
    groups.add(pid);
    if (browser !== undefined) groups.add(browser);
    // A browser that outlives its worker for a moment would recreate its folder.
    await Promise.all([...groups].map(endGroup));
    await rm(profilesDir, { recursive: true, force: true });
  } catch (error) {
    log.warn("profile_not_removed", { error: String(error) });
  }
}

/**
 * Resolves when the worker is warm, rejects when its process ends before that, which it is made to where a
 * step of its start stalls. `onExit` is called at its end in any case.
 * @param tries how often the start has failed before
 */
export function startWorker(
  options: RenderPoolOptions,
  workers: Set<Worker>,
  tries: number,
  onExit: (worker: Worker) => void,
): Promise<Worker> {
  return new Promise((resolve, reject) => {
    let reason = "its process ended";
    let cancel = () => {};
    const ended = Promise.withResolvers<void>();
    const profilesDir = mkdtempSync(join(options.renderer.profilesDir, PROFILES_PREFIX));
    const child = spawnWorker(options.command, profilesDir, {
      ipc: (raw) => {
        const message = parseFromWorker(raw);
        if (!message) {
          reason = "it sent an unknown message";
          kill(worker);
        } else if (message.type === "ready") {
          cancel();
          worker.isOpening = false;
          worker.alive = true;
          resolve(worker);
        } else if (message.type === "starting") {
          expectProgress(message.step);
        } else if (message.type === "browser") {
          worker.browser = message.pid;
          // A browser that answered once before and came to nothing proves nothing by answering again.
          worker.isOpening = tries === 0;
        } else if (message.type === "problem") {
          options.log.warn("render_worker_problem", { pid: child.pid, problem: message.message });
        } else if (message.type === "broken") {
          reason = message.message;
        } else worker.onMessage?.(message);
      },
      onExit: () => {
        cancel();
        workers.delete(worker);
        const { endReason } = worker;
        const end = endOf(worker);
        options.meter?.add("cardpress_render_worker_ends_total", { end });
        if (endReason === undefined) options.log.warn("render_worker_ended", { pid: child.pid, reason });
        else options.log.info("render_worker_ended", { pid: child.pid, reason: endReason });
        worker.onMessage?.(null);
        onExit(worker);
        ended.resolve();
        reject(new Error(reason));
      },
    });
    const worker = newWorker(options, { process: child, profilesDir, ended: ended.promise });
    workers.add(worker);
    const stepMs = Math.min(
      (options.startStepMs ?? START_STEP_TIMEOUT_MS) * 2 ** tries,
      MAX_START_STEP_TIMEOUT_MS,
    );
    const expectProgress = (step: string) => {
      cancel();
      cancel = limitGivenTime({
        limitMs: stepMs,
        mostMs: MOST_START_STEP_MS,
        root: child.pid,
        onOver: () => {
          reason = `it stalled: ${step} took longer than ${stepMs} ms`;
          kill(worker);
        },
      });
    };
    expectProgress("starting its process");
    child.send({ type: "start", options: { ...options.renderer, profilesDir } } satisfies ToWorker);
  });
}

/**
 * Begins a worker's process; where none can be begun the folder goes, since none will end and have it cleared
 * away.
 */
function spawnWorker(
  command: string[],
  profilesDir: string,
  handlers: { ipc: (raw: unknown) => void; onExit: () => void },
) {
  try {
    return Bun.spawn(command, {
      ...handlers,
      stdio: ["ignore", "inherit", "inherit"],
      serialization: "json",
      env: { ...process.env, ...WORKER_ENVIRONMENT },
      // Its own process group: Ctrl-C in the terminal is meant for the server, which lets renders finish.
      detached: true,
    });
  } catch (error) {
    rmdirSync(profilesDir);
    throw error;
  }
}

/** A worker whose process has just been started. */
function newWorker(
  options: RenderPoolOptions,
  started: Pick<Worker, "process" | "profilesDir" | "ended">,
): Worker {
  return {
    ...started,
    browser: undefined,
    startedAtMs: performance.now(),
    renders: 0,
    share: shareOfRenders(options),
    isLarge: false,
    killedForMemory: false,
    isOpening: false,
    alive: false,
    retired: false,
    endReason: undefined,
    onMessage: undefined,
  };
}

/** How it ended, for /metrics. */
function endOf({ endReason, killedForMemory }: Worker): string {
  if (killedForMemory) return "memory";
  if (endReason === undefined) return "broken";
  if (endReason === RESTING) return "resting";
  return endReason === CLOSED ? "closed" : "replaced";
}

/** Workers that start and work side by side must not all be recycled at the same time. */
function shareOfRenders({ random, rendersPerBrowser = RENDERS_PER_BROWSER }: RenderPoolOptions): number {
  const [byte = 0] = random.bytes(1);
  return Math.round(rendersPerBrowser * (1 + RENDERS_SPREAD * ((2 * byte) / 255 - 1)));
}

/** The jobs a warm worker accepts. */
export type Work = Exclude<ToWorker, { type: "start" }>;
/** The message that answers each job; any other is a fault of the worker, but for a refusal. */
const ANSWERS = {
  render: "done",
  preview: "previewed",
  document: "printed",
  supports: "supported",
} as const satisfies Record<Work["type"], FromWorker["type"]>;

type Refused = Extract<FromWorker, { type: "refused" }>;
type Answer<Asked extends Work> = Extract<FromWorker, { type: (typeof ANSWERS)[Asked["type"]] }>;

/** The end of a job without a picture. */
export function refusedBy({ message, reason }: Refused): RefusedOutcome {
  return { kind: "refused", message, reason };
}

/** The answer to a job that holds nothing of a partner's, of which a refusal is a fault. */
export function answerIn<Answered extends FromWorker>(end: Answered | Refused): Exclude<Answered, Refused> {
  if (end.type === "refused") throw new RenderFault(end.message);
  return end as Exclude<Answered, Refused>;
}

/**
 * Sends a worker one job and waits for the outcome. Rejects with a RenderFault when something of ours broke
 * or the time ran out, and with a RenderInterrupted when the job never started. `discard` is called when the
 * worker is of no more use.
 */
export function askWorker<Asked extends Work>(
  worker: Worker,
  work: Asked,
  onStage: (stage: Stage) => void,
  timeoutMs: number,
  discard: () => void,
): Promise<Answer<Asked> | Refused> {
  return new Promise((resolve, reject) => {
    if (!worker.alive) return reject(new RenderInterrupted("the render worker ended before it started"));
    const settle = (end: () => void) => {
      cancel();
      worker.onMessage = undefined;
      end();
    };
    const fault = (message: string, storage = false) =>
      settle(() => reject(new RenderFault(message, storage)));
    const cancel = limitGivenTime({
      limitMs: timeoutMs,
      mostMs: timeoutMs * (MOST_RENDER_MS / RENDER_TIMEOUT_MS),
      root: worker.process.pid,
      onOver: () => {
        fault(`the render took longer than ${timeoutMs} ms`);
        discard();
      },
    });
    worker.renders += 1;
    worker.onMessage = (message) => {
      if (message === null) return fault("the render worker ended during the render");
      if (!("jobId" in message) || message.jobId !== work.job.jobId) return;
      if (message.type === "stage") return onStage(message.stage);
      if (message.type === "fault") return fault(message.message, message.storage);
      if (!answers(work, message)) {
        fault(`the render worker answered "${message.type}" to "${work.type}"`);
        return discard();
      }
      settle(() => resolve(message));
    };
    try {
      worker.process.send(work satisfies ToWorker);
    } catch (error) {
      // Its process has exited, and the exit event is about to arrive.
      settle(() => reject(new RenderInterrupted(`the render worker could not be reached: ${error}`)));
      discard();
    }
  });
}

function answers<Asked extends Work>(work: Asked, message: FromWorker): message is Answer<Asked> | Refused {
  return message.type === "refused" || message.type === ANSWERS[work.type];
}
