import type { Tx } from "../store.ts";

/** One row that breaks a rule. */
export interface Breach {
  id: string;
  detail: string;
}

/**
 * The entries of one account, bucket, month and kind, with the account's stored balances; these are null when
 * the account no longer exists.
 */
export interface LedgerGroup {
  accountId: string;
  bucket: string;
  period: string;
  kind: string;
  entries: number;
  amount: number;
  least: number;
  most: number;
  withImage: number;
  planPeriod: string | null;
  plan: number | null;
  topup: number | null;
  held: number | null;
}

/** One run of all checks. */
export interface AuditRun {
  /** The maximum number of breaches to report per rule. */
  limit: number;
  /** The service's time, epoch milliseconds. */
  now: number;
  /**
   * Rules of what is over may leave out what ended, and was announced, up to then; undefined: they leave out
   * nothing.
   */
  since: number | undefined;
  /** The summed ledger, computed once for all rules that need it. */
  groups?: Promise<LedgerGroup[]>;
}

/** One audit rule: its name, what it states, and the query that finds violations. */
export interface AuditCheck {
  name: string;
  rule: string;
  /** The first breaches. Each statement sees one state of the database, so checks can run beside a server. */
  find(tx: Tx, run: AuditRun): Promise<Breach[]>;
}
