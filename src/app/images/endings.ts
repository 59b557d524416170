import {
  MAX_WAITING_CREATES,
  MAX_WAITING_PER_ACCOUNT,
  OTHER_NODES_POLL_MS,
} from "../../core/picture-limits.ts";

/**
 * Wakes those who wait for images that have ended. In memory: a hint, and those who are woken look at the
 * image.
 */
export interface Endings {
  /** Called once the end of images is committed. */
  notify(imageIds: readonly string[]): void;
  /**
   * Resolves once the image has ended, `ms` are over, the signal is aborted or the service stops; at once
   * where too many wait already.
   */
  wait(imageId: string, options: WaitOptions): Promise<void>;
  /** Lets everybody go, also those to come: the service stops. */
  close(): void;
}

interface WaitOptions {
  accountId: string;
  ms: number;
  signal: AbortSignal;
  /**
   * Whether the image has ended: asked when the wait begins, since it may have by then, and now and then
   * where others may end it.
   */
  isOver: () => Promise<boolean>;
}

/** `others`: whether other processes end images too, of which this one learns nothing. */
export function endings({ others = false }: { others?: boolean } = {}): Endings {
  const waiting = new Map<string, Set<() => void>>();
  const byAccount = new Map<string, number>();
  let total = 0;
  let isClosed = false;

  const addWaiting = (imageId: string, accountId: string, go: () => void) => {
    const own = waiting.get(imageId) ?? new Set();
    waiting.set(imageId, own.add(go));
    byAccount.set(accountId, (byAccount.get(accountId) ?? 0) + 1);
    total += 1;
  };
  const removeWaiting = (imageId: string, accountId: string, go: () => void) => {
    const own = waiting.get(imageId);
    own?.delete(go);
    if (own?.size === 0) waiting.delete(imageId);
    const left = (byAccount.get(accountId) ?? 0) - 1;
    if (left > 0) byAccount.set(accountId, left);
    else byAccount.delete(accountId);
    total -= 1;
  };

  return {
    notify: (imageIds) => {
      for (const id of imageIds) for (const go of waiting.get(id) ?? []) go();
    },
    wait: async (imageId, { accountId, ms, signal, isOver }) => {
      const isFull =
        total >= MAX_WAITING_CREATES || (byAccount.get(accountId) ?? 0) >= MAX_WAITING_PER_ACCOUNT;
      if (isFull || isClosed || signal.aborted) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      const go = () => resolve();
      addWaiting(imageId, accountId, go);
      const limit = setTimeout(go, ms);
      signal.addEventListener("abort", go, { once: true });
      let isAsking = false;
      const look = async () => {
        if (isAsking) return;
        isAsking = true;
        // Who cannot be asked now can be when the wait is over.
        if (await isOver().catch(() => false)) go();
        isAsking = false;
      };
      const poll = others ? setInterval(look, OTHER_NODES_POLL_MS) : undefined;
      try {
        void look();
        await promise;
      } finally {
        clearTimeout(limit);
        clearInterval(poll);
        signal.removeEventListener("abort", go);
        removeWaiting(imageId, accountId, go);
      }
    },
    close: () => {
      isClosed = true;
      for (const own of waiting.values()) for (const go of own) go();
    },
  };
}
