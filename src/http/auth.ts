import type { AppContext } from "../app/context.ts";
import type { Environment } from "../core/account.ts";
import { hashApiKey, isInForce, parseApiKey } from "../core/api-key.ts";
import type { Refusal } from "../core/errors.ts";
import { isAmong, type KeyScope } from "../core/key-rules.ts";
import { MAX_KNOWN_KEYS } from "../core/limits.ts";
import {
  addressNotAllowed,
  invalidApiKey,
  partnerSuspended,
  rateLimitExceeded,
  scopeMissing,
  tooManyRefusedKeys,
} from "../core/partner-refusals.ts";
import { whileUnchanged } from "../store/engine/while-unchanged.ts";
import type { Account } from "../store/people/accounts.ts";
import { type ApiKey, findKeyByHash, touchKey } from "../store/people/keys.ts";
import { networkOf } from "./client-address.ts";
import type { Exchange } from "./exchange.ts";
import {
  ADDRESS_BUDGET,
  accountBudget,
  type RateLimiter,
  type RateState,
  secondsLeft,
} from "./rate-limit.ts";
import { scopeOf } from "./route-table.ts";

/** Who calls, and in which environment. */
export interface Caller {
  account: Account;
  environment: Environment;
  keyId: string;
  /** What the key may do; null for everything, as in the console. */
  scopes?: readonly KeyScope[] | null;
}

/** What answers a route of partners, once it is known who calls. */
export type PartnerHandler = (
  exchange: Exchange,
  caller: Caller,
  params: Record<string, string>,
) => Promise<Response>;

/** "Last used" is shown by the minute; writing it on every call would cost a disk sync each. */
const LAST_USED_RESOLUTION_MS = 60_000;

/** The result of checking X-API-Key: the budget to report, and the caller or the reason for refusal. */
export type Identity = { rate: RateState } & (
  | { caller: Caller; refusal?: undefined }
  | { refusal: Refusal; caller?: Caller }
);

/** Identifies the caller of an exchange. */
export type Identify = (exchange: Exchange) => Promise<Identity>;

/**
 * Finds the caller by X-API-Key and takes one call from the account's budget. Refuses with 401 (limited by
 * client address), 403 for a suspended account, 429, and 403 for a key that may not do this, in this order. A
 * key's row is cached only until the next commit, so a revocation takes effect immediately, even one made by
 * another process.
 */
export function keyAuthenticator(context: AppContext, limiter: RateLimiter): Identify {
  const { store, clock } = context;
  const keyOf = whileUnchanged(store, (hash) => findKeyByHash(store.read, hash), MAX_KNOWN_KEYS);
  const touch = keyToucher(context);
  return async (exchange) => {
    const text = exchange.request.headers.get("x-api-key");
    const found = await findCaller({ keyOf, touch }, text, clock.now());
    if (!found) {
      const rate = await limiter.take(addressKey(exchange), ADDRESS_BUDGET);
      const refusal = rate.exceeded
        ? tooManyRefusedKeys(rate.limit, secondsLeft(rate, clock.now()))
        : whyRefused(text);
      return { rate, refusal };
    }
    const { caller, addresses } = found;
    const { account, environment } = caller;
    const budget = accountBudget(account.tier);
    const rateKey = `${account.id}:${environment}`;
    if (account.status === "suspended") {
      return { rate: await limiter.look(rateKey, budget), refusal: partnerSuspended(), caller };
    }
    const rate = await limiter.take(rateKey, budget);
    if (rate.exceeded)
      return { rate, refusal: rateLimitExceeded(rate.limit, secondsLeft(rate, clock.now())), caller };
    if (addresses && !isAmong(exchange.clientAddress, addresses))
      return { rate, refusal: addressNotAllowed(exchange.clientAddress), caller };
    const required = scopeOf(exchange);
    return required && caller.scopes?.includes(required) === false
      ? { rate, refusal: scopeMissing(required), caller }
      : { rate, caller };
  };
}

function whyRefused(text: string | null): Refusal {
  if (text === null || text === "") return invalidApiKey("missing");
  return invalidApiKey(parseApiKey(text) === null ? "malformed" : "unknown");
}

/**
 * Writes down that a key is used, once at a time for each: all calls that come before the write is committed
 * see the key as unused, and would each wait for a connection, and for each other, when the database is slow.
 */
function keyToucher({ store, clock, log }: AppContext) {
  const inFlight = new Set<string>();
  return ({ id, lastUsedAt }: Pick<ApiKey, "id" | "lastUsedAt">): void => {
    const now = clock.now();
    if (now - (lastUsedAt ?? 0) < LAST_USED_RESOLUTION_MS || inFlight.has(id)) return;
    inFlight.add(id);
    // Not worth failing a request for: a read-only disk still answers reads.
    store
      .write("note use of key", (tx) => touchKey(tx, id, now), { concurrent: true })
      .catch((error) => log.warn("key_touch_failed", { keyId: id, error: String(error) }))
      .finally(() => inFlight.delete(id));
  };
}

interface KeyUse {
  keyOf: (hash: string) => ReturnType<typeof findKeyByHash>;
  touch: ReturnType<typeof keyToucher>;
}

async function findCaller(
  { keyOf, touch }: KeyUse,
  text: string | null,
  now: number,
): Promise<{ caller: Caller; addresses: readonly string[] | null } | undefined> {
  const environment = text === null ? null : parseApiKey(text);
  if (text === null || environment === null) return undefined;
  const hash = hashApiKey(text);
  const row = await keyOf(hash);
  if (!row) return undefined;
  const { key, account } = row;
  if (key.environment !== environment || !isInForce(key, now)) return undefined;
  touch(key);
  const { id: keyId, scopes, addresses } = key;
  return { caller: { account, environment, keyId, scopes }, addresses };
}

export function addressKey(exchange: Pick<Exchange, "clientAddress">): string {
  return `address:${networkOf(exchange.clientAddress)}`;
}
