import type { AppContext } from "../app/context.ts";
import { creditsOf } from "../app/credits/credits.ts";
import { invalidRequest } from "../core/partner-refusals.ts";
import { USAGE_PERIODS, type UsagePeriod, usagePeriodDays } from "../core/time.ts";
import { sumUsage } from "../store/credits/usage.ts";
import type { Caller } from "./auth.ts";
import { success } from "./envelope.ts";
import type { Exchange } from "./exchange.ts";
import { readQuery } from "./query.ts";

/** GET /v1/usage */
export async function getUsage(context: AppContext, exchange: Exchange, caller: Caller): Promise<Response> {
  const { values, details } = readQuery(exchange.url, ["period"]);
  const period = USAGE_PERIODS.find((known) => known === values.period);
  if (!period && !details.some(({ field }) => field === "query period")) {
    const rule = values.period === undefined ? "is required: one of" : "must be one of";
    details.push({ field: "query period", message: `${rule} ${USAGE_PERIODS.join(", ")}.` });
  }
  if (!period || details.length > 0) throw invalidRequest(details);
  return success(exchange, await usage(context, caller, period));
}

async function usage({ store, clock }: AppContext, { account, environment }: Caller, period: UsagePeriod) {
  const now = clock.now();
  const days = usagePeriodDays(period, now);
  const { left, limit } = await creditsOf(store.read, account, now);
  const counts = await sumUsage(store.read, { accountId: account.id, environment }, days);
  return {
    period: days.label,
    images_requested: counts.requested,
    images_completed: counts.completed,
    images_failed: counts.failed,
    credits_used: counts.creditsUsed,
    // Test keys never use credits, so the whole plan remains.
    credits_remaining: environment === "live" ? left : limit,
    credit_limit: limit,
    environment,
  };
}
