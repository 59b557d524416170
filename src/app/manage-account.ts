import { type Environment, formatApiKey, hashApiKey, KEY_PREFIXES } from "../core/api-key.ts";
import { OperatorError } from "../core/errors.ts";
import { monthOf } from "../core/time.ts";
import { type Account, findAccount, insertAccount, setAccountStatus } from "../store/accounts.ts";
import { type ApiKey, insertKey, revokeKey } from "../store/keys.ts";
import { insertEntry } from "../store/ledger.ts";
import type { AppContext } from "./context.ts";
import { topUpCredits } from "./credits.ts";

type Context = Pick<AppContext, "store" | "clock" | "random">;

/** Creates an account and grants its first month of plan credits. */
export function createAccount(
  { store, clock, random }: Context,
  input: { name: string; tier: Account["tier"]; credits: number },
): Promise<Account> {
  const now = clock.now();
  const account: Account = {
    id: random.id("acct"),
    name: input.name,
    tier: input.tier,
    status: "active",
    suspendedReason: null,
    creditLimit: input.credits,
    planPeriod: monthOf(now),
    creditsPlan: input.credits,
    creditsTopup: 0,
    creditsHeld: 0,
    createdAt: now,
    updatedAt: now,
  };
  return store.write(async (tx) => {
    await insertAccount(tx, account);
    if (input.credits > 0) {
      await insertEntry(tx, {
        id: random.id("led"),
        accountId: account.id,
        kind: "grant",
        bucket: "plan",
        period: account.planPeriod,
        amount: input.credits,
        imageId: null,
        reason: "monthly plan credits",
        createdAt: now,
      });
    }
    return account;
  });
}

/** In force on the account's very next request. */
export async function suspendAccount(context: Context, id: string, reason: string | null): Promise<Account> {
  return known(id, await changeStatus(context, id, "suspended", reason));
}

export async function resumeAccount(context: Context, id: string): Promise<Account> {
  return known(id, await changeStatus(context, id, "active", null));
}

function changeStatus(
  { store, clock }: Context,
  id: string,
  status: Account["status"],
  reason: string | null,
) {
  return store.write((tx) => setAccountStatus(tx, id, { status, reason, now: clock.now() }));
}

/** Makes a key. The key text is in the answer and nowhere else, ever. */
export function createKey(
  { store, clock, random }: Context,
  input: { accountId: string; environment: Environment; name: string },
): Promise<{ key: string; record: ApiKey }> {
  const key = formatApiKey(input.environment, random.bytes(32));
  const record: ApiKey = {
    id: random.id("key"),
    accountId: input.accountId,
    environment: input.environment,
    name: input.name,
    hash: hashApiKey(key),
    prefix: KEY_PREFIXES[input.environment],
    last4: key.slice(-4),
    createdAt: clock.now(),
    lastUsedAt: null,
    revokedAt: null,
  };
  return store.write(async (tx) => {
    known(input.accountId, await findAccount(tx, input.accountId));
    await insertKey(tx, record);
    return { key, record };
  });
}

/** In force on the key's very next request. Revoking twice changes nothing. */
export async function revokeApiKey({ store, clock }: Context, id: string): Promise<ApiKey> {
  const key = await store.write((tx) => revokeKey(tx, id, clock.now()));
  if (!key)
    throw new OperatorError(`There is no key ${id}. "cardpress key list --account ID" shows the keys.`);
  return key;
}

export async function grantCredits(
  { store, clock, random }: Context,
  input: { accountId: string; amount: number; reason: string | null },
): Promise<Account> {
  const account = await store.write((tx) =>
    topUpCredits(tx, input.accountId, input.amount, input.reason, { now: clock.now(), random }),
  );
  return known(input.accountId, account);
}

function known(id: string, account: Account | undefined): Account {
  if (!account) {
    throw new OperatorError(`There is no account ${id}. "cardpress account list" shows the accounts.`);
  }
  return account;
}
