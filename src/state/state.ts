/**
 * State that is useful for a while and no loss when forgotten: messages for the next page, attempt counters,
 * budgets. Kept in this process, or somewhere several processes share.
 */
export interface ShortLivedState {
  /** Values by key, all of which JSON gives back as they were. `name` separates them from all others. */
  values<V>(name: string, bounds: StateBounds): Values<V>;
  /** Sums by key, each from its first addition until `forMs` later; then it restarts at 0. */
  counters(name: string, bounds: StateBounds): Counters;
  /** Lets go of what has expired. Nobody gets that anyway; this is for what would be kept of it. */
  sweep(): Promise<void>;
}

export interface StateBounds {
  forMs: number;
  /**
   * A flood of keys evicts the oldest entries instead of exceeding the bound; it may be exceeded by a
   * hundredth.
   */
  maxKeys: number;
}

export interface Values<V> {
  put(key: string, value: V): Promise<void>;
  /** Stores it unless the key has a value; of several concurrent calls only one gets true. */
  putNew(key: string, value: V): Promise<boolean>;
  has(key: string): Promise<boolean>;
  /** Reads the value without removing it. */
  get(key: string): Promise<V | undefined>;
  /** Returns the value and removes it: nobody gets it twice. */
  take(key: string): Promise<V | undefined>;
  /** How many keys have a value now. */
  size(): Promise<number>;
}

export interface Counters {
  /** Adds to the sum of the key, possibly a negative amount, and returns the new sum. */
  add(key: string, amount: number): Promise<number>;
  sum(key: string): Promise<number>;
  forget(key: string): Promise<void>;
}
