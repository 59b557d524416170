import type { CreditBucket } from "../../core/credits.ts";
import { insufficientCredits } from "../../core/partner-refusals.ts";
import { monthOf } from "../../core/time.ts";
import {
  findReservation,
  findReservations,
  insertEntries,
  insertEntry,
  type LedgerEntry,
  planGrant,
} from "../../store/credits/ledger.ts";
import {
  type Account,
  addTopup,
  consumeHolds,
  findAccount,
  holdCredit,
  holdCredits,
  replacePlanCredits,
  returnHolds,
} from "../../store/people/accounts.ts";
import type { Tx } from "../../store/store.ts";
import type { Moment } from "../context.ts";
import { warnOfLowCredits } from "./credit-warning.ts";

// Two-phase credits, as a bank holds an amount before it books it: reserve moves a credit to held; settle
// consumes it; release gives it back. Each step changes the balances by a guarded UPDATE and writes the entry
// that explains it, in the caller's transaction, so that balances always equal the sums of the entries.

/**
 * The account with this month's plan credits: grants them, and expires last month's, on first sight of a new
 * month.
 */
export async function renewPlan(tx: Tx, accountId: string, moment: Moment): Promise<Account> {
  const account = await findAccount(tx, accountId);
  if (!account) throw new Error(`account ${accountId} is gone`);
  return renewed(tx, account, moment);
}

/** See renewPlan: the account as this transaction has just read it. */
async function renewed(
  tx: Tx,
  account: Account,
  { now, random, isDoubtful = false }: Moment,
): Promise<Account> {
  // What expires does not come back.
  if (isDoubtful) return account;
  const { id: accountId } = account;
  const period = monthOf(now);
  // A clock that was set back must not grant an old month again.
  if (account.planPeriod >= period) return account;
  const changed = await replacePlanCredits(tx, account, period, now);
  if (!changed) return renewPlan(tx, accountId, { now, random });
  const entry = (kind: "grant" | "expire", of: string, amount: number): Promise<void> =>
    amount === 0
      ? Promise.resolve()
      : insertEntry(tx, {
          id: random.id("led"),
          accountId,
          kind,
          bucket: "plan",
          period: of,
          amount,
          imageId: null,
          reason: kind === "grant" ? "monthly plan credits" : "plan credits do not roll over",
          createdAt: now,
        });
  await entry("expire", account.planPeriod, account.creditsPlan);
  await entry("grant", period, account.creditLimit);
  return changed;
}

/**
 * Reserves one credit for an image: plan credits first, because they expire. `asRead` in this transaction.
 * Throws INSUFFICIENT_CREDITS.
 */
export async function reserveCredit(tx: Tx, asRead: Account, imageId: string, moment: Moment): Promise<void> {
  const account = await renewed(tx, asRead, moment);
  const accountId = account.id;
  const hold = async (bucket: CreditBucket) => {
    const held = await holdCredit(tx, accountId, bucket, moment.now);
    return held && { bucket, ...held };
  };
  const held = (await hold("plan")) ?? (await hold("topup"));
  if (!held) throw insufficientCredits(account.creditLimit, moment.now);
  const { bucket, period, left, granted: limit } = held;
  await insertEntry(tx, {
    bucket,
    period,
    id: moment.random.id("led"),
    accountId,
    kind: "reserve",
    amount: 1,
    imageId,
    reason: null,
    createdAt: moment.now,
  });
  await warnOfLowCredits(tx, { accountId, left, taken: 1, limit }, moment);
}

/**
 * Reserves one credit for each of many images, of all or none: plan credits first, because they expire.
 * Throws INSUFFICIENT_CREDITS.
 */
export async function reserveCredits(
  tx: Tx,
  accountId: string,
  imageIds: string[],
  moment: Moment,
): Promise<void> {
  if (imageIds.length === 0) return;
  const account = await renewPlan(tx, accountId, moment);
  const ofPlan = Math.min(account.creditsPlan, imageIds.length);
  const ofTopup = imageIds.length - ofPlan;
  const held = await holdCredits(tx, accountId, { plan: ofPlan, topup: ofTopup }, moment.now);
  if (!held) {
    const available = account.creditsPlan + account.creditsTopup;
    throw insufficientCredits(account.creditLimit, moment.now, {
      needed: imageIds.length,
      left: available,
    });
  }
  const entries = imageIds.map(
    (imageId, at): LedgerEntry => ({
      id: moment.random.id("led"),
      accountId,
      kind: "reserve",
      bucket: at < ofPlan ? "plan" : "topup",
      period: held.period,
      amount: 1,
      imageId,
      reason: null,
      createdAt: moment.now,
    }),
  );
  await insertEntries(tx, entries);
  const { left, granted: limit } = held;
  await warnOfLowCredits(tx, { accountId, left, taken: imageIds.length, limit }, moment);
}

/**
 * Consumes the credit reserved for an image; does nothing for an image that reserved none. Returns credits
 * used.
 */
export async function settleCredit(tx: Tx, imageId: string, moment: Moment): Promise<0 | 1> {
  const reservation = await findReservation(tx, imageId);
  if (!reservation) return 0;
  await insertEntry(tx, resolution(reservation, "settle", moment));
  await consumeHolds(tx, reservation.accountId, 1, moment.now);
  return 1;
}

/** Gives the credits reserved for images back; a plan credit of a past month expires at once. */
export async function releaseCredits(tx: Tx, imageIds: string[], moment: Moment): Promise<void> {
  const reservations = await findReservations(tx, imageIds);
  const ended = (kind: "release" | "expire", of: LedgerEntry[]) =>
    insertEntries(
      tx,
      of.map((reservation) => resolution(reservation, kind, moment)),
    );
  await ended("release", reservations);
  const alike = Map.groupBy(reservations, ({ accountId, bucket, period }) =>
    [accountId, bucket, period].join(),
  );
  for (const group of alike.values()) {
    const [{ accountId, bucket, period }] = group as [LedgerEntry];
    const count = group.length;
    if (await returnHolds(tx, accountId, { bucket, period, count }, moment.now)) continue;
    await ended("expire", group);
    await consumeHolds(tx, accountId, count, moment.now);
  }
}

/** Adds credits that stay until they are used. */
export async function topUpCredits(
  tx: Tx,
  accountId: string,
  amount: number,
  reason: string | null,
  { now, random }: Moment,
): Promise<Account | undefined> {
  const account = await addTopup(tx, accountId, amount, now);
  if (!account) return undefined;
  await insertEntry(tx, {
    id: random.id("led"),
    accountId,
    kind: "grant",
    bucket: "topup",
    period: monthOf(now),
    amount,
    imageId: null,
    reason,
    createdAt: now,
  });
  return account;
}

/** What an account has, as every page, answer and event tells it. */
export interface Credits {
  /** Can be spent: plan and top-ups. */
  left: number;
  /** Of these, of the plan and of top-ups. */
  ofPlan: number;
  topup: number;
  /** Reserved for cards in the making. */
  held: number;
  /**
   * The plan credits of this month, spent or not: a plan that is changed within the month counts from the
   * next one on.
   */
  limit: number;
  /** The plan credits of the months to come. */
  nextLimit: number;
}

/** What an account has at `now`, also when this month's grant has not been written yet. */
export async function creditsOf(tx: Tx, account: Account, now: number): Promise<Credits> {
  const { creditLimit, creditsTopup: topup, creditsHeld: held } = account;
  const left = creditsAvailable(account, now);
  const limit = await planOfMonth(tx, account, now);
  return { left, ofPlan: left - topup, topup, held, limit, nextLimit: creditLimit };
}

/** The plan credits an account was granted for the month, or is about to be. */
export async function planOfMonth(tx: Tx, account: Account, now: number): Promise<number> {
  return account.planPeriod < monthOf(now)
    ? account.creditLimit
    : planGrant(tx, account.id, account.planPeriod);
}

/** What an account can spend at `now`, also when this month's grant has not been written yet. */
export function creditsAvailable(account: Account, now: number): number {
  const plan = account.planPeriod < monthOf(now) ? account.creditLimit : account.creditsPlan;
  return plan + account.creditsTopup;
}

function resolution(
  reservation: LedgerEntry,
  kind: "settle" | "release" | "expire",
  { now, random }: Moment,
): LedgerEntry {
  return {
    ...reservation,
    id: random.id("led"),
    kind,
    reason: kind === "expire" ? "released after its month had ended" : null,
    createdAt: now,
  };
}
