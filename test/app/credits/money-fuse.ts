import type { Random } from "../../../src/core/ports.ts";
import { seededRandom } from "../../harness.ts";

/**
 * Ids that count up, and a fuse: after that many more ids the next one throws, in the middle of a
 * transaction.
 */
export type FusedRandom = Random & { fuse: number };

class Torn extends Error {}

export function fusedRandom(): FusedRandom {
  const ids = seededRandom();
  const random = {
    fuse: Number.POSITIVE_INFINITY,
    id: (prefix: string) => {
      if (random.fuse-- <= 0) throw new Torn(`no id for ${prefix}`);
      return ids.id(prefix);
    },
    bytes: ids.bytes,
  };
  return random;
}

/** Does the work with a fuse of `after` ids; undefined when it tore. */
export async function torn<T>(
  random: FusedRandom,
  after: number,
  work: () => Promise<T>,
): Promise<T | undefined> {
  random.fuse = after;
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Torn)) throw error;
    return undefined;
  } finally {
    random.fuse = Number.POSITIVE_INFINITY;
  }
}
