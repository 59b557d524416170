import { isClosed } from "../../core/card-set.ts";
import type { CardSet } from "../../store/sets/card-sets.ts";
import { editionCounts } from "../../store/sets/set-cards.ts";
import type { Tx } from "../../store/store.ts";

/** How many cards of a player a closed edition has, or of all players where none is named. */
export type PrintRuns = (player: number | null, parallel: string) => number | null;

/**
 * The final counts of a set's closed editions: null for any other parallel, and as long as cards that were
 * accepted in time are being made, since one that fails gives its number back.
 */
export async function printRunsOf(
  read: Tx,
  { id, parallels }: Pick<CardSet, "id" | "parallels">,
  now: number,
): Promise<PrintRuns> {
  const closed = parallels.filter((one) => isClosed(one, now)).map(({ name }) => name);
  const counts = closed.length === 0 ? [] : await editionCounts(read, { setId: id, parallels: closed });
  return (player, parallel) => {
    if (!closed.includes(parallel)) return null;
    const own = counts.filter(
      (count) => count.parallel === parallel && (player === null || count.player === player),
    );
    return own.some(({ open }) => open > 0) ? null : own.reduce((sum, { n }) => sum + n, 0);
  };
}
