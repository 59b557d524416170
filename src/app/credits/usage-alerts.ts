import { Refusal } from "../../core/errors.ts";
import { MAX_CREDITS, MAX_USAGE_ALERT_PERCENT, MAX_USAGE_ALERTS } from "../../core/limits.ts";
import { usageAlert } from "../../core/mail.ts";
import { daysOfMonth, monthOf } from "../../core/time.ts";
import { alertDue, budgetOf, type UsageBudget } from "../../core/usage-budget.ts";
import { sumUsage } from "../../store/credits/usage.ts";
import { type Account, setAccountBudget } from "../../store/people/accounts.ts";
import { ownersOf } from "../../store/people/users.ts";
import type { Tx } from "../../store/store.ts";
import { eventsAbout } from "../../store/webhooks/webhooks.ts";
import type { AppContext } from "../context.ts";
import { writeMail } from "../mail/outbox.ts";
import { type Actor, logAction } from "../operations/activity.ts";
import { accountNotFound } from "../people/manage-account.ts";
import { recordEvent } from "../webhooks/webhook-events.ts";

/**
 * Sets an account's monthly budget, or removes it. Alerts that are behind already are no longer raised; the
 * page shows them. Throws INVALID_REQUEST and ACCOUNT_NOT_FOUND.
 */
export async function changeBudget(
  { store, clock, random }: Pick<AppContext, "store" | "clock" | "random">,
  accountId: string,
  budget: UsageBudget | undefined,
  by: Actor,
): Promise<Account> {
  const checked = budget && checkedBudget(budget);
  const subject = checked
    ? `${checked.credits} credits a month, alerts at ${checked.alerts.join(", ")} %`
    : "no budget";
  const account = await store.write(
    "change budget",
    async (tx) => {
      const now = clock.now();
      const row = { usageBudget: checked?.credits ?? null, usageAlerts: checked?.alerts ?? null, now };
      const changed = await setAccountBudget(tx, accountId, row);
      if (changed)
        await logAction(tx, { by, accountId, action: "account.alerts_changed", subject }, { now, random });
      return changed;
    },
    { concurrent: true },
  );
  if (!account) throw accountNotFound(accountId);
  return account;
}

function checkedBudget({ credits, alerts }: UsageBudget): { credits: number; alerts: number[] } {
  const isWhole = (value: number, max: number) => Number.isInteger(value) && value >= 1 && value <= max;
  if (!isWhole(credits, MAX_CREDITS))
    throw new Refusal(
      "INVALID_REQUEST",
      `The budget must be a whole number of credits from 1 to ${MAX_CREDITS}, or nothing for no budget.`,
    );
  const sorted = [...new Set(alerts)].toSorted((a, b) => a - b);
  const isListed = sorted.length >= 1 && sorted.length <= MAX_USAGE_ALERTS;
  if (!isListed || !sorted.every((percent) => isWhole(percent, MAX_USAGE_ALERT_PERCENT)))
    throw new Refusal(
      "INVALID_REQUEST",
      `Write 1 to ${MAX_USAGE_ALERTS} whole percentages from 1 to ${MAX_USAGE_ALERT_PERCENT}, such as 50, 80, 100.`,
    );
  return { credits, alerts: sorted };
}

/**
 * Tells that the credit just used reached an alert: records `usage.alert` and mails the owners. Once for each
 * count of credits and month, however often the budget is changed; a small budget's alerts that fall on one
 * credit are raised as the highest. To be called after that credit is settled and counted: settling locks the
 * account's row, so that of several servers each sees the credits of those before it.
 */
export async function alertOfUsage(
  tx: Tx,
  context: Pick<AppContext, "config" | "clock" | "random" | "secrets">,
  account: Account,
  now: number,
): Promise<void> {
  const budget = budgetOf(account);
  if (!budget) return;
  const period = monthOf(now);
  const used = await usedIn(tx, account.id, period);
  const percent = budget.alerts.findLast((alert) => alertDue(budget.credits, alert) === used);
  if (percent === undefined) return;
  const subject = subjectOf(account.id, period, used);
  const data = { period, credits_used: used, budget: budget.credits, percent };
  const { random } = context;
  await recordEvent(
    tx,
    { accountId: account.id, environment: "live", type: "usage.alert", subject, data },
    { now, random },
  );
  const url = `${context.config.baseUrl}/console/usage`;
  const text = usageAlert({ account: account.name, percent, used, budget: budget.credits, period, url });
  for (const recipient of await ownersOf(tx, account.id))
    await writeMail(tx, context, { kind: "usage_alert", occasion: subject, recipient, text });
}

/** An alert is known by the count it was raised at, so that a changed budget tells no count twice. */
function subjectOf(accountId: string, period: string, due: number): string {
  return `${accountId}.${period}.${due}`;
}

/** The credits an account used in a month, such as 2026-11, with live keys. */
function usedIn(tx: Tx, accountId: string, period: string): Promise<number> {
  return sumUsage(tx, { accountId, environment: "live" }, daysOfMonth(period)).then(
    ({ creditsUsed }) => creditsUsed,
  );
}

/** A month's use beside the budget. */
export interface BudgetState extends UsageBudget {
  /** Such as 2026-11. */
  period: string;
  used: number;
  /** Each alert in its order: the credits at which it is due, and when it was raised, if it was. */
  marks: { percent: number; due: number; raisedAt: number | null }[];
}

/** How an account's budget stands at `now`; undefined when it has none. */
export async function budgetState(tx: Tx, account: Account, now: number): Promise<BudgetState | undefined> {
  const budget = budgetOf(account);
  if (!budget) return undefined;
  const period = monthOf(now);
  const dues = budget.alerts.map((percent) => ({ percent, due: alertDue(budget.credits, percent) }));
  const subjects = dues.map(({ due }) => subjectOf(account.id, period, due));
  const [used, raised] = await Promise.all([
    usedIn(tx, account.id, period),
    eventsAbout(tx, "usage.alert", subjects),
  ]);
  const raisedAt = new Map(raised.map(({ subject, createdAt }) => [subject, createdAt]));
  const marks = dues.map(({ percent, due }) => ({
    percent,
    due,
    raisedAt: raisedAt.get(subjectOf(account.id, period, due)) ?? null,
  }));
  return { ...budget, period, used, marks };
}
