import { monthOf } from "../../core/time.ts";
import { latestGrant } from "../../store/credits/ledger.ts";
import type { Tx } from "../../store/store.ts";
import type { Moment } from "../context.ts";
import { recordEvent } from "../webhooks/webhook-events.ts";

/** Credits are low when this part of the month's plan is left: one fifth. */
export const LOW_PART = 5;

/** Whether what is left is low, measured by the plan credits granted for the month. */
export function isLow({ left, limit }: { left: number; limit: number }): boolean {
  return left * LOW_PART <= limit;
}

/**
 * Records `credits.low` when the credits just reserved (`taken`) brought what is left down to a fifth of the
 * month's plan. Once for each grant: a credit that is released and reserved again does not warn again; the
 * next month's plan and every top-up do.
 */
export async function warnOfLowCredits(
  tx: Tx,
  { accountId, left, taken, limit }: { accountId: string; left: number; taken: number; limit: number },
  moment: Moment,
): Promise<void> {
  if (!isLow({ left, limit }) || isLow({ left: left + taken, limit })) return;
  const grant = await latestGrant(tx, accountId);
  await recordEvent(
    tx,
    {
      accountId,
      environment: "live",
      type: "credits.low",
      subject: grant?.id ?? `${accountId}.${monthOf(moment.now)}`,
      data: { credits_remaining: left, credit_limit: limit },
    },
    moment,
  );
}
