import {
  BATCH_FETCH_LEASE_MS,
  MAX_BATCH_FETCHES_PER_ACCOUNT,
  MAX_COUNTED_BATCH_FETCHES,
} from "../../core/batch-fetch-limits.ts";
import type { ShortLivedState } from "../../state/state.ts";
import type { AppContext } from "../context.ts";

/** The right to fetch one photo for an account's batches. */
export interface FetchSlot {
  giveBack(): Promise<void>;
}

/** Shares out how many photos are fetched at once for one account's batches, by all servers together. */
export interface FetchSlots {
  /** Undefined while all slots of the account are taken. */
  take(accountId: string): Promise<FetchSlot | undefined>;
  /** The accounts whose slots are all taken by this process: no use to ask for one. */
  accountsFullHere(): string[];
}

/** A slot that is not given back, because its process was killed, is free again after a lease. */
export function fetchSlots({
  state,
  clock,
  node,
  log,
}: Pick<AppContext, "clock" | "node" | "log"> & { state: ShortLivedState }): FetchSlots {
  const forMs = BATCH_FETCH_LEASE_MS;
  const shared = state.values<string>("batch fetch", { forMs, maxKeys: MAX_COUNTED_BATCH_FETCHES });
  /** By account, the numbers of the slots that this process holds or is asking for. */
  const own = new Map<string, Set<number>>();

  const release = (accountId: string, slot: number) => {
    const held = own.get(accountId);
    held?.delete(slot);
    if (held?.size === 0) own.delete(accountId);
  };
  const takeOne = async (accountId: string, slot: number): Promise<FetchSlot | undefined> => {
    const held = own.get(accountId) ?? new Set();
    own.set(accountId, held.add(slot));
    const takenAt = clock.elapsed();
    const key = `${accountId} ${slot}`;
    let isTaken = false;
    try {
      isTaken = await shared.putNew(key, node);
    } finally {
      if (!isTaken) release(accountId, slot);
    }
    if (!isTaken) return undefined;
    return {
      giveBack: async () => {
        release(accountId, slot);
        // After its lease it may be somebody else's.
        if (clock.elapsed() - takenAt >= forMs) return;
        await shared.take(key).catch((error) => log.warn("fetch_slot_kept", { error: String(error) }));
      },
    };
  };

  return {
    take: async (accountId) => {
      for (let slot = 0; slot < MAX_BATCH_FETCHES_PER_ACCOUNT; slot++) {
        if (own.get(accountId)?.has(slot)) continue;
        const taken = await takeOne(accountId, slot);
        if (taken) return taken;
      }
      return undefined;
    },
    accountsFullHere: () =>
      [...own]
        .filter(([, held]) => held.size >= MAX_BATCH_FETCHES_PER_ACCOUNT)
        .map(([accountId]) => accountId),
  };
}
