import { LEDGER_EFFECTS } from "../../core/credits.ts";
import type { ListPosition } from "../../core/list-position.ts";
import { type LedgerEntry, ledgerPage, newestEntries } from "../../store/ledger.ts";
import type { Tx } from "../../store/store.ts";

/** An entry with what it did to the account, in credits. */
export interface StatementLine {
  entry: LedgerEntry;
  /** What it added to what can be spent, or took from it: the use of a reserved credit takes nothing more. */
  amount: number;
  /** What could be spent after it: plan and top-ups. */
  available: number;
  /** What was reserved after it. */
  held: number;
}

interface Balance {
  available: number;
  held: number;
}

/** Entries read at once where all of them are wanted: about a megabyte of text. */
const BATCH = 5_000;

/**
 * An account's statement, newest first, after `after`; `older` is where the next page goes on. Balances are counted back
 * from what the account has now: entries are never changed, and new ones come above all others.
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

/** What the account had before the entry at `position` and all above it. */
async function balanceBelow(tx: Tx, accountId: string, position: ListPosition): Promise<Balance> {
  let { entries, ...balance } = await newestEntries(tx, accountId, BATCH);
  for (;;) {
    const above = entries.filter((entry) => !isBelow(entry, position));
    balance = before(above, balance);
    if (above.length < BATCH) return balance;
    // Somebody who reads far down must not keep everybody else waiting.
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

/** Newest first; entries of one moment, such as a new month's, in the order in which they come about. */
function byMoment(a: LedgerEntry, b: LedgerEntry): number {
  return b.createdAt - a.createdAt || step(b) - step(a);
}

function step({ kind, imageId }: LedgerEntry): number {
  const ofMonth = kind === "expire" && imageId === null;
  return ofMonth ? 0 : ["grant", "reserve", "settle", "release", "expire"].indexOf(kind) + 1;
}
