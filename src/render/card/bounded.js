// Runs inside the page. Type-checked through JSDoc, served as it is.

/**
 * The longest wait for pictures or fonts, which ends one that never comes: on a busy machine a large picture
 * may take ten seconds to decode.
 */
const READY_TIMEOUT_MS = 30_000;

/**
 * The work, or an error once it has taken too long.
 * @template T
 * @param {string} what
 * @param {Promise<T>} work
 * @returns {Promise<T>}
 */
export function bounded(what, work) {
  return Promise.race([
    work,
    new Promise((_, reject) =>
      setTimeout(
        () => reject(new Error(`${what} were not ready after ${READY_TIMEOUT_MS} ms`)),
        READY_TIMEOUT_MS,
      ),
    ),
  ]);
}
