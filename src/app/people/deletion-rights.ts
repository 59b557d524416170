import { Refusal } from "../../core/errors.ts";
import { KEY_SCOPES, type KeyScope } from "../../core/key-rules.ts";
import type { Account } from "../../store/people/accounts.ts";
import { findRole } from "../../store/people/users.ts";
import type { Tx } from "../../store/store.ts";

/** Somebody in an account: what of both decides whether they may delete. */
interface Deleter {
  role: string;
  account: Pick<Account, "developersDeletePlayers">;
}

/** Whether somebody may delete images and players, or make a key that can. */
export function mayDelete({ role, account }: Deleter): boolean {
  return role === "owner" || (role === "developer" && account.developersDeletePlayers === 1);
}

/** The scopes of keys that somebody may make: a key may do no more than they may. */
export function scopesFor(who: Deleter): KeyScope[] {
  return KEY_SCOPES.filter((scope) => scope !== "delete" || mayDelete(who));
}

/** Throws a Refusal for users who may not delete. */
export function requireDeletion(who: Deleter, what: "delete players" | "delete images"): void {
  if (!mayDelete(who)) throw refusal(what);
}

const refusal = (what: string) =>
  new Refusal("OWNERS_ONLY", `Only an owner of the account may ${what}, unless one allows developers to.`);

/**
 * Throws a Refusal where a key with these scopes, or with all, could delete and its maker, a user, could not.
 * Who is no member of the account deletes nothing in it.
 */
export async function requireScopes(
  tx: Tx,
  { by, account, scopes }: { by: string; account: Account; scopes: readonly string[] | null },
): Promise<void> {
  if (scopes?.includes("delete") === false) return;
  const role = await findRole(tx, { userId: by, accountId: account.id });
  if (role && mayDelete({ role, account })) return;
  throw refusal("make a key with the scope delete");
}
