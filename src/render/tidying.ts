/**
 * A worker gives back the memory that its work took, garbage and what glibc keeps for networks, after this
 * many cards at the latest, and this long after a card if no other comes. Without that, sixty cards of known
 * photos took 390 MB.
 */
const CARDS_PER_TIDYING = 5;
const IDLE_MS = 2_000;

/** Returns a function that does work, one at a time, and calls `tidy` now and then, between two works. */
export function tidying(tidy: () => void): <T>(work: () => Promise<T>) => Promise<T> {
  let done = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const start = () => {
    done = 0;
    tidy();
  };
  return async (work) => {
    clearTimeout(timer);
    // The next card came before the timer did.
    if (done >= CARDS_PER_TIDYING) start();
    try {
      return await work();
    } finally {
      // Once the card is answered.
      timer = setTimeout(start, ++done < CARDS_PER_TIDYING ? IDLE_MS : 0);
      timer.unref();
    }
  };
}
