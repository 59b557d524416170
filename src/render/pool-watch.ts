import { MEMORY_LOOK_MS, WORKER_MEMORY_BYTES, WORKER_MEMORY_END } from "../core/limits.ts";
import { memoryOfGroups } from "./browser/group-memory.ts";
import { lose, type PoolState, replaceNext, rest } from "./pool-state.ts";
import { kill, memoryOf } from "./pool-worker.ts";

// What becomes of workers though nothing happens to them: they grow, they age, and nobody needs them.

/**
 * While all workers are idle, their memory is measured at one tick in so many only: that reads two files of
 * every process on the machine, and was most of what a resting service did.
 */
const IDLE_TICKS = 15;

/** Looks after a pool's workers until the function that it returns is called. */
export function watchPool(pool: PoolState): () => void {
  const tickMs = pool.options.memoryLookMs ?? MEMORY_LOOK_MS;
  let lookedAtMs = performance.now();
  /** Whether a worker may have grown: one is busy, or was since the last look. Idle ones hardly do. */
  const mayHaveGrown = () =>
    pool.idle.length < pool.workers.size ||
    pool.lastWorkAtMs >= lookedAtMs ||
    performance.now() - lookedAtMs >= IDLE_TICKS * tickMs;
  const timer = setInterval(() => {
    if (pool.workers.size > 0 && mayHaveGrown()) {
      lookedAtMs = performance.now();
      checkMemory(pool);
    }
    // Idle workers grow old too.
    replaceNext(pool);
    rest(pool);
  }, tickMs);
  return () => clearInterval(timer);
}

function checkMemory(pool: PoolState): void {
  const { log, groupMemory = memoryOfGroups, workerMemoryBytes = WORKER_MEMORY_BYTES } = pool.options;
  const groups = groupMemory();
  for (const worker of pool.workers) {
    const bytes = memoryOf(worker, groups);
    worker.isLarge = bytes > workerMemoryBytes;
    if (bytes <= WORKER_MEMORY_END * workerMemoryBytes) continue;
    log.warn("render_worker_too_large", { pid: worker.process.pid, bytes });
    worker.killedForMemory = true;
    // A worker that is not warm yet is handled when its start ends.
    if (worker.alive) lose(pool, worker);
    else kill(worker);
  }
}
