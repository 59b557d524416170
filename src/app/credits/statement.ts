import { LEDGER_EFFECTS } from "../../core/credits.ts";
import type { ListPosition } from "../../core/list-position.ts";
import { type LedgerEntry, ledgerPage, newestEntries } from "../../store/credits/ledger.ts";
import type { Tx } from "../../store/store.ts";

/** A ledger entry with its effect on the account, in credits. */
export interface StatementLine {
  entry: LedgerEntry;
  /** The change in what can be spent; using a reserved credit takes nothing more. */
  amount: number;
  /** What could be spent afterwards: plan and top-ups. */
  available: number;
  /** What was reserved afterwards. */
  held: number;
}

interface Balance {
  available: number;
  held: number;
}

/** Entries per read when all are wanted: about a megabyte of text. */
const BATCH = 5_000;

/**
 * An account's statement, newest first, after `after`; `older` is where the next page continues. Balances are
 * counted back from the current one, which works because entries never change and new ones only come on top.
 */
export async function statementPage(
  tx: Tx,
  { accountId, after, limit }: { accountId: string; after?: ListPosition | undefined; limit: number },
): Promise<{ lines: StatementLine[]; older: ListPosition | undefined }> {
  const { entries, ...balance } = after
    ? {
        ...(await balanceBelow(tx, accountId, after)),
        entries: await ledgerPage(tx, { accountId, after, limit: limit + 1 }),
      }
    : await newestEntries(tx, accountId, limit + 1);
  const shown = entries.slice(0, limit);
  return {
    lines: withBalances(shown, balance),
    older: entries.length > limit ? shown.at(-1) : undefined,
  };
}

/** The whole statement of an account, newest first, in batches. */
export async function* wholeStatement(tx: Tx, accountId: string): AsyncGenerator<StatementLine[]> {
  let { entries, ...balance } = await newestEntries(tx, accountId, BATCH);
  for (;;) {
    yield withBalances(entries, balance);
    balance = before(entries, balance);
    if (entries.length < BATCH) return;
    entries = await ledgerPage(tx, { accountId, after: entries.at(-1), limit: BATCH });
  }
}

/** The balance before the entry at `position` and all newer ones. */
async function balanceBelow(tx: Tx, accountId: string, position: ListPosition): Promise<Balance> {
  let { entries, ...balance } = await newestEntries(tx, accountId, BATCH);
  for (;;) {
    const above = entries.filter((entry) => !isBelow(entry, position));
    balance = before(above, balance);
    if (above.length < BATCH) return balance;
    // A reader far down the list must not make everybody else wait.
    await new Promise(setImmediate);
    entries = await ledgerPage(tx, { accountId, after: entries.at(-1), limit: BATCH });
  }
}

function isBelow(entry: LedgerEntry, { createdAt, id }: ListPosition): boolean {
  return entry.createdAt < createdAt || (entry.createdAt === createdAt && entry.id < id);
}

/** The balance before some entries, from the one after them. */
function before(entries: LedgerEntry[], after: Balance): Balance {
  const sum = (of: keyof Balance) =>
    entries.reduce((total, { kind, amount }) => total + LEDGER_EFFECTS[kind][of] * amount, 0);
  return { available: after.available - sum("available"), held: after.held - sum("held") };
}

function withBalances(entries: LedgerEntry[], newest: Balance): StatementLine[] {
  let balance = newest;
  return entries.toSorted(byMoment).map((entry) => {
    const line = { entry, amount: LEDGER_EFFECTS[entry.kind].available * entry.amount || 0, ...balance };
    balance = before([entry], balance);
    return line;
  });
}

/** Newest first; entries of the same moment, such as at a new month, in the order they occur. */
function byMoment(a: LedgerEntry, b: LedgerEntry): number {
  return b.createdAt - a.createdAt || step(b) - step(a);
}

function step({ kind, imageId }: LedgerEntry): number {
  const ofMonth = kind === "expire" && imageId === null;
  return ofMonth ? 0 : ["grant", "reserve", "settle", "release", "expire"].indexOf(kind) + 1;
}
