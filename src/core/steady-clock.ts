import { CLOCK_HOLD_MS, CLOCK_TOLERANCE_MS, DELETION_PAUSE_MS } from "./limits.ts";
import type { Clock, Log } from "./ports.ts";

/** One moment on both scales: the time of day, and the time since the machine started. */
export interface ClockMark {
  wall: number;
  elapsed: number;
  /** When the time was last questioned, on the scale of `elapsed`; absent when it never was. */
  doubtedAt?: number;
}

/**
 * Whether the time is beyond doubt, so that what cannot be undone may be done because it is due. After a
 * doubt that takes as long as somebody needs to read the alarm.
 */
export function isProven({ settledForMs }: Pick<Clock, "settledForMs">): boolean {
  return (settledForMs?.() ?? Number.POSITIVE_INFINITY) >= DELETION_PAUSE_MS;
}

/** A wall clock that does not accept jumps immediately. */
export interface SteadyClock extends Clock {
  settledForMs(): number;
  /** A mark from which the next process can continue, as long as the machine is not restarted. */
  mark(): ClockMark;
  /** Call when stored rows, or another clock, do not fit the time of day that was read. */
  doubt(): void;
}

/**
 * A wall clock that tolerates being set. After a jump, time continues from where it was by what has really
 * elapsed; a jump is only accepted once it has lasted CLOCK_HOLD_MS. A clock that is briefly wrong would
 * otherwise expire pictures and sessions, drop idempotency records, grant a month's credits twice, and stall
 * the queue. `since` is the mark of an earlier process from the same start of the machine.
 */
export function steadyClock(source: Clock, log: Log, since?: ClockMark): SteadyClock {
  /** The time of day at the origin of the monotonic clock. */
  let zero = since ? since.wall - since.elapsed : source.now() - source.elapsed();
  let jump: { zero: number; seenAt: number } | undefined;
  // A restart proves nothing.
  let doubtedAt = since?.doubtedAt ?? Number.NEGATIVE_INFINITY;

  const now = (): number => {
    const elapsed = source.elapsed();
    const reading = source.now();
    const offBy = reading - elapsed - zero;
    if (Math.abs(offBy) <= CLOCK_TOLERANCE_MS) {
      if (jump) log.warn("clock_right_again", {});
      jump = undefined;
      // The clock is being slewed, as it should be.
      zero = reading - elapsed;
      return reading;
    }
    if (!jump || Math.abs(reading - elapsed - jump.zero) > CLOCK_TOLERANCE_MS) {
      jump = { zero: reading - elapsed, seenAt: elapsed };
      log.error("clock_jumped", {
        byMs: offBy,
        to: new Date(reading).toISOString(),
        remedy: `The service goes on in the time before. If the clock of this machine is wrong, set it right; if it is right now, do nothing: it is believed after ${CLOCK_HOLD_MS} ms.`,
      });
    }
    if (elapsed - jump.seenAt < CLOCK_HOLD_MS) return elapsed + zero;
    ({ zero } = jump);
    jump = undefined;
    doubtedAt = elapsed;
    log.error("clock_jump_believed", { byMs: offBy, to: new Date(reading).toISOString() });
    return reading;
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
      return { wall: elapsed + zero, elapsed, ...(Number.isFinite(doubtedAt) && { doubtedAt }) };
    },
    doubt: () => {
      doubtedAt = source.elapsed();
    },
  };
}
