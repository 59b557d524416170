/** What the next page tells once: that something was done, or a secret that is never shown again. */
export interface Flash {
  notice?: string;
  problem?: string;
  key?: { name: string; environment: "live" | "test"; text: string; replaces: string | null };
  link?: { email: string; url: string };
  secret?: { url: string; text: string };
}

/** Flashes by session, in memory only: a secret must not reach the disk. */
export interface FlashBoard {
  put(sessionId: string, flash: Flash): void;
  /** Takes the flash away: it is shown once. */
  take(sessionId: string): Flash | undefined;
}

/** A page that was never opened keeps its secret no longer than this. */
const KEEP_MS = 120_000;
/** More sessions than this never wait for a page at the same time. */
const MAX_FLASHES = 10_000;

export function flashBoard(now: () => number): FlashBoard {
  const board = new Map<string, { flash: Flash; until: number }>();
  return {
    put: (sessionId, flash) => {
      for (const [id, { until }] of board) {
        if (until > now() && board.size < MAX_FLASHES) break;
        board.delete(id);
      }
      board.delete(sessionId);
      board.set(sessionId, { flash, until: now() + KEEP_MS });
    },
    take: (sessionId) => {
      const found = board.get(sessionId);
      board.delete(sessionId);
      return found && found.until > now() ? found.flash : undefined;
    },
  };
}
