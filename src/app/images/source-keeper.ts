import type { Blobs } from "../../blobs/blobs.ts";
import type { Environment } from "../../core/account.ts";
import type { SharedHolds } from "../../state/holds.ts";
import { imageNames, sourceInUse } from "../../store/images/image-files.ts";
import { deleteUploads, hasUpload } from "../../store/images/photos.ts";
import type { Tx } from "../../store/store.ts";
import type { AppContext } from "../context.ts";

/** Keeps fetched photos and badges for as long as they are needed, and drops those of refused creates. */
export interface SourceKeeper {
  hold(): SourceHold;
  /** Removes a source unless an unfinished image or a create in progress needs it. */
  drop(sha256: string): Promise<void>;
  /**
   * Removes a source, its cutout, and an account's uploads of it in one environment, unless an undeleted
   * image uses it, whose deletion will. False while a create in progress holds it, which may be refused: to
   * be tried again then. Rejects when it cannot be removed.
   */
  forget(
    sha256: string,
    scope: { accountId: string; environment: Environment },
    options?: { keepsUploads?: boolean },
  ): Promise<boolean>;
  /**
   * Removes a source as drop() does, but only when it was not used since `until` (epoch ms). True if it was
   * removed.
   */
  dropUnused(sha256: string, until: number): Promise<boolean>;
}

/** The sources of one create; nothing removes them until it is closed. */
export interface SourceHold {
  /**
   * Call before the bytes are written or found to exist. Resolves when that is safe: not while they are being
   * removed.
   */
  add(sha256: string): Promise<void>;
  /** Notes that the bytes did not exist before. */
  wrote(sha256: string): void;
  /**
   * `used`: an image refers to them now. Otherwise sources that exist only because of refused creates are
   * removed.
   */
  close(used: boolean): Promise<void>;
}

export interface SourceKeeperOptions extends Pick<AppContext, "store" | "log"> {
  blobs: Blobs;
  /** What the creates of other processes hold; absent where there are none. */
  holds?: SharedHolds | undefined;
}

/** How often a create that leaves tries to remove its photo while others come and go. */
const MAX_DROP_TRIES = 3;

/** What this process holds, and is removing. */
interface Board {
  held: Map<string, { holders: number; fresh: boolean }>;
  /** Unheld sources that are being removed. */
  leaving: Map<string, Promise<void>>;
}

/**
 * Creates with the same photo share its file, so the last of them to end decides. An image being accepted is
 * either committed, and found, or still held: on SQLite because the check is a transaction of its own, where
 * several processes serve because the removal is announced before it. From the check until the file is gone,
 * creates with the same photo wait, and then write it again.
 */
export function sourceKeeper(options: SourceKeeperOptions): SourceKeeper {
  const { blobs, log } = options;
  const board: Board = { held: new Map(), leaving: new Map() };
  const remove = remover(options, board);
  const removeUnused = (sha256: string, options?: { unlessYoungerThan: number }) =>
    remove(
      sha256,
      (tx) => sourceInUse(tx, sha256),
      () => blobs.remove("source", sha256, options),
    );
  const drop: Drop = async (sha256) => {
    try {
      return (await removeUnused(sha256)).outcome;
    } catch (error) {
      // The sweep will remove it; the create reports its own refusal, not this.
      log.warn("source_not_removed", { sha256, error: String(error) });
      return "failed";
    }
  };
  return {
    hold: () => openHold(options, board, drop),
    drop: async (sha256) => void (await drop(sha256)),
    dropUnused: async (sha256, until) => {
      const removal = await removeUnused(sha256, { unlessYoungerThan: until });
      return removal.outcome === "removed" && removal.value;
    },
    forget: async (sha256, scope, { keepsUploads = false } = {}) => {
      const { outcome } = await remove(
        sha256,
        async (tx) => {
          if (!keepsUploads && !(await imageNames(tx, sha256, scope.accountId)))
            await deleteUploads(tx, scope, sha256);
          return (await imageNames(tx, sha256)) || (await hasUpload(tx, sha256));
        },
        async () => {
          await blobs.remove("source", sha256);
          await blobs.removeStartingWith("cutout", sha256);
        },
      );
      return outcome !== "held";
    },
  };
}

/**
 * Does `work` unless the source is needed, and returns what it did; `needed` by something that is stored, or
 * `held` by a create in progress or somebody else who is removing it.
 */
type Remove = <T>(
  sha256: string,
  isNeeded: (tx: Tx) => Promise<boolean>,
  work: () => Promise<T>,
) => Promise<{ outcome: "removed"; value: T } | { outcome: "needed" | "held" }>;

type Drop = (sha256: string) => Promise<"removed" | "needed" | "held" | "failed">;

function remover({ store, holds, log }: SourceKeeperOptions, { held, leaving }: Board): Remove {
  const removeHere: Remove = async (sha256, isNeeded, work) => {
    const gone = Promise.withResolvers<void>();
    const isHeld = () => held.has(sha256) || leaving.has(sha256);
    let isLeaving = false;
    try {
      const kept = await store.write(
        "drop source",
        async (tx) => {
          if (isHeld()) return "held" as const;
          if (await isNeeded(tx)) return "needed" as const;
          // Creates that arrived during the query hold the source now; later ones wait.
          if (isHeld()) return "held" as const;
          leaving.set(sha256, gone.promise);
          isLeaving = true;
          return undefined;
        },
        { concurrent: true },
      );
      return kept ? { outcome: kept } : { outcome: "removed", value: await work() };
    } finally {
      if (isLeaving) leaving.delete(sha256);
      gone.resolve();
    }
  };
  if (!holds) return removeHere;
  return async (sha256, isNeeded, work) => {
    const announced = await holds.announce(sha256);
    if (!announced) return { outcome: "held" };
    try {
      return await removeHere(sha256, isNeeded, work);
    } finally {
      // Should it fail, creates wait no longer than for a process that died.
      await announced.withdraw().catch((error) => log.warn("hold_not_closed", { error: String(error) }));
    }
  };
}

function openHold({ holds, log }: SourceKeeperOptions, { held, leaving }: Board, drop: Drop): SourceHold {
  const mine = new Set<string>();
  const shared = holds?.open();
  /**
   * Leaves it to a create that came meanwhile; tries again where that one ended before it could be handed
   * over.
   */
  const dropOrLeave = async (sha256: string) => {
    for (let tries = 0; tries < MAX_DROP_TRIES; tries++) {
      const outcome = await drop(sha256);
      if (outcome === "removed" || outcome === "failed") return;
      const later = held.get(sha256);
      if (later) later.fresh = true;
      // The end of the image that needs it removes it.
      if (later || outcome === "needed") return;
    }
  };
  return {
    add: async (sha256) => {
      if (mine.has(sha256)) return;
      mine.add(sha256);
      const known = held.get(sha256) ?? { holders: 0, fresh: false };
      known.holders += 1;
      held.set(sha256, known);
      await leaving.get(sha256);
      await shared?.add(sha256);
    },
    wrote: (sha256) => {
      const known = held.get(sha256);
      if (known) known.fresh = true;
    },
    close: async (used) => {
      const sources = [...mine];
      mine.clear();
      // First: the last here to let go of a source would meet, in removing it, the holds of those
      // before.
      if (sources.length > 0)
        await shared?.close().catch((error) => log.warn("hold_not_closed", { error: String(error) }));
      const orphans = sources.filter((sha256) => {
        const known = held.get(sha256);
        if (!known) return false;
        known.holders -= 1;
        known.fresh &&= !used;
        if (known.holders === 0) held.delete(sha256);
        return known.holders === 0 && known.fresh;
      });
      for (const sha256 of orphans) await dropOrLeave(sha256);
    },
  };
}
