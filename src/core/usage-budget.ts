// A budget tells people how much of a month's credits they mean to use is used. It stops nothing.

export interface UsageBudget {
  /** Credits a month. */
  credits: number;
  /** Percent of them at which an alert is sent, ascending. */
  alerts: readonly number[];
}

/** What most want: a first hint, time to act, and the end. */
export const USUAL_ALERTS: readonly number[] = [50, 80, 100];

/** The count of used credits at which an alert is due: the first that reaches its part of the budget. */
export function alertDue(budget: number, percent: number): number {
  return Math.ceil((budget * percent) / 100);
}

/** The highest alert that `used` credits reach; undefined when they reach none. */
export function alertReached({ credits, alerts }: UsageBudget, used: number): number | undefined {
  return alerts.findLast((percent) => alertDue(credits, percent) <= used);
}

/** An account's budget, as its row has it. */
export function budgetOf(account: {
  usageBudget: number | null;
  usageAlerts: number[] | null;
}): UsageBudget | undefined {
  const { usageBudget: credits, usageAlerts: alerts } = account;
  return credits === null ? undefined : { credits, alerts: alerts ?? [] };
}
