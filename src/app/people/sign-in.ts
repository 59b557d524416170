import { Refusal } from "../../core/errors.ts";
import { sha256 } from "../../core/sha256.ts";
import {
  MAX_PASSWORD_CHARS,
  MIN_PASSWORD_CHARS,
  PROVIDER_SESSION_LIFETIME_MS,
  SESSION_IDLE_MS,
  SESSION_LIFETIME_MS,
} from "../../core/sign-in-limits.ts";
import { deleteIdentitiesOf } from "../../store/people/identities.ts";
import { deletePasskeysOf } from "../../store/people/passkeys.ts";
import {
  deleteSession,
  deleteSessionsOf,
  deleteSetupLinksOf,
  findSession,
  findSetupLink,
  insertSession,
  type Session,
  sessionsOf,
  touchSession,
  useSetupLink,
} from "../../store/people/sessions.ts";
import {
  findUser,
  findUserByEmail,
  insertUser,
  makeOperator,
  markSignIn,
  membershipsOf,
  operatorsWhoSignIn,
  replacePassword,
  setPassword,
  type User,
} from "../../store/people/users.ts";
import type { Tx } from "../../store/store.ts";
import { VERSION } from "../../version.ts";
import type { AppContext, Moment } from "../context.ts";
import { logAction } from "../operations/activity.ts";
import { hashPassword, verifyPassword } from "./password-hash.ts";

type Context = Pick<AppContext, "store" | "clock" | "random">;

/** "Last seen" is updated by the minute: writing it on every click would cost a disk sync each. */
const LAST_SEEN_RESOLUTION_MS = 60_000;

/** A session's cookie value; only its hash is stored. */
export interface SignedIn {
  token: string;
  user: User;
}

/** The hash a look-up by token uses. 256 random bits need no salt and no slow hash. */
export function hashToken(token: string): string {
  return sha256(token);
}

export function newToken(random: Context["random"]): string {
  return Buffer.from(random.bytes(32)).toString("base64url");
}

/** Of a text too long to be an email, one character more than any: it is kept by the limits on guesses. */
const MAX_READ_EMAIL_CHARS = 255;

export function normalEmail(text: string): string {
  return text.trim().slice(0, MAX_READ_EMAIL_CHARS).normalize("NFC").toLowerCase();
}

/** Why a password is refused; null when it is acceptable. */
export function passwordProblem(password: string, email: string): string | null {
  const chars = [...password];
  if (chars.length < MIN_PASSWORD_CHARS) return `Use at least ${MIN_PASSWORD_CHARS} characters.`;
  if (chars.length > MAX_PASSWORD_CHARS) return `Use at most ${MAX_PASSWORD_CHARS} characters.`;
  if (new Set(chars).size < 5) return "Use more than a few different characters.";
  const name = email.split("@")[0] ?? "";
  if (password.toLowerCase() === email || (name.length > 3 && password.toLowerCase().startsWith(name)))
    return "Do not begin the password with your email address.";
  return null;
}

/** Unknown emails are checked against this hash, so that they take as long as known ones. */
let nobodysHash: Promise<string> | undefined;

/** The user with this email and password, or undefined; both outcomes take the same time. */
export async function checkPassword(
  { store, random }: Context,
  input: { email: string; password: string },
): Promise<User | undefined> {
  const user = await findUserByEmail(store.read, normalEmail(input.email));
  nobodysHash ??= hashPassword(newToken(random)).catch((error) => {
    nobodysHash = undefined;
    throw error;
  });
  // Awaited for known emails too: the first response after a start must not tell them apart either.
  const nobody = await nobodysHash;
  const password = input.password.slice(0, MAX_PASSWORD_CHARS * 4);
  const right = await verifyPassword(password, user?.passwordHash ?? nobody);
  return right && user?.passwordHash ? user : undefined;
}

/**
 * Starts a session under a new token and ends the browser's previous one. Throws a Refusal when the password
 * has changed since `user` was found: somebody signing in at that very moment must not slip through.
 */
export async function startSession(
  { store, clock, random }: Context,
  user: User,
  previousToken: string | undefined,
): Promise<SignedIn> {
  return store.write("start session", async (tx) => {
    const current = await findUser(tx, user.id);
    if (current?.passwordHash !== user.passwordHash) throw passwordGone();
    const token = await insertNewSession(tx, { user, previousToken }, { now: clock.now(), random });
    return { token, user };
  });
}

/** Stores a session and ends the browser's previous one; returns its token. */
export async function insertNewSession(
  tx: Tx,
  of: { user: User; previousToken: string | undefined; by?: { identityId: string; provider: string } },
  { now, random }: Moment,
): Promise<string> {
  const { user, previousToken, by } = of;
  const token = newToken(random);
  if (previousToken !== undefined) await deleteSession(tx, hashToken(previousToken));
  const [first] = await membershipsOf(tx, user.id);
  await insertSession(tx, {
    id: random.id("ses"),
    tokenHash: hashToken(token),
    userId: user.id,
    csrfToken: newToken(random),
    accountId: first?.account.id ?? null,
    identityId: by?.identityId ?? null,
    createdAt: now,
    lastSeenAt: now,
    expiresAt: now + (by ? PROVIDER_SESSION_LIFETIME_MS : SESSION_LIFETIME_MS),
  });
  await markSignIn(tx, user.id, now);
  const subject = by ? `${user.email}, with ${by.provider}` : user.email;
  await logAction(tx, { by: user.id, accountId: null, action: "user.signed_in", subject }, { now, random });
  return token;
}

/**
 * The session of a cookie's token; undefined when it is unknown, idle for too long or too old. With `isClick`
 * false its idle time keeps running: a page that refreshes itself must not keep alive the session of somebody
 * who has left.
 */
export async function readSession(
  { store, clock }: Context,
  token: string,
  { isClick = true } = {},
): Promise<{ session: Session; user: User } | undefined> {
  const found = await findSession(store.read, hashToken(token));
  if (!found) return undefined;
  const { session } = found;
  const now = clock.now();
  if (now >= session.expiresAt || now - session.lastSeenAt >= SESSION_IDLE_MS) {
    await store.write("end session", (tx) => deleteSession(tx, session.tokenHash), { concurrent: true });
    return undefined;
  }
  if (isClick && now - session.lastSeenAt >= LAST_SEEN_RESOLUTION_MS)
    await store.write("touch session", (tx) => touchSession(tx, session.id, now), { concurrent: true });
  return found;
}

export async function endSession({ store }: Context, token: string): Promise<void> {
  await store.write("end session", (tx) => deleteSession(tx, hashToken(token)), { concurrent: true });
}

/** Signs a user out everywhere except in this session. Returns how many sessions ended. */
export function endOtherSessions(
  { store, clock, random }: Context,
  input: { user: User; keepSessionId: string },
): Promise<number> {
  const { user, keepSessionId } = input;
  return store.write("end other sessions", async (tx) => {
    const others = (await sessionsOf(tx, user.id, clock.now())).filter(({ id }) => id !== keepSessionId);
    await deleteSessionsOf(tx, user.id, keepSessionId);
    const what = {
      by: user.id,
      accountId: null,
      action: "user.signed_out_elsewhere",
      subject: user.email,
    } as const;
    if (others.length > 0) await logAction(tx, what, { now: clock.now(), random });
    return others.length;
  });
}

/**
 * The user a setup link is for, or null for the link that creates the first operator. Undefined when it is
 * not usable.
 */
export async function setupLinkFor(
  { store, clock }: Context,
  token: string,
): Promise<{ user: User | null } | undefined> {
  const link = await findSetupLink(store.read, hashToken(token), clock.now());
  if (!link) return undefined;
  if (link.userId === null)
    return (await operatorsWhoSignIn(store.read)).length > 0 ? undefined : { user: null };
  const user = await findUser(store.read, link.userId);
  return user && { user };
}

/**
 * Sets the password through a setup link, uses the link up, and ends every session, passkey and identity of
 * the user: the link is also how somebody recovers an account from a thief. `email` only counts for the first
 * operator's link. Throws a Refusal when the link has been used meanwhile.
 */
export async function completeSetup(
  { store, clock, random }: Context,
  input: { token: string; password: string; email: string },
): Promise<User> {
  const passwordHash = await hashPassword(input.password);
  return store.write("complete setup", async (tx) => {
    const now = clock.now();
    const link = await useSetupLink(tx, hashToken(input.token), now);
    if (!link) throw new Refusal("NOT_CURRENT", "This link was used already, or has expired.");
    const user =
      link.userId === null
        ? await firstOperator(tx, input.email, now, random)
        : await findUser(tx, link.userId);
    if (!user) throw new Refusal("NOT_CURRENT", "The user of this link does not exist any more.");
    const { isVouched } = link;
    await setPassword(tx, user.id, { passwordHash, isVouched });
    await deletePasskeysOf(tx, user.id);
    await deleteIdentitiesOf(tx, user.id);
    await deleteSessionsOf(tx, user.id);
    const what = { by: user.id, accountId: null, action: "user.password_set", subject: user.email } as const;
    await logAction(tx, what, { now, random });
    return { ...user, passwordHash, isVouched };
  });
}

async function firstOperator(tx: Tx, email: string, now: number, random: Context["random"]): Promise<User> {
  if ((await operatorsWhoSignIn(tx)).length > 0)
    throw new Refusal("NOT_CURRENT", "This service has an operator by now. Ask them to add you.");
  const known = await findUserByEmail(tx, normalEmail(email));
  if (known) {
    await makeOperator(tx, known.id);
    return { ...known, isOperator: 1 };
  }
  const user: User = {
    id: random.id("usr"),
    email: normalEmail(email),
    passwordHash: null,
    isOperator: 1,
    operatorByGroups: 0,
    isVouched: 1,
    createdAt: now,
    lastSignInAt: null,
    // Nothing is new to a new user.
    seenVersion: VERSION,
  };
  await insertUser(tx, user);
  return user;
}

/**
 * Changes a password, revokes unused setup links, and signs the user out everywhere else. Pass `user` as
 * returned by checkPassword: throws a Refusal when the password has changed or been revoked since.
 */
export async function changePassword(
  { store, clock, random }: Context,
  input: { user: User; password: string; keepSessionId: string },
): Promise<void> {
  const passwordHash = await hashPassword(input.password);
  await store.write("change password", async (tx) => {
    const { user } = input;
    const isCurrent = await replacePassword(tx, user.id, { from: user.passwordHash ?? "", to: passwordHash });
    if (!isCurrent) throw passwordGone();
    // An unused link lying around could set yet another password.
    await deleteSetupLinksOf(tx, user.id);
    await deleteSessionsOf(tx, user.id, input.keepSessionId);
    const what = { by: user.id, accountId: null, action: "user.password_set", subject: user.email } as const;
    await logAction(tx, what, { now: clock.now(), random });
  });
}

function passwordGone(): Refusal {
  return new Refusal(
    "NOT_CURRENT",
    "The password was changed or ended a moment ago. Sign in with the new one, or by the link you were sent.",
  );
}
