import { isClosed } from "../../core/card-set.ts";
import type { CardSet } from "../../store/sets/card-sets.ts";
import { editionCounts } from "../../store/sets/set-cards.ts";
import type { Tx } from "../../store/store.ts";

/** How many cards of a player a closed edition has, or of all players where none is named. */
export type PrintRuns = (player: number | null, parallel: string) => number | null;

/**
 * The final counts of a set's closed editions: null for any other parallel, and as long as cards that were
 * accepted in time are being made, since one that fails gives its number back. With `players`, by their
 * places in the checklist, they are counted for those alone.
 */
export async function printRunsOf(
  read: Tx,
  { id, parallels }: Pick<CardSet, "id" | "parallels">,
  { now, players }: { now: number; players?: number[] },
): Promise<PrintRuns> {
  const closed = new Set(parallels.filter((one) => isClosed(one, now)).map(({ name }) => name));
  const of = { setId: id, parallels: [...closed], players };
  const counts = closed.size === 0 ? [] : await editionCounts(read, of);
  // A checklist asks for each of its players and parallels: what is looked for is found at once.
  const runs = new Map<string, { n: number; open: number }>();
  for (const { player, parallel, n, open } of counts)
    for (const key of [keyOf(player, parallel), keyOf(null, parallel)]) {
      const before = runs.get(key) ?? { n: 0, open: 0 };
      runs.set(key, { n: before.n + n, open: before.open + open });
    }
  return (player, parallel) => {
    if (!closed.has(parallel)) return null;
    const { n, open } = runs.get(keyOf(player, parallel)) ?? { n: 0, open: 0 };
    return open > 0 ? null : n;
  };
}

const keyOf = (player: number | null, parallel: string) => `${player} ${parallel}`;
