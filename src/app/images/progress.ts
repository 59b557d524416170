import type { Stage } from "../../render/protocol.ts";

/** Fraction of the work done when each stage begins, from measured stage times of new photos. */
const PROGRESS_AT: Record<Stage, number> = {
  decode: 0.05,
  find: 0.15,
  cut_out: 0.35,
  compose: 0.7,
  capture: 0.8,
  store: 0.95,
};

/** Progress of current renders. Best effort and in memory: lost with the process, as the renders are. */
export interface ProgressTracker {
  reach(imageId: string, stage: Stage): void;
  set(imageId: string, progress: number): void;
  /** 0.0 to 1.0, or null when unknown. */
  of(imageId: string): number | null;
  clear(imageId: string): void;
}

export function progressTracker(): ProgressTracker {
  const shares = new Map<string, number>();
  return {
    reach: (imageId, stage) => void shares.set(imageId, PROGRESS_AT[stage]),
    set: (imageId, progress) => void shares.set(imageId, progress),
    of: (imageId) => shares.get(imageId) ?? null,
    clear: (imageId) => void shares.delete(imageId),
  };
}
