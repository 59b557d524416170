import { addressKey } from "../auth.ts";
import type { Exchange } from "../exchange.ts";
import { ADDRESS_BUDGET, type RateLimiter, type RateState } from "../rate-limit.ts";

/** Names that nobody was given count against who tries them; cards that are there may be looked at freely. */
export function countMiss(
  { limiter }: { limiter: RateLimiter },
  exchange: Pick<Exchange, "clientAddress">,
): Promise<RateState> {
  return limiter.take(addressKey(exchange), ADDRESS_BUDGET);
}
