import { CLOCK_HOLD_MS, CLOCK_TOLERANCE_MS } from "./limits.ts";
import type { Clock, Log } from "./ports.ts";

/** One moment on both scales: the time of day, and what has passed since the machine was started. */
export interface ClockMark {
  wall: number;
  elapsed: number;
}

/** A time of day that does not believe in jumps at once. */
export interface SteadyClock extends Clock {
  /** For how long nothing has cast doubt on the time. */
  settledForMs(): number;
  /** What the next process on the same start of the machine can go on from. */
  mark(): ClockMark;
  /** For a start that finds rows which do not fit the time it was told. */
  doubt(): void;
}

/**
 * The time of a clock that somebody may set. When it jumps, time goes on as it was before by what has really passed; only
 * a jump that stays for CLOCK_HOLD_MS is believed. A clock that is wrong for a moment would otherwise let pictures and
 * sessions expire, forget which requests were answered, grant a month's credits twice, and keep the queue waiting.
 * `since` is the mark of an earlier process, from the same start of the machine.
 */
export function steadyClock(source: Clock, log: Log, since?: ClockMark): SteadyClock {
  /** The time of day at the zero of what has passed. */
  let zero = since ? since.wall - since.elapsed : source.now() - source.elapsed();
  let jump: { zero: number; seenAt: number } | undefined;
  let doubtedAt = Number.NEGATIVE_INFINITY;

  const now = (): number => {
    const elapsed = source.elapsed();
    const told = source.now();
    const offBy = told - elapsed - zero;
    if (Math.abs(offBy) <= CLOCK_TOLERANCE_MS) {
      if (jump) log.warn("clock_right_again", {});
      jump = undefined;
      // It is being corrected little by little, as it should be.
      zero = told - elapsed;
      return told;
    }
    if (!jump || Math.abs(told - elapsed - jump.zero) > CLOCK_TOLERANCE_MS) {
      jump = { zero: told - elapsed, seenAt: elapsed };
      log.error("clock_jumped", {
        byMs: offBy,
        to: new Date(told).toISOString(),
        remedy: `The service goes on in the time before. If the clock of this machine is wrong, set it right; if it is right now, do nothing: it is believed after ${CLOCK_HOLD_MS} ms.`,
      });
    }
    if (elapsed - jump.seenAt < CLOCK_HOLD_MS) return elapsed + zero;
    ({ zero } = jump);
    jump = undefined;
    doubtedAt = elapsed;
    log.error("clock_jump_believed", { byMs: offBy, to: new Date(told).toISOString() });
    return told;
  };
  return {
    now,
    elapsed: source.elapsed,
    settledForMs: () => {
      now();
      return jump ? 0 : source.elapsed() - doubtedAt;
    },
    mark: () => {
      now();
      const elapsed = source.elapsed();
      return { wall: elapsed + zero, elapsed };
    },
    doubt: () => {
      doubtedAt = source.elapsed();
    },
  };
}
