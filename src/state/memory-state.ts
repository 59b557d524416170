import type { ShortLivedState, StateBounds, Values } from "./state.ts";

/** State in this process's memory, which ends with it. `now` in epoch ms. */
export function memoryState(now: () => number): ShortLivedState {
  return {
    values: <V>(_: string, bounds: StateBounds): Values<V> => {
      const kept = expiringMap<V>(bounds, now);
      return {
        put: async (key, value) => void kept.set(key, value),
        putNew: async (key, value) => {
          if (kept.get(key)) return false;
          kept.set(key, value);
          return true;
        },
        has: async (key) => kept.get(key) !== undefined,
        get: async (key) => kept.get(key)?.value,
        take: async (key) => {
          const found = kept.get(key);
          kept.delete(key);
          return found?.value;
        },
        size: async () => kept.size(),
      };
    },
    counters: (_, bounds) => {
      const kept = expiringMap<number>(bounds, now);
      return {
        add: async (key, amount) => {
          const sum = kept.get(key);
          if (!sum) return kept.set(key, amount).value;
          // Mutated in place: the window keeps running from the first addition.
          sum.value += amount;
          return sum.value;
        },
        sum: async (key) => kept.get(key)?.value ?? 0,
        forget: async (key) => kept.delete(key),
      };
    },
    // Adding evicts, and memory ends with the process.
    sweep: async () => {},
  };
}

interface Entry<V> {
  value: V;
  until: number;
}

/** All entries live equally long, so insertion order is expiry order. */
function expiringMap<V>({ forMs, maxKeys }: StateBounds, now: () => number) {
  const entries = new Map<string, Entry<V>>();
  return {
    get: (key: string): Entry<V> | undefined => {
      const entry = entries.get(key);
      return entry && entry.until > now() ? entry : undefined;
    },
    set: (key: string, value: V): Entry<V> => {
      entries.delete(key);
      for (const [oldest, { until }] of entries) {
        if (until > now() && entries.size < maxKeys) break;
        entries.delete(oldest);
      }
      const entry = { value, until: now() + forMs };
      entries.set(key, entry);
      return entry;
    },
    delete: (key: string): void => void entries.delete(key),
    size: (): number => [...entries.values()].filter(({ until }) => until > now()).length,
  };
}
