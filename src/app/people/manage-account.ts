import type { Environment } from "../../core/account.ts";
import { formatApiKey, hashApiKey, KEY_PREFIXES } from "../../core/api-key.ts";
import { Refusal } from "../../core/errors.ts";
import { KEY_SCOPES, MAX_KEY_ADDRESSES, readKeyAddress } from "../../core/key-rules.ts";
import { MAX_ACCOUNT_NAME_CHARS, MAX_KEY_NAME_CHARS, MAX_KEYS } from "../../core/limits.ts";
import { checkedName } from "../../core/name.ts";
import { monthOf } from "../../core/time.ts";
import { insertEntry } from "../../store/credits/ledger.ts";
import {
  type Account,
  findAccount,
  insertAccount,
  setAccountName,
  setAccountPlan,
  setAccountStatus,
} from "../../store/people/accounts.ts";
import { type ApiKey, countKeysInForce, findKey, insertKey, setKeyRevoked } from "../../store/people/keys.ts";
import type { Tx } from "../../store/store.ts";
import type { AppContext } from "../context.ts";
import { topUpCredits } from "../credits/credits.ts";
import { type Actor, type AuditAction, logAction } from "../operations/activity.ts";
import { requireScopes } from "./deletion-rights.ts";

type Context = Pick<AppContext, "store" | "clock" | "random">;

/** The user who asks; the command line when absent. */
interface By {
  by?: Actor;
}

/** The user who makes a key, or null for the command line: a key may do no more than they may. */
interface Maker {
  by: Actor;
}

/** Creates an account and grants its first month of plan credits. Throws a Refusal for an invalid name. */
export async function createAccount(
  { store, clock, random }: Context,
  input: { name: string; tier: Account["tier"]; credits: number } & By,
): Promise<Account> {
  const now = clock.now();
  const account: Account = {
    id: random.id("acct"),
    name: checkedName("account name", input.name, MAX_ACCOUNT_NAME_CHARS),
    tier: input.tier,
    status: "active",
    suspendedReason: null,
    creditLimit: input.credits,
    planPeriod: monthOf(now),
    creditsPlan: input.credits,
    creditsTopup: 0,
    creditsHeld: 0,
    retentionDays: null,
    forgetAfterDays: null,
    usageBudget: null,
    usageAlerts: null,
    developersDeletePlayers: 0,
    tracesAt: null,
    createdAt: now,
    updatedAt: now,
  };
  return store.write(
    "create account",
    async (tx) => {
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
      const subject = `${account.name}, ${account.tier}, ${account.creditLimit} credits a month`;
      const { id: accountId } = account;
      await logAction(
        tx,
        { by: input.by ?? null, accountId, action: "account.created", subject },
        { now, random },
      );
      return account;
    },
    { concurrent: true },
  );
}

/** Renames an account; its ids, keys and ledger stay. Throws a Refusal for an invalid name. */
export async function renameAccount(
  { store, clock, random }: Context,
  id: string,
  input: { name: string } & By,
): Promise<Account> {
  const name = checkedName("account name", input.name, MAX_ACCOUNT_NAME_CHARS);
  const renamed = await store.write(
    "rename account",
    async (tx) => {
      const now = clock.now();
      const before = await findAccount(tx, id);
      if (!before || before.name === name) return before;
      const subject = `${before.name} is now ${name}`;
      const what = { by: input.by ?? null, accountId: id, action: "account.renamed", subject } as const;
      await logAction(tx, what, { now, random });
      return setAccountName(tx, id, { name, now });
    },
    { concurrent: true },
  );
  return accountOrThrow(id, renamed);
}

/** Takes effect with the account's very next request. */
export async function suspendAccount(
  context: Context,
  id: string,
  reason: string | null,
  by: Actor = null,
): Promise<Account> {
  return accountOrThrow(id, await changeStatus(context, id, { status: "suspended", reason, by }));
}

export async function resumeAccount(context: Context, id: string, by: Actor = null): Promise<Account> {
  return accountOrThrow(id, await changeStatus(context, id, { status: "active", reason: null, by }));
}

function changeStatus(
  { store, clock, random }: Context,
  id: string,
  change: { status: Account["status"]; reason: string | null; by: Actor },
) {
  const { status, reason, by } = change;
  const action: AuditAction = status === "suspended" ? "account.suspended" : "account.resumed";
  return store.write(
    "change account status",
    async (tx) => {
      const now = clock.now();
      const account = await setAccountStatus(tx, id, { status, reason, now });
      if (account) {
        const subject = reason ?? account.name;
        await logAction(tx, { by, accountId: id, action, subject }, { now, random });
      }
      return account;
    },
    { concurrent: true },
  );
}

/** Changes tier and plan. The tier applies from the next request, the plan's credits from the next month. */
export async function changePlan(
  { store, clock, random }: Context,
  id: string,
  input: { tier: Account["tier"]; credits: number } & By,
): Promise<Account> {
  const { tier, credits, by = null } = input;
  const account = await store.write(
    "change plan",
    async (tx) => {
      const now = clock.now();
      const changed = await setAccountPlan(tx, id, { tier, creditLimit: credits, now });
      if (changed) {
        const subject = `${tier}, ${credits} credits a month`;
        await logAction(tx, { by, accountId: id, action: "account.plan_changed", subject }, { now, random });
      }
      return changed;
    },
    { concurrent: true },
  );
  return accountOrThrow(id, account);
}

/**
 * Creates a key. The result is the only place the key text ever appears. Throws a Refusal for an invalid
 * name, one key too many, or one that may delete where its maker may not.
 */
export async function createKey(
  { store, clock, random }: Context,
  input: { accountId: string; environment: Environment; name: string } & Partial<KeyRules> & Maker,
): Promise<{ key: string; record: ApiKey }> {
  const name = checkedName("key name", input.name, MAX_KEY_NAME_CHARS);
  const rules = checkedRules(input, clock.now());
  const made = newKey({ clock, random }, { ...input, ...rules, name, replacesKeyId: null });
  return store.write("create key", async (tx) => {
    const { by } = input;
    const { accountId, scopes, createdAt: now } = made.record;
    const account = accountOrThrow(accountId, await findAccount(tx, accountId));
    if (by !== null) await requireScopes(tx, { by, account, scopes });
    await refuseTooManyKeys(tx, accountId);
    await insertKey(tx, made.record);
    const subject = keyLabel(made.record);
    await logAction(tx, { by, accountId, action: "key.created", subject }, { now, random });
    return made;
  });
}

/** What a key may do, until when and from where; null: everything, for good, from anywhere. */
export type KeyRules = Pick<ApiKey, "scopes" | "expiresAt" | "addresses">;

function checkedRules({ scopes, expiresAt, addresses }: Partial<KeyRules>, now: number): KeyRules {
  if (scopes?.length === 0)
    throw new Refusal("INVALID_REQUEST", "A key without any scope can do nothing. Choose at least one.");
  if (expiresAt && expiresAt <= now)
    throw new Refusal("INVALID_REQUEST", "The key would have expired already. Choose a later day.");
  if ((addresses?.length ?? 0) > MAX_KEY_ADDRESSES)
    throw new Refusal(
      "INVALID_REQUEST",
      `A key has at most ${MAX_KEY_ADDRESSES} addresses. Write those that lie together as a network, such as 203.0.113.0/24.`,
    );
  const listed = addresses?.map((text) => {
    const address = readKeyAddress(text);
    if (address !== null) return address;
    throw new Refusal(
      "INVALID_REQUEST",
      `"${text.slice(0, 60)}" is not an address. Write one such as 203.0.113.7, or a network such as 203.0.113.0/24 or 2001:db8::/48.`,
    );
  });
  return {
    scopes: scopes ? KEY_SCOPES.filter((scope) => scopes.includes(scope)) : null,
    expiresAt: expiresAt ?? null,
    addresses: listed && listed.length > 0 ? [...new Set(listed)] : null,
  };
}

/**
 * Creates a successor for a key, with its name, environment, scopes, expiry and addresses. The old key works
 * until it is revoked, so that nothing breaks before the new one is deployed. Throws a Refusal when the key
 * is revoked, or may delete where who asks may not.
 */
export function regenerateKey(
  { store, clock, random }: Context,
  { id, by }: { id: string } & Maker,
): Promise<{ key: string; record: ApiKey }> {
  return store.write("regenerate key", async (tx) => {
    const old = await findKey(tx, id);
    if (!old || old.revokedAt !== null)
      throw new Refusal("NOT_CURRENT", "This key is not in force any more.");
    const { accountId, scopes } = old;
    const account = accountOrThrow(accountId, await findAccount(tx, accountId));
    if (by !== null) await requireScopes(tx, { by, account, scopes });
    await refuseTooManyKeys(tx, accountId);
    const made = newKey({ clock, random }, { ...old, replacesKeyId: old.id });
    await insertKey(tx, made.record);
    const subject = `${keyLabel(old)} by ${made.record.last4}`;
    const what = { by, accountId, action: "key.regenerated", subject } as const;
    await logAction(tx, what, { now: made.record.createdAt, random });
    return made;
  });
}

async function refuseTooManyKeys(tx: Tx, accountId: string): Promise<void> {
  if ((await countKeysInForce(tx, accountId)) < MAX_KEYS) return;
  throw new Refusal(
    "LIMIT_REACHED",
    `An account has at most ${MAX_KEYS} keys in force. Revoke one that is no longer used.`,
  );
}

function newKey(
  { clock, random }: Pick<Context, "clock" | "random">,
  of: Pick<ApiKey, "accountId" | "environment" | "name" | "replacesKeyId"> & KeyRules,
): { key: string; record: ApiKey } {
  const key = formatApiKey(of.environment, random.bytes(32));
  const record: ApiKey = {
    id: random.id("key"),
    accountId: of.accountId,
    environment: of.environment,
    name: of.name,
    hash: hashApiKey(key),
    prefix: KEY_PREFIXES[of.environment],
    last4: key.slice(-4),
    createdAt: clock.now(),
    lastUsedAt: null,
    revokedAt: null,
    replacesKeyId: of.replacesKeyId,
    scopes: of.scopes,
    expiresAt: of.expiresAt,
    addresses: of.addresses,
    signingSecret: null,
  };
  return { key, record };
}

/** Takes effect with the key's very next request. Idempotent. */
export async function revokeKey(
  { store, clock, random }: Context,
  id: string,
  by: Actor = null,
): Promise<ApiKey> {
  const key = await store.write(
    "revoke key",
    async (tx) => {
      const now = clock.now();
      const before = await findKey(tx, id);
      const revoked = await setKeyRevoked(tx, id, now);
      if (revoked && before?.revokedAt === null) {
        const { accountId } = revoked;
        await logAction(
          tx,
          { by, accountId, action: "key.revoked", subject: keyLabel(revoked) },
          { now, random },
        );
      }
      return revoked;
    },
    { concurrent: true },
  );
  if (!key) throw new Refusal("KEY_NOT_FOUND", `There is no key ${id}.`);
  return key;
}

/** How a key is referred to without revealing it: `Production (sk_live_…3kQ9)`. */
export function keyLabel(key: Pick<ApiKey, "name" | "prefix" | "last4">): string {
  return `${key.name} (${key.prefix}…${key.last4})`;
}

export async function grantCredits(
  { store, clock, random }: Context,
  input: { accountId: string; amount: number; reason: string | null } & By,
): Promise<Account> {
  const { accountId, amount, reason, by = null } = input;
  const account = await store.write(
    "grant credits",
    async (tx) => {
      const now = clock.now();
      const granted = await topUpCredits(tx, accountId, amount, reason, { now, random });
      if (granted) {
        const subject = `${amount} credits${reason === null ? "" : `: ${reason}`}`;
        await logAction(tx, { by, accountId, action: "credits.granted", subject }, { now, random });
      }
      return granted;
    },
    { concurrent: true },
  );
  return accountOrThrow(accountId, account);
}

/** Throws a Refusal for an unknown account: an empty list would read as "it has none". */
export async function requireAccount({ store }: Pick<AppContext, "store">, id: string): Promise<Account> {
  return accountOrThrow(id, await findAccount(store.read, id));
}

function accountOrThrow(id: string, account: Account | undefined): Account {
  if (!account) throw accountNotFound(id);
  return account;
}

export function accountNotFound(id: string): Refusal {
  return new Refusal("ACCOUNT_NOT_FOUND", `There is no account ${id}.`);
}
