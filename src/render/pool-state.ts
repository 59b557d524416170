import { setTimeout as sleep } from "node:timers/promises";
import { BROWSER_LIFETIME_MS } from "../core/limits.ts";
import { isOutOfDescriptors } from "../system/descriptors.ts";
import type { RenderPoolOptions } from "./pool-options.ts";
import { CLOSED, clearAway, kill, RESTING, startWorker, type Worker } from "./pool-worker.ts";

// A pool's workers, and all that happens to them, one function for each change. A worker starts until it is
// warm, is then idle or at work in turns, and is lost when it breaks. One that has grown old works on until
// its successor is warm, is then retired, and ends once it is idle.

/** Pause before retrying a worker that could not start, doubled each time up to the maximum. */
const FIRST_RESTART_DELAY_MS = 200;
const MAX_RESTART_DELAY_MS = 30_000;

export type PoolState = ReturnType<typeof newState>;

function newState(options: RenderPoolOptions) {
  return {
    options,
    closing: new AbortController(),
    /**
     * `resting`: no worker is kept, since nobody has needed one for long; `waking`: the first worker after a
     * rest is starting, and has not failed yet.
     */
    phase: "awake" as "awake" | "resting" | "waking",
    /** All workers, from the start of their process until that has ended. */
    workers: new Set<Worker>(),
    /** Those between being warm and ending. */
    warm: new Set<Worker>(),
    /** The warm ones without work. */
    idle: [] as Worker[],
    /** What waits for a worker, the longest first. */
    waiting: [] as ((worker: Worker) => void)[],
    /** Starts, each until its worker is warm. */
    starting: new Set<Promise<void>>(),
    /** Ended workers that are being cleared away. */
    endings: new Set<Promise<void>>(),
    /** How many workers are to follow the first one. */
    unstarted: 0,
    /** Due for recycling, and working until its successor is warm. One at a time, so that capacity stays. */
    outgoing: undefined as Worker | undefined,
    lastWorkAtMs: performance.now(),
  };
}

/** A pool whose first worker starts. */
export function openPool(options: RenderPoolOptions): PoolState {
  const pool = newState(options);
  startAll(pool);
  return pool;
}

/** Ends all workers, and waits until nothing is left of them. */
export async function closePool(pool: PoolState): Promise<void> {
  pool.closing.abort(new Error("the render pool is closed"));
  for (const worker of pool.workers) kill(worker, CLOSED);
  await Promise.all(pool.starting);
  await Promise.all([...pool.workers].map((worker) => worker.ended));
  await Promise.all(pool.endings);
}

/**
 * The first alone, which is warm in half the time: from then on cards are drawn. The others follow; after a
 * rest only when the first card is done or a second waits, since their start would take that card's
 * processor.
 */
function startAll(pool: PoolState): void {
  const wasResting = pool.phase === "resting";
  if (wasResting) pool.phase = "waking";
  start(pool, () => {
    pool.unstarted = pool.options.workers - 1;
    if (!wasResting || pool.waiting.length > 1) startOthers(pool);
  });
}

function startOthers(pool: PoolState): void {
  for (; pool.unstarted > 0; pool.unstarted--) start(pool);
}

function start(pool: PoolState, onWarm = () => {}): void {
  const started = startUntilWarm(pool, onWarm).finally(() => pool.starting.delete(started));
  pool.starting.add(started);
}

/** Starts a worker, retrying with growing pauses until one is warm. */
async function startUntilWarm(pool: PoolState, onWarm: () => void): Promise<void> {
  const { options, workers } = pool;
  const { signal } = pool.closing;
  let isShort = false;
  for (let tries = 0; !signal.aborted; ) {
    try {
      const own = pool.phase === "waking" ? wakeful(options) : options;
      const worker = await startWorker(own, workers, tries, (ended) => clear(pool, ended));
      welcome(pool, worker, onWarm);
      return;
    } catch (error) {
      if (signal.aborted) return;
      pool.phase = "awake";
      const wasShort = isShort;
      isShort = isOutOfDescriptors(error);
      const growing = Math.min(FIRST_RESTART_DELAY_MS * 2 ** tries, MAX_RESTART_DELAY_MS);
      const pauseMs = isShort ? FIRST_RESTART_DELAY_MS : growing;
      // Without descriptors no process was begun and nothing is broken: logged once, and cheap enough to be
      // tried until it works.
      if (!(isShort && wasShort)) tellFailure(options, error, pauseMs);
      await sleep(pauseMs, undefined, { signal }).catch(() => {});
      if (isShort || signal.aborted) continue;
      tries += 1;
      await options.repair?.().catch((cause) => {
        options.log.error("render_worker_not_restored", { error: String(cause) });
      });
    }
  }
}

/** For the worker that a card waits for after a rest: it opens what that card needs, and the rest later. */
function wakeful(options: RenderPoolOptions): RenderPoolOptions {
  return { ...options, renderer: { ...options.renderer, warms: "one_page" } };
}

function tellFailure({ meter, log }: RenderPoolOptions, error: unknown, retryInMs: number): void {
  meter?.add("cardpress_render_worker_starts_total", { end: "failed" });
  log.error("render_worker_start_failed", { error: String(error), retryInMs });
}

/** A worker is warm. */
function welcome(pool: PoolState, worker: Worker, onWarm: () => void): void {
  if (pool.closing.signal.aborted) {
    drop(pool, worker, CLOSED);
    return;
  }
  pool.warm.add(worker);
  pool.phase = "awake";
  pool.options.meter?.add("cardpress_render_worker_starts_total", { end: "warm" });
  onWarm();
  offer(pool, worker);
}

/** Gives a worker to what waits longest for one. */
function offer({ waiting, idle }: PoolState, worker: Worker): void {
  const next = waiting.shift();
  if (next) next(worker);
  else idle.push(worker);
}

/** Waits for a warm worker, and starts those that are missing. */
export async function takeWorker(pool: PoolState, signal?: AbortSignal): Promise<Worker> {
  pool.lastWorkAtMs = performance.now();
  if (pool.phase === "resting") startAll(pool);
  else if (pool.idle.length === 0) startOthers(pool);
  return pool.idle.shift() ?? nextWorker(pool.waiting, pool.closing.signal, signal);
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

/** A worker's work is done. */
export function giveBack(pool: PoolState, worker: Worker): void {
  pool.lastWorkAtMs = performance.now();
  startOthers(pool);
  if (!worker.alive) return;
  if (worker.retired) retire(pool, worker);
  else {
    offer(pool, worker);
    replaceNext(pool);
  }
}

/** Starts the successor of a worker due for recycling; until it is warm, the old one continues. */
export function replaceNext(pool: PoolState): void {
  const { outgoing, workers } = pool;
  const done = !outgoing || (outgoing.retired && !workers.has(outgoing));
  if (!done || pool.closing.signal.aborted) return;
  const old = [...pool.warm].find((worker) => isOld(worker, pool.options));
  pool.outgoing = old;
  if (!old) return;
  start(pool, () => {
    old.retired = true;
    if (pool.idle.includes(old)) retire(pool, old);
    if (!old.alive) replaceNext(pool);
  });
}

const isOld = ({ isLarge, renders, share, startedAtMs }: Worker, options: RenderPoolOptions) =>
  isLarge ||
  renders >= share ||
  performance.now() - startedAtMs >= (options.browserLifetimeMs ?? BROWSER_LIFETIME_MS);

function retire(pool: PoolState, worker: Worker): void {
  drop(pool, worker, `replaced after ${worker.renders} renders, which bounds what a leak can cost`);
}

/** Gives the workers' memory back to the system when nobody has needed one for long. */
export function rest(pool: PoolState): void {
  const { options, starting, outgoing, idle, warm } = pool;
  const isAtWork =
    starting.size > 0 || outgoing !== undefined || idle.length < options.workers - pool.unstarted;
  const isSoon = performance.now() - pool.lastWorkAtMs < (options.restAfterMs ?? Infinity);
  if (pool.phase === "resting" || isAtWork || isSoon) return;
  pool.phase = "resting";
  pool.unstarted = 0;
  for (const worker of [...warm]) drop(pool, worker, RESTING);
}

/** Another takes the place of a worker that broke. If it was being recycled, its successor is on the way. */
export function lose(pool: PoolState, worker: Worker): void {
  if (!worker.alive) return;
  drop(pool, worker);
  if (worker !== pool.outgoing && !pool.closing.signal.aborted) start(pool);
}

/** Gives a worker no more work, and ends it. */
function drop({ warm, idle }: PoolState, worker: Worker, endReason?: string): void {
  worker.alive = false;
  warm.delete(worker);
  const place = idle.indexOf(worker);
  if (place >= 0) idle.splice(place, 1);
  kill(worker, endReason);
}

/** A worker's process has ended, whether it was meant to or not. */
function clear(pool: PoolState, worker: Worker): void {
  const ending = clearAway(worker, pool.options.log, pool.closing.signal).finally(() =>
    pool.endings.delete(ending),
  );
  pool.endings.add(ending);
  lose(pool, worker);
  if (worker === pool.outgoing && worker.retired) replaceNext(pool);
}
