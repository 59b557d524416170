// Ledger vocabulary, and what each entry does to an account's balances.

/**
 * `grant` adds credits, `reserve` holds one for an image, `settle` uses it up, `release` gives it back,
 * `expire` ends one.
 */
export const LEDGER_KINDS = ["grant", "reserve", "settle", "release", "expire"] as const;
export type LedgerKind = (typeof LEDGER_KINDS)[number];

/** Plan credits are granted each month and expire with it; top-up credits stay until they are used. */
export const CREDIT_BUCKETS = ["plan", "topup"] as const;
export type CreditBucket = (typeof CREDIT_BUCKETS)[number];

/** How one credit of an entry changes what can be spent (`available`) and what is reserved (`held`). */
export const LEDGER_EFFECTS: Record<LedgerKind, { available: number; held: number }> = {
  grant: { available: 1, held: 0 },
  reserve: { available: -1, held: 1 },
  settle: { available: 0, held: -1 },
  release: { available: 1, held: -1 },
  expire: { available: -1, held: 0 },
};
