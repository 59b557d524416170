import { monthOf } from "../core/time.ts";
import type { Account } from "../store/accounts.ts";
import { latestGrant } from "../store/ledger.ts";
import type { Tx } from "../store/store.ts";
import type { Moment } from "./context.ts";
import { recordEvent } from "./webhook-events.ts";

/** `credits.low` is sent when this part of the monthly plan is left: one fifth. */
export const LOW_PART = 5;

/**
 * Records `credits.low` when the credit just reserved was the one that brought what is left down to a fifth of the
 * plan. Once for each grant: a credit that is released and reserved again does not warn again; the next month's plan
 * and every top-up do.
 */
export async function warnOfLowCredits(
  tx: Tx,
  account: Pick<Account, "id" | "creditLimit">,
  left: number,
  moment: Moment,
): Promise<void> {
  const isLow = (credits: number) => credits * LOW_PART <= account.creditLimit;
  if (!isLow(left) || isLow(left + 1)) return;
  const grant = await latestGrant(tx, account.id);
  await recordEvent(
    tx,
    {
      accountId: account.id,
      environment: "live",
      type: "credits.low",
      subject: grant?.id ?? `${account.id}.${monthOf(moment.now)}`,
      data: { credits_remaining: left, credit_limit: account.creditLimit },
    },
    moment,
  );
}
