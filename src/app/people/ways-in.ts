import { deleteIdentitiesOf } from "../../store/people/identities.ts";
import { deletePasskeysOf } from "../../store/people/passkeys.ts";
import { deleteSessionsOf } from "../../store/people/sessions.ts";
import { setPassword, type User } from "../../store/people/users.ts";
import type { Tx } from "../../store/store.ts";
import type { Moment } from "../context.ts";
import { type Actor, logAction } from "../operations/activity.ts";

/**
 * Whether this user's password was set through a link from an operator or the command line. Operators always
 * count as trusted.
 */
export function isTrusted(user: User): boolean {
  return user.isOperator === 1 || user.isVouched === 1;
}

/**
 * Revokes a user's password, passkeys, identities and sessions. False when there were none, as for a new
 * user.
 */
export async function endWaysIn(tx: Tx, user: User, of: { by: Actor; moment: Moment }): Promise<boolean> {
  const identities = await deleteIdentitiesOf(tx, user.id);
  if (user.passwordHash === null && identities.length === 0) return false;
  await endPassword(tx, user, { ...of, isVouched: 0 });
  return true;
}

/** Revokes what signs a user in without the provider, and their sessions; identities stay. */
export async function endPassword(
  tx: Tx,
  user: User,
  { by, moment, isVouched }: { by: Actor; moment: Moment; isVouched: 0 | 1 },
): Promise<void> {
  await setPassword(tx, user.id, { passwordHash: null, isVouched });
  await deletePasskeysOf(tx, user.id);
  await deleteSessionsOf(tx, user.id);
  const what = { by, accountId: null, action: "user.sign_in_ended", subject: user.email } as const;
  await logAction(tx, what, moment);
}
