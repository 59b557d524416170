import type { Blobs } from "../../blobs/blobs.ts";
import { imageNames, sourceInUse } from "../../store/image-files.ts";
import { deleteUploads, hasUpload } from "../../store/photos.ts";
import type { Tx } from "../../store/store.ts";
import type { AppContext } from "../context.ts";

/** Keeps fetched photos and badges for as long as they are needed, and drops those of refused creates. */
export interface SourceKeeper {
  hold(): SourceHold;
  /** Removes a source unless an unfinished image or a create in progress needs it. */
  drop(sha256: string): Promise<void>;
  /**
   * Removes a source, its cutout, and `accountId`'s uploads of it, unless an undeleted image or a create in progress
   * uses it. Rejects when it cannot be removed.
   */
  forget(sha256: string, accountId: string): Promise<void>;
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
  /** `used`: an image refers to them now. Otherwise sources that exist only because of refused creates are removed. */
  close(used: boolean): Promise<void>;
}

/**
 * Creates with the same photo share its file, so the last of them to end decides. The check runs inside the writer's
 * transaction: an image being accepted is either committed, and found, or still held. From the check until the file
 * is gone, creates with the same photo wait, and then write it again.
 */
export function sourceKeeper({
  store,
  blobs,
  log,
}: Pick<AppContext, "store" | "log"> & { blobs: Blobs }): SourceKeeper {
  const held = new Map<string, { holders: number; fresh: boolean }>();
  // Unheld sources that are being removed.
  const leaving = new Map<string, Promise<void>>();

  const remove = async (
    sha256: string,
    isNeeded: (tx: Tx) => Promise<boolean>,
    work: () => Promise<unknown>,
  ) => {
    const gone = Promise.withResolvers<void>();
    let isLeaving = false;
    try {
      await store.write("drop source", async (tx) => {
        if (held.has(sha256) || leaving.has(sha256) || (await isNeeded(tx))) return;
        // Creates that arrived during the query hold the source now; later ones wait.
        if (held.has(sha256) || leaving.has(sha256)) return;
        leaving.set(sha256, gone.promise);
        isLeaving = true;
      });
      if (isLeaving) await work();
    } finally {
      if (isLeaving) leaving.delete(sha256);
      gone.resolve();
    }
  };
  const drop = (sha256: string) =>
    remove(
      sha256,
      (tx) => sourceInUse(tx, sha256),
      () => blobs.remove("source", sha256),
    ).catch((error) => {
      // The sweep will remove it; the create reports its own refusal, not this.
      log.warn("source_not_removed", { sha256, error: String(error) });
    });
  const forget = (sha256: string, accountId: string) =>
    remove(
      sha256,
      async (tx) => {
        if (!(await imageNames(tx, sha256, accountId))) await deleteUploads(tx, accountId, sha256);
        return (await imageNames(tx, sha256)) || (await hasUpload(tx, sha256));
      },
      async () => {
        await blobs.remove("source", sha256);
        await blobs.removeStartingWith("cutout", sha256);
      },
    );
  const hold = (): SourceHold => {
    const mine = new Set<string>();
    return {
      add: async (sha256) => {
        if (mine.has(sha256)) return;
        mine.add(sha256);
        const known = held.get(sha256) ?? { holders: 0, fresh: false };
        known.holders += 1;
        held.set(sha256, known);
        await leaving.get(sha256);
      },
      wrote: (sha256) => {
        const known = held.get(sha256);
        if (known) known.fresh = true;
      },
      close: async (used) => {
        const orphans = [...mine].filter((sha256) => {
          const known = held.get(sha256);
          if (!known) return false;
          known.holders -= 1;
          known.fresh &&= !used;
          if (known.holders === 0) held.delete(sha256);
          return known.holders === 0 && known.fresh;
        });
        mine.clear();
        for (const sha256 of orphans) await drop(sha256);
      },
    };
  };
  return { hold, drop, forget };
}
