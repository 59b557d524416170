import { isAbove, ROLE_TITLES } from "../../core/account.ts";
import { Refusal } from "../../core/errors.ts";
import { MAX_MEMBERS } from "../../core/limits.ts";
import type { OidcSettings } from "../../oidc-config.ts";
import { findAccount } from "../../store/people/accounts.ts";
import { deleteSessionsOf } from "../../store/people/sessions.ts";
import {
  deleteMembership,
  endOperator,
  findUser,
  type MemberRole,
  type Membership,
  makeOperator,
  membershipsOf,
  membersOf,
  putMembership,
  type User,
} from "../../store/people/users.ts";
import type { Tx } from "../../store/store.ts";
import type { AppContext, Moment } from "../context.ts";
import { logAction } from "../operations/activity.ts";
import { endPassword, isTrusted } from "./ways-in.ts";

/** What somebody's groups give them. */
export interface GivenRoles {
  isOperator: boolean;
  /** The role by account. */
  roles: ReadonlyMap<string, MemberRole>;
}

export const NO_ROLES: GivenRoles = { isOperator: false, roles: new Map() };

export function rolesOfGroups(
  { operatorGroups, accountGroups }: Pick<OidcSettings, "operatorGroups" | "accountGroups">,
  groups: ReadonlySet<string>,
): GivenRoles {
  const roles = new Map<string, MemberRole>();
  for (const { group, accountId, role } of accountGroups)
    if (groups.has(group)) roles.set(accountId, higher(roles.get(accountId) ?? null, role));
  return { isOperator: !operatorGroups.isDisjointFrom(groups), roles };
}

export function givesNothing({ isOperator, roles }: GivenRoles): boolean {
  return !isOperator && roles.size === 0;
}

function higher(one: MemberRole | null, other: MemberRole): MemberRole {
  return one !== null && isAbove(one, other) ? one : other;
}

/**
 * A membership after somebody gave this role by hand. Throws a Refusal when groups give a higher one, which
 * would come back; `provider` is undefined where none is configured, and roles of groups are like any other.
 */
export function withHandRole(
  membership: Membership,
  role: MemberRole,
  provider: string | undefined,
): Membership {
  const { groupRole } = membership;
  if (groupRole === null || provider === undefined)
    return { ...membership, role, groupRole: null, handRole: null };
  if (isAbove(groupRole, role))
    throw new Refusal(
      "NOT_ALLOWED",
      `A group of ${provider} gives this person the role ${ROLE_TITLES[groupRole]}. Have them taken out of the group there first.`,
    );
  return { ...membership, role, handRole: role };
}

type Context = Pick<AppContext, "log"> & { provider: string };

/**
 * Gives a user what their groups give, and takes away what only earlier groups gave: also from the last owner
 * or operator, whom the command line can replace. Roles given by hand stay. Before anything is gained, a
 * password of uncertain origin ends, as it does when an operator gives more by hand; `isVouched` is 1 when
 * the provider vouches for the user's own email.
 */
export async function applyGroupRoles(
  tx: Tx,
  context: Context,
  input: { user: User; given: GivenRoles; isVouched: 0 | 1 },
  moment: Moment,
): Promise<User> {
  const { user, given, isVouched } = input;
  const memberships = (await membershipsOf(tx, user.id)).map(({ membership }) => membership);
  const gains =
    (given.isOperator && user.isOperator === 0) ||
    [...given.roles].some(([accountId, role]) => {
      const known = memberships.find((membership) => membership.accountId === accountId);
      return !known || isAbove(role, known.role);
    });
  if (gains && !isTrusted(user) && user.passwordHash !== null)
    await endPassword(tx, user, { by: user.id, moment, isVouched });
  let isLess = await applyOperator(tx, context, input, moment);
  for (const membership of memberships) {
    const role = given.roles.get(membership.accountId) ?? null;
    if (await changeMembership(tx, context, { user, membership, role }, moment)) isLess = true;
  }
  for (const [accountId, role] of given.roles) {
    if (memberships.some((membership) => membership.accountId === accountId)) continue;
    await addByGroup(tx, context, { user, accountId, role }, moment);
  }
  // Users who lost something sign in anew: an operator's visit to an account is open in other sessions.
  if (isLess) await deleteSessionsOf(tx, user.id);
  return (await findUser(tx, user.id)) ?? user;
}

/** True when the user is an operator no more. */
async function applyOperator(
  tx: Tx,
  { provider }: Context,
  { user, given }: { user: User; given: GivenRoles },
  moment: Moment,
): Promise<boolean> {
  const what = { by: user.id, accountId: null, subject: byGroupOf(provider, user.email) } as const;
  if (given.isOperator && user.isOperator === 0) {
    await makeOperator(tx, user.id, 1);
    await logAction(tx, { ...what, action: "operator.added" }, moment);
  }
  if (given.isOperator || user.operatorByGroups === 0) return false;
  await endOperator(tx, user.id);
  await logAction(tx, { ...what, action: "operator.removed" }, moment);
  return true;
}

/** True when the member may do less than before. */
async function changeMembership(
  tx: Tx,
  { provider }: Context,
  of: { user: User; membership: Membership; role: MemberRole | null },
  moment: Moment,
): Promise<boolean> {
  const { user, membership, role } = of;
  const { accountId } = membership;
  const byHand = membership.groupRole === null ? membership.role : membership.handRole;
  if (role === membership.groupRole) return false;
  const log = (action: "member.removed" | "member.role_changed", subject: string) =>
    logAction(tx, { by: user.id, accountId, action, subject: byGroupOf(provider, subject) }, moment);
  if (role === null && byHand === null) {
    await deleteMembership(tx, membership);
    await log("member.removed", user.email);
    return true;
  }
  const now = role === null ? (byHand as MemberRole) : higher(byHand, role);
  await putMembership(tx, { ...membership, role: now, groupRole: role, handRole: role && byHand });
  if (now !== membership.role) await log("member.role_changed", `${user.email} to ${now}`);
  return isAbove(membership.role, now);
}

async function addByGroup(
  tx: Tx,
  { log, provider }: Context,
  { user, accountId, role }: { user: User; accountId: string; role: MemberRole },
  moment: Moment,
): Promise<void> {
  if (!(await findAccount(tx, accountId))) return log.warn("oidc_account_unknown", { accountId });
  if ((await membersOf(tx, accountId)).length >= MAX_MEMBERS)
    return log.warn("oidc_account_full", { accountId, members: MAX_MEMBERS });
  const createdAt = moment.now;
  await putMembership(tx, { userId: user.id, accountId, role, groupRole: role, handRole: null, createdAt });
  const subject = byGroupOf(provider, `${user.email} as ${role}`);
  await logAction(tx, { by: user.id, accountId, action: "member.added", subject }, moment);
}

function byGroupOf(provider: string, subject: string): string {
  return `${subject}, by a group of ${provider}`;
}
