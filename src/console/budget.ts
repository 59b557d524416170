import type { Environment } from "../core/account.ts";
import { Refusal } from "../core/errors.ts";
import { rateLimitExceeded } from "../core/partner-refusals.ts";
import { accountBudget, secondsLeft } from "../http/rate-limit.ts";
import type { MemberVisit } from "./visit.ts";

/** Requests made in the console count like API calls. Throws PARTNER_SUSPENDED and RATE_LIMIT_EXCEEDED. */
export async function takeFromBudget(
  { deps, account, now }: MemberVisit,
  environment: Environment,
): Promise<void> {
  if (account.status === "suspended")
    throw new Refusal(
      "PARTNER_SUSPENDED",
      "The account is suspended. Write to the operator of this service.",
    );
  const rate = await deps.limiter.take(`${account.id}:${environment}`, accountBudget(account.tier));
  if (rate.exceeded) throw rateLimitExceeded(rate.limit, secondsLeft(rate, now));
}
