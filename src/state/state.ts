/**
 * What is remembered for a while, and is no loss when it is forgotten: messages for the next page, tries, budgets. Kept by
 * this process, or by something that several share.
 */
export interface ShortLivedState {
  /** Values by key. `name` keeps them apart from all others. */
  values<V>(name: string, bounds: StateBounds): Values<V>;
  /** Sums by key, each from its first addition until `forMs` later; then it begins anew at 0. */
  counters(name: string, bounds: StateBounds): Counters;
}

export interface StateBounds {
  forMs: number;
  /** A flood of keys pushes out what came first, never the memory's bounds. */
  maxKeys: number;
}

export interface Values<V> {
  put(key: string, value: V): Promise<void>;
  /** Keeps it unless the key has a value; of several at once only one is told true. */
  putNew(key: string, value: V): Promise<boolean>;
  has(key: string): Promise<boolean>;
  /** The value as it was put; it stays. */
  get(key: string): Promise<V | undefined>;
  /** Gives the value out and forgets it: nobody gets it twice. */
  take(key: string): Promise<V | undefined>;
}

export interface Counters {
  /** Adds to the sum of the key, also less than nothing, and tells the new one. */
  add(key: string, amount: number): Promise<number>;
  sum(key: string): Promise<number>;
  forget(key: string): Promise<void>;
}
