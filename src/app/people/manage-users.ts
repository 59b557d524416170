import { isAbove } from "../../core/account.ts";
import { Refusal } from "../../core/errors.ts";
import { MAX_MEMBERS } from "../../core/limits.ts";
import { invitation, invitationToProvider, passwordReset } from "../../core/mail.ts";
import { inOneLine, isDeceptive } from "../../core/name.ts";
import { RESET_LINK_LIFETIME_MS, SETUP_LINK_LIFETIME_MS } from "../../core/sign-in-limits.ts";
import { DAY_MS } from "../../core/time.ts";
import { findAccount } from "../../store/people/accounts.ts";
import { identitiesOf } from "../../store/people/identities.ts";
import { deleteSessionsOf, replaceSetupLink, type SetupLink } from "../../store/people/sessions.ts";
import {
  countOwners,
  deleteMembership,
  endOperator,
  findUser,
  findUserByEmail,
  insertUser,
  listOperators,
  type MemberRole,
  type Membership,
  makeOperator,
  membershipsOf,
  membersOf,
  operatorsWhoSignIn,
  putMembership,
  type User,
} from "../../store/people/users.ts";
import type { Tx } from "../../store/store.ts";
import { VERSION } from "../../version.ts";
import type { AppContext, Moment } from "../context.ts";
import { writeMail } from "../mail/outbox.ts";
import { type Actor, logAction } from "../operations/activity.ts";
import { withHandRole } from "./group-roles.ts";
import { accountNotFound } from "./manage-account.ts";
import { hashToken, newToken, normalEmail } from "./sign-in.ts";
import { endWaysIn, isTrusted } from "./ways-in.ts";

type Context = Pick<AppContext, "store" | "clock" | "random" | "config" | "secrets">;

const EMAIL = /^[^\s@<>"']{1,64}@[^\s@<>"'.]+(\.[^\s@<>"'.]+)+$/;

/** Whether a text looks like an email address; only sending a mail could prove it. */
export function isEmail(text: string): boolean {
  return text.length <= 254 && EMAIL.test(text) && !isDeceptive(text);
}

export interface NewMember {
  user: User;
  /** A one-time link to set a password; null for users who have a way in, or where passwords are off. */
  setupUrl: string | null;
  /** Whether the password, passkeys and sessions that this email had were revoked. */
  startsAnew: boolean;
}

/**
 * Adds a user to an account; an unknown email becomes a new user with a setup link. No email is ever
 * verified, so an owner may only bring in people nobody else knows: the holder of the link to set a password
 * is that person in every account. Operators and the command line (`vouched`) may add anyone. They trust
 * the person they send their own link to, and nobody else: a password set through an owner's link is revoked
 * before its user gains more rights (see isTrusted). A member who is added again gets the requested role, and
 * a new link while they have no password; without `role` a new member becomes an owner, and a known one keeps
 * their role. Throws a Refusal.
 */
export async function addMember(
  context: Context,
  input: { accountId: string; email: string; role?: MemberRole; vouched: boolean; by?: Actor },
): Promise<NewMember> {
  const email = checkedEmail(input.email);
  const { accountId, by = null, vouched } = input;
  return context.store.write("add member", async (tx) => {
    const moment = { now: context.clock.now(), random: context.random };
    if (!(await findAccount(tx, accountId))) throw accountNotFound(accountId);
    const user = await findOrMakeUser(tx, email, moment);
    if (!vouched && (await isKnownElsewhere(tx, user, accountId)))
      throw new Refusal(
        "NOT_ALLOWED",
        "This person cannot be added here. Ask the operator of the service to add them.",
      );
    const members = await membersOf(tx, accountId);
    const member = members.find((known) => known.user.id === user.id);
    if (!member && members.length >= MAX_MEMBERS)
      throw new Refusal(
        "LIMIT_REACHED",
        `An account has at most ${MAX_MEMBERS} members. Remove one who no longer works for it.`,
      );
    const role = input.role ?? member?.membership.role ?? "owner";
    const gainsPower = !member || isAbove(role, member.membership.role);
    // Owners get here with members of the account, and with people who belong to no account: those start
    // afresh.
    const mustStartAnew = vouched ? gainsPower && !isTrusted(user) : !member;
    const startsAnew = mustStartAnew && (await endWaysIn(tx, user, { by, moment }));
    if (member) await giveRole(tx, context, member, { role, by }, moment);
    else {
      const byHand = { role, groupRole: null, handRole: null };
      await putMembership(tx, { userId: user.id, accountId, ...byHand, createdAt: moment.now });
      await logAction(tx, { by, accountId, action: "member.added", subject: `${email} as ${role}` }, moment);
    }
    const account = await findAccount(tx, accountId);
    const to = { user, isVouched: vouched ? 1 : 0, startsAnew, place: account?.name ?? "an account" };
    return { user, setupUrl: await invite(tx, context, to), startsAnew };
  });
}

/**
 * A setup link for somebody without a way in, which is mailed where mail is configured; null for others.
 * Where passwords are off the mail leads to the sign-in page: the provider knows who the invited person is.
 */
async function invite(
  tx: Tx,
  context: Context,
  to: { user: User; isVouched: number; startsAnew: boolean; place: string },
): Promise<string | null> {
  const { user, isVouched, startsAnew, place } = to;
  const { config } = context;
  if (!startsAnew && (await hasWayIn(tx, context, user))) return null;
  const setupUrl = config.oidc?.only
    ? null
    : await writeSetupLink(tx, context, { userId: user.id, isVouched });
  if (setupUrl !== null) await mailLink(tx, context, { email: user.email, url: setupUrl, place });
  else {
    const text = invitationToProvider({
      place,
      url: `${config.baseUrl}/console/sign-in`,
      provider: config.oidc?.name ?? "",
    });
    const occasion = context.random.id("invitation");
    await writeMail(tx, context, { kind: "invitation", occasion, recipient: user.email, text });
  }
  return setupUrl;
}

async function hasWayIn(tx: Tx, { config }: Context, user: User): Promise<boolean> {
  if (user.passwordHash !== null && !config.oidc?.only) return true;
  const identities = await identitiesOf(tx, user.id);
  return identities.some(({ issuer }) => issuer === config.oidc?.issuer);
}

async function isKnownElsewhere(tx: Tx, user: User, accountId: string): Promise<boolean> {
  const memberships = await membershipsOf(tx, user.id);
  return user.isOperator === 1 || memberships.some((m) => m.account.id !== accountId);
}

/** Makes a user an operator of the service, with a link to set a password unless they have a trusted one. */
export async function addOperator(
  context: Context,
  input: { email: string; by?: Actor },
): Promise<NewMember> {
  const email = checkedEmail(input.email);
  return context.store.write("add operator", async (tx) => {
    const moment = { now: context.clock.now(), random: context.random };
    const user = await findOrMakeUser(tx, email, moment);
    const { by = null } = input;
    const startsAnew = !isTrusted(user) && (await endWaysIn(tx, user, { by, moment }));
    await makeOperator(tx, user.id);
    await logAction(tx, { by, accountId: null, action: "operator.added", subject: email }, moment);
    const to = { user, isVouched: 1, startsAnew, place: "the operator console" };
    return { user: { ...user, isOperator: 1 }, setupUrl: await invite(tx, context, to), startsAnew };
  });
}

/** Revokes a user's operator rights; memberships stay. Throws a Refusal rather than leave no operator. */
export async function removeOperator(
  { store, clock, random }: Context,
  input: { userId: string; by: Actor },
): Promise<User> {
  return store.write("remove operator", async (tx) => {
    const user = (await listOperators(tx)).find(({ id }) => id === input.userId);
    if (!user) throw new Refusal("NOT_CURRENT", "This person is not an operator any more.");
    if ((await operatorsWhoSignIn(tx)).every(({ id }) => id === user.id))
      throw new Refusal(
        "STILL_NEEDED",
        "The service needs an operator who can sign in. Add another one first.",
      );
    await endOperator(tx, user.id);
    // Also ends an operator's visit to an account.
    await deleteSessionsOf(tx, user.id);
    const what = { by: input.by, accountId: null, action: "operator.removed", subject: user.email } as const;
    await logAction(tx, what, { now: clock.now(), random });
    return user;
  });
}

/** A new link to set a password, for someone who lost the first one or the password. Operators only. */
export async function issueSetupLink(
  context: Context,
  input: { userId: string; by?: Actor },
): Promise<{ user: User; setupUrl: string }> {
  return context.store.write("issue setup link", async (tx) => {
    const user = await findUser(tx, input.userId);
    if (!user) throw new Refusal("USER_NOT_FOUND", `There is no user ${input.userId}.`);
    const moment = { now: context.clock.now(), random: context.random };
    const what = {
      by: input.by ?? null,
      accountId: null,
      action: "user.setup_link",
      subject: user.email,
    } as const;
    await logAction(tx, what, moment);
    const setupUrl = await writeSetupLink(tx, context, { userId: user.id, isVouched: 1 });
    await mailLink(tx, context, { email: user.email, url: setupUrl });
    return { user, setupUrl };
  });
}

/**
 * Mails a password reset link to somebody who says they lost their password. Does nothing for an unknown
 * email, or when mail is not configured: the requester must not learn who has an account. An invited user who
 * has not set a first password keeps the link they were given.
 */
export async function requestPasswordReset(context: Context, email: string): Promise<void> {
  if (!context.config.mail) return;
  const user = await findUserByEmail(context.store.read, normalEmail(email));
  if (!user || user.passwordHash === null) return;
  await context.store.write("request password reset", async (tx) => {
    // The link proves ownership of a mailbox, not identity: it gives no trust that the lost password did not
    // have.
    const link = { userId: user.id, isVouched: user.isVouched };
    const url = await writeSetupLink(tx, context, link, RESET_LINK_LIFETIME_MS);
    const occasion = context.random.id("password_reset");
    const text = passwordReset({ url, within: "an hour" });
    await writeMail(tx, context, { kind: "password_reset", occasion, recipient: user.email, text });
  });
}

/** Mails a link to its recipient when mail is configured; without `place` it is a password reset. */
async function mailLink(
  tx: Tx,
  context: Context,
  { email, url, place }: { email: string; url: string; place?: string },
): Promise<void> {
  const days = SETUP_LINK_LIFETIME_MS / DAY_MS;
  const kind = place === undefined ? "password_reset" : "invitation";
  const text =
    place === undefined ? passwordReset({ url, within: `${days} days` }) : invitation({ place, url, days });
  // Every link is a separate occasion, and replaces the earlier one.
  await writeMail(tx, context, { kind, occasion: context.random.id(kind), recipient: email, text });
}

/**
 * A one-time link for the first person to open the console of a new installation; null when an operator
 * exists.
 */
export async function firstOperatorLink(context: Context): Promise<string | null> {
  if ((await operatorsWhoSignIn(context.store.read)).length > 0) return null;
  return context.store.write("make first operator link", (tx) =>
    writeSetupLink(tx, context, { userId: null, isVouched: 1 }),
  );
}

/** Throws a Refusal rather than leave an account without an owner. */
export async function removeMember(
  { store, clock, random }: Context,
  input: { accountId: string; userId: string; by: Actor },
): Promise<void> {
  await store.write("remove member", async (tx) => {
    const member = await memberOf(tx, input);
    if (member.membership.role === "owner") await keepAnOwner(tx, input.accountId);
    await deleteMembership(tx, input);
    const { by, accountId } = input;
    const what = { by, accountId, action: "member.removed", subject: member.user.email } as const;
    await logAction(tx, what, { now: clock.now(), random });
  });
}

/** Throws a Refusal rather than leave an account without an owner. */
export async function changeRole(
  context: Context,
  input: { accountId: string; userId: string; role: MemberRole; by: Actor },
): Promise<void> {
  const { store, clock, random } = context;
  await store.write("change role", async (tx) => {
    await giveRole(tx, context, await memberOf(tx, input), input, { now: clock.now(), random });
  });
}

async function giveRole(
  tx: Tx,
  { config }: Context,
  { user, membership }: { user: User; membership: Membership },
  { role, by }: { role: MemberRole; by: Actor },
  moment: Moment,
): Promise<void> {
  const { accountId } = membership;
  const next = withHandRole(membership, role, config.oidc?.name);
  if (membership.role === "owner" && role !== "owner") await keepAnOwner(tx, accountId);
  await putMembership(tx, next);
  if (membership.role === role) return;
  const what = { by, accountId, action: "member.role_changed", subject: `${user.email} to ${role}` } as const;
  await logAction(tx, what, moment);
}

async function memberOf(tx: Tx, { accountId, userId }: { accountId: string; userId: string }) {
  const member = (await membersOf(tx, accountId)).find(({ user }) => user.id === userId);
  if (!member) throw new Refusal("NOT_CURRENT", "This person is not a member of the account any more.");
  return member;
}

async function keepAnOwner(tx: Tx, accountId: string): Promise<void> {
  if ((await countOwners(tx, accountId)) > 1) return;
  throw new Refusal("STILL_NEEDED", "An account needs an owner. Make another member an owner first.");
}

function checkedEmail(text: string): string {
  const email = normalEmail(text);
  if (!isEmail(email))
    throw new Refusal(
      "INVALID_REQUEST",
      `The email "${inOneLine(text.slice(0, 100))}" is not an email address. Write it like ana@example.com.`,
    );
  return email;
}

async function findOrMakeUser(tx: Tx, email: string, { now, random }: Moment): Promise<User> {
  const known = await findUserByEmail(tx, email);
  if (known) return known;
  const user: User = {
    id: random.id("usr"),
    email,
    passwordHash: null,
    isOperator: 0,
    operatorByGroups: 0,
    isVouched: 0,
    createdAt: now,
    lastSignInAt: null,
    // Nothing is new to a new user.
    seenVersion: VERSION,
  };
  await insertUser(tx, user);
  return user;
}

/** Stores a setup link in place of any earlier one, and returns its URL. */
async function writeSetupLink(
  tx: Tx,
  context: Context,
  of: Pick<SetupLink, "userId" | "isVouched">,
  lifetimeMs = SETUP_LINK_LIFETIME_MS,
): Promise<string> {
  const token = newToken(context.random);
  const now = context.clock.now();
  await replaceSetupLink(tx, {
    tokenHash: hashToken(token),
    ...of,
    createdAt: now,
    expiresAt: now + lifetimeMs,
    usedAt: null,
  });
  return `${context.config.baseUrl}/console/setup/${token}`;
}
