/**
 * Ends a wait for pictures or fonts that never come. A busy machine may decode a large one for ten seconds.
 */
const READY_TIMEOUT_MS = 30_000;

/** The work, or an error once it has taken too long. */
export function bounded<T>(what: string, work: Promise<T>): Promise<T> {
  return Promise.race([
    work,
    new Promise<never>((_, reject) =>
      setTimeout(
        () => reject(new Error(`${what} were not ready after ${READY_TIMEOUT_MS} ms`)),
        READY_TIMEOUT_MS,
      ),
    ),
  ]);
}
