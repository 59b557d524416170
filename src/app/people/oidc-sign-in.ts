import { Refusal } from "../../core/errors.ts";
import {
  deleteIdentitiesOf,
  findIdentity,
  type Identity,
  identitiesOf,
  insertIdentity,
  touchIdentity,
} from "../../store/people/identities.ts";
import { deleteSessionsBy, deleteSetupLinksOf } from "../../store/people/sessions.ts";
import {
  findUser,
  findUserByEmail,
  insertUser,
  membershipsOf,
  setPassword,
  type User,
} from "../../store/people/users.ts";
import type { Tx } from "../../store/store.ts";
import { VERSION } from "../../version.ts";
import type { AppContext, Moment } from "../context.ts";
import { logAction } from "../operations/activity.ts";
import { applyGroupRoles, givesNothing, NO_ROLES, rolesOfGroups } from "./group-roles.ts";
import { isEmail } from "./manage-users.ts";
import type { ProviderPerson } from "./oidc-client.ts";
import { insertNewSession, normalEmail, type SignedIn } from "./sign-in.ts";
import { endPassword } from "./ways-in.ts";

type Context = Pick<AppContext, "store" | "clock" | "random" | "config" | "log">;

const settingsOf = ({ config }: Context) => {
  if (!config.oidc) throw new Refusal("NOT_ALLOWED", "No sign-in provider is configured here any more.");
  return config.oidc;
};

/** Refused in the transaction, whose other changes stay: roles that are gone, and the log. */
class Stopped {
  constructor(readonly refusal: Refusal) {}
}

/**
 * Signs in who came back from the provider. The subject says who that is; only a verified email that nobody
 * signs in with yet is taken for somebody who was invited (docs/decisions/0023). Their groups' roles are
 * given first, and taken away. Throws a Refusal for a person who has no place here.
 */
export async function signInByProvider(
  context: Context,
  input: { person: ProviderPerson; previousToken: string | undefined },
): Promise<SignedIn> {
  const { person, previousToken } = input;
  const settings = settingsOf(context);
  const { store, clock, random } = context;
  const outcome = await store.write("sign in by provider", async (tx) => {
    const moment = { now: clock.now(), random };
    const found = await findOrLink(tx, context, person, moment);
    if (found instanceof Stopped) {
      const subject = `${person.email ?? person.subject}, with ${settings.name}`;
      await logAction(tx, { by: null, accountId: null, action: "user.sign_in_refused", subject }, moment);
      return found;
    }
    const { identity } = found;
    const user = await applyGroupRoles(
      tx,
      { ...context, provider: settings.name },
      {
        user: found.user,
        given: rolesOfGroups(settings, person.groups),
        isVouched: vouchesFor(person, found.user),
      },
      moment,
    );
    if (user.isOperator === 0 && (await membershipsOf(tx, user.id)).length === 0) {
      const subject = `${user.email}, with ${settings.name}`;
      await logAction(tx, { by: user.id, accountId: null, action: "user.sign_in_refused", subject }, moment);
      return new Stopped(noPlace(settings.name, user.email));
    }
    const by = { identityId: identity.id, provider: settings.name };
    return { user, token: await insertNewSession(tx, { user, previousToken, by }, moment) };
  });
  if (outcome instanceof Stopped) throw outcome.refusal;
  return outcome;
}

/** 1 when the provider has verified that the user's own email is this person's. */
function vouchesFor({ email, isEmailVerified }: ProviderPerson, user: User): 0 | 1 {
  return isEmailVerified && email !== null && normalEmail(email) === user.email ? 1 : 0;
}

/** The user of this subject; otherwise the user who was invited by this email, or a new one. */
async function findOrLink(
  tx: Tx,
  context: Context,
  person: ProviderPerson,
  moment: Moment,
): Promise<{ user: User; identity: Identity } | Stopped> {
  const settings = settingsOf(context);
  const known = await findIdentity(tx, person);
  if (known) {
    await touchIdentity(tx, known.identity.id, { email: readable(person), lastUsedAt: moment.now });
    return known;
  }
  const { name } = settings;
  const email = normalEmail(person.email ?? "");
  if (!isEmail(email))
    return new Stopped(
      new Refusal(
        "NOT_ALLOWED",
        `${name} does not say which email address is yours. Add one there; the operator of this service can look whether CARDPRESS_OIDC_SCOPES asks for it.`,
      ),
    );
  if (!person.isEmailVerified)
    return new Stopped(
      new Refusal(
        "NOT_ALLOWED",
        `${name} has not verified that ${email} is yours. Confirm the address there, then sign in again. What ${name} has to send for it is in this service's guide to sign-in, for its operator.`,
      ),
    );
  const invited = await findUserByEmail(tx, email);
  if (invited) return linkInvited(tx, context, { user: invited, person }, moment);
  if (givesNothing(rolesOfGroups(settings, person.groups))) return new Stopped(noPlace(name, email));
  const user: User = {
    id: moment.random.id("usr"),
    email,
    passwordHash: null,
    isOperator: 0,
    operatorByGroups: 0,
    isVouched: 1,
    createdAt: moment.now,
    lastSignInAt: null,
    seenVersion: VERSION,
  };
  await insertUser(tx, user);
  return { user, identity: await keep(tx, { user, person }, moment) };
}

/**
 * Links somebody who was invited and has no way in so far. Links to set a password end: anyone else who holds
 * one would come in as this person. Where passwords are off those of people known before end with it.
 */
async function linkInvited(
  tx: Tx,
  context: Context,
  { user, person }: { user: User; person: ProviderPerson },
  moment: Moment,
): Promise<{ user: User; identity: Identity } | Stopped> {
  const { name, only } = settingsOf(context);
  const others = await identitiesOf(tx, user.id);
  if (others.some(({ issuer }) => issuer === person.issuer))
    return new Stopped(
      new Refusal(
        "NOT_ALLOWED",
        `${user.email} signs in here with another account of ${name}. Sign out there and sign in with that one, or ask the operator of this service.`,
      ),
    );
  if (user.passwordHash !== null && !only)
    return new Stopped(
      new Refusal(
        "NOT_ALLOWED",
        `${user.email} has a password here already. Sign in with it, then connect ${name} on your profile: afterwards either will do.`,
      ),
    );
  if (user.passwordHash !== null) await endPassword(tx, user, { by: user.id, moment, isVouched: 1 });
  else await setPassword(tx, user.id, { passwordHash: null, isVouched: 1 });
  await deleteSetupLinksOf(tx, user.id);
  const identity = await keep(tx, { user, person }, moment);
  return { user: { ...user, passwordHash: null, isVouched: 1 }, identity };
}

/** Throws a Refusal when another sign-in of the same person was faster. */
async function keep(
  tx: Tx,
  { user, person }: { user: User; person: ProviderPerson },
  moment: Moment,
): Promise<Identity> {
  const identity: Identity = {
    id: moment.random.id("idn"),
    userId: user.id,
    issuer: person.issuer,
    subject: person.subject,
    email: readable(person),
    createdAt: moment.now,
    lastUsedAt: moment.now,
  };
  if (!(await insertIdentity(tx, identity)))
    throw new Refusal(
      "NOT_CURRENT",
      "This account of the provider was connected a moment ago. Sign in again.",
    );
  const subject = identity.email === null ? user.email : `${user.email}, as ${identity.email}`;
  const what = { by: user.id, accountId: null, action: "user.provider_connected", subject } as const;
  await logAction(tx, what, moment);
  return identity;
}

function readable({ email }: ProviderPerson): string | null {
  const text = normalEmail(email ?? "");
  return isEmail(text) ? text : null;
}

function noPlace(name: string, email: string): Refusal {
  return new Refusal(
    "NOT_ALLOWED",
    `${name} knows you as ${email}, but nothing here is open to you. Ask an owner of your account to add ${email} as a member, or the administrator of ${name} to put you into the right group.`,
  );
}

/**
 * Connects a provider's account to a user who has just proven their identity. Roles of groups count from the
 * next sign-in there. Throws a Refusal when somebody has it already, or the password has changed since.
 */
export async function connectProvider(
  context: Context,
  { user, person }: { user: User; person: ProviderPerson },
): Promise<void> {
  const { store, clock, random } = context;
  const { name } = settingsOf(context);
  await store.write("connect provider", async (tx) => {
    const current = await findUser(tx, user.id);
    if (!current || current.passwordHash !== user.passwordHash)
      throw new Refusal("NOT_CURRENT", "Your password has just changed. Sign in again, then connect.");
    const known = await findIdentity(tx, person);
    if (known)
      throw new Refusal(
        "NOT_ALLOWED",
        known.user.id === user.id
          ? `This account of ${name} is connected already.`
          : `This account of ${name} signs in somebody else here. Sign out at ${name}, and connect your own.`,
      );
    if ((await identitiesOf(tx, user.id)).some(({ issuer }) => issuer === person.issuer))
      throw new Refusal("NOT_ALLOWED", `You have connected ${name} already. Disconnect that account first.`);
    await keep(tx, { user: current, person }, { now: clock.now(), random });
  });
}

/**
 * Disconnects a user who can still sign in with a password, and ends what began by the provider elsewhere.
 * What only its groups gave is gone; where that was something, all sessions end. Throws a Refusal.
 */
export async function disconnectProvider(
  context: Context,
  { user, keepSessionId }: { user: User; keepSessionId: string },
): Promise<void> {
  const { store, clock, random } = context;
  const { name, only } = settingsOf(context);
  await store.write("disconnect provider", async (tx) => {
    const current = await findUser(tx, user.id);
    if (!current || current.passwordHash === null || only)
      throw new Refusal("STILL_NEEDED", `You have no other way in than ${name}, so it stays connected.`);
    const moment = { now: clock.now(), random };
    for (const { id, email } of await deleteIdentitiesOf(tx, user.id)) {
      await deleteSessionsBy(tx, id, keepSessionId);
      const subject = email === null ? user.email : `${user.email}, as ${email}`;
      const what = { by: user.id, accountId: null, action: "user.provider_disconnected", subject } as const;
      await logAction(tx, what, moment);
    }
    const input = { user: current, given: NO_ROLES, isVouched: 0 as const };
    await applyGroupRoles(tx, { ...context, provider: name }, input, moment);
  });
}
