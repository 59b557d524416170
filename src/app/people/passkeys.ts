// Must come before the library that needs it.
import "./reflect-metadata.ts";

import { isIP } from "node:net";
import {
  type AuthenticationResponseJSON,
  generateAuthenticationOptions,
  generateRegistrationOptions,
  type RegistrationResponseJSON,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from "@simplewebauthn/server";
import { Refusal } from "../../core/errors.ts";
import type { ShortLivedState } from "../../state/state.ts";
import {
  deletePasskey,
  deletePasskeysOf,
  findPasskey,
  insertPasskey,
  type Passkey,
  passkeysOf,
  touchPasskey,
} from "../../store/people/passkeys.ts";
import { findUser, type User } from "../../store/people/users.ts";
import type { Tx } from "../../store/store.ts";
import type { AppContext, Moment } from "../context.ts";
import { logAction } from "../operations/activity.ts";
import { challenges } from "./challenges.ts";

type Context = Pick<AppContext, "store" | "clock" | "random" | "config"> & { state: ShortLivedState };

const MAX_PASSKEYS = 20;

/** What a challenge is for. On the sign-in page it is not yet known who will answer. */
const SIGN_IN = "sign in";
const addingTo = (user: User) => `add to ${user.id}`;

/** Adds, uses and removes passkeys. */
export interface PasskeyService {
  /** False where browsers offer no passkeys: for bare IP addresses, and for names without HTTPS. */
  readonly isPossible: boolean;
  /** The only origin where they work. */
  readonly origin: string;
  /**
   * Options for the browser to create a passkey for a user who has just proven their identity; none can be
   * added otherwise.
   */
  registrationOptions(user: User): Promise<unknown>;
  /** Stores the passkey a browser created. Throws a Refusal when it cannot be verified. */
  register(user: User, response: unknown, name: string): Promise<Passkey>;
  signInOptions(): Promise<unknown>;
  /** The user whose passkey signed; undefined if none. */
  verify(response: unknown): Promise<User | undefined>;
  /** False when the user has no such passkey. */
  remove(user: User, id: string): Promise<boolean>;
  /** Returns how many there were. */
  removeAll(user: User): Promise<number>;
}

/** The site for which browsers create passkeys: the loopback address is replaced by the name localhost. */
function passkeySite(baseUrl: string): URL {
  const site = new URL(baseUrl);
  if (/^127\.|^\[::1\]$/.test(site.hostname)) site.hostname = "localhost";
  return site;
}

/** Browsers treat loopback names as secure, like HTTPS. */
function isLocalName(hostname: string): boolean {
  return hostname === "localhost" || hostname.endsWith(".localhost");
}

export function passkeyService(context: Context): PasskeyService {
  const { store, clock, random, config } = context;
  const { hostname: rpID, origin: expectedOrigin, protocol } = passkeySite(config.baseUrl);
  const open = challenges(context);
  return {
    isPossible: isIP(rpID.replace(/^\[|\]$/g, "")) === 0 && (protocol === "https:" || isLocalName(rpID)),
    origin: expectedOrigin,
    registrationOptions: async (user) => {
      const known = await passkeysOf(store.read, user.id);
      return generateRegistrationOptions({
        challenge: await open.make(addingTo(user)),
        rpName: "cardpress",
        rpID,
        userName: user.email,
        userID: new TextEncoder().encode(user.id),
        attestationType: "none",
        excludeCredentials: known.map(({ credentialId }) => ({ id: credentialId })),
        authenticatorSelection: { residentKey: "required", userVerification: "required" },
      });
    },
    register: async (user, response, name) => {
      const result = await verifyRegistrationResponse({
        response: response as RegistrationResponseJSON,
        expectedChallenge: (challenge) => open.isOpen(challenge, addingTo(user)),
        expectedOrigin,
        expectedRPID: rpID,
        requireUserVerification: true,
      }).catch((cause) => {
        throw new Refusal("NOT_PROVEN", `The passkey could not be checked: ${(cause as Error).message}`);
      });
      if (!result.verified || !(await open.spend(challengeOf(response))))
        throw new Refusal("NOT_PROVEN", "The passkey could not be checked. Try again.");
      return keep(context, user, { ...result.registrationInfo.credential, name });
    },
    signInOptions: async () => {
      const challenge = await open.make(SIGN_IN);
      return generateAuthenticationOptions({ challenge, rpID, userVerification: "required" });
    },
    verify: async (response) => {
      const { id } = response as { id?: unknown };
      const found = typeof id === "string" ? await findPasskey(store.read, id) : undefined;
      if (!found) return undefined;
      const { passkey, user } = found;
      const result = await verifyAuthenticationResponse({
        response: response as AuthenticationResponseJSON,
        expectedChallenge: (challenge) => open.isOpen(challenge, SIGN_IN),
        expectedOrigin,
        expectedRPID: rpID,
        requireUserVerification: true,
        credential: {
          id: passkey.credentialId,
          publicKey: new Uint8Array(Buffer.from(passkey.publicKey, "base64url")),
          counter: passkey.counter,
        },
      }).catch(() => ({ verified: false, authenticationInfo: { newCounter: 0 } }));
      if (!result.verified || !(await open.spend(challengeOf(response)))) return undefined;
      const use = { counter: result.authenticationInfo.newCounter, now: clock.now() };
      await store.write("use passkey", (tx) => touchPasskey(tx, passkey.id, use), { concurrent: true });
      return user;
    },
    remove: (user, id) => {
      return store.write("remove passkey", async (tx) => {
        const gone = await deletePasskey(tx, user.id, id);
        if (gone) await logRemoved(tx, gone, { now: clock.now(), random });
        return gone !== undefined;
      });
    },
    removeAll: (user) => {
      return store.write("remove passkeys", async (tx) => {
        const gone = await deletePasskeysOf(tx, user.id);
        for (const passkey of gone) await logRemoved(tx, passkey, { now: clock.now(), random });
        return gone.length;
      });
    },
  };
}

/** The challenge that a verified response answers. */
function challengeOf(response: unknown): string {
  const { clientDataJSON } = (response as AuthenticationResponseJSON | RegistrationResponseJSON).response;
  return JSON.parse(Buffer.from(clientDataJSON, "base64url").toString("utf8")).challenge;
}

function logRemoved(tx: Tx, { userId, name }: Passkey, moment: Moment): Promise<void> {
  return logAction(tx, { by: userId, accountId: null, action: "passkey.removed", subject: name }, moment);
}

function keep(
  { store, clock, random }: Context,
  user: User,
  made: { id: string; publicKey: Uint8Array; counter: number; name: string },
): Promise<Passkey> {
  const passkey: Passkey = {
    id: random.id("pk"),
    userId: user.id,
    credentialId: made.id,
    publicKey: Buffer.from(made.publicKey).toString("base64url"),
    counter: made.counter,
    name: made.name,
    createdAt: clock.now(),
    lastUsedAt: null,
  };
  return store.write("keep passkey", async (tx) => {
    // A user who is adding a passkey at the moment the password is revoked must not keep a way in.
    if ((await findUser(tx, user.id))?.passwordHash !== user.passwordHash)
      throw new Refusal(
        "NOT_CURRENT",
        "Your password has just changed. Sign in again, then add the passkey.",
      );
    if (await findPasskey(tx, made.id))
      throw new Refusal("NOT_ALLOWED", "This passkey is in use already. Let the browser make a new one.");
    if ((await passkeysOf(tx, user.id)).length >= MAX_PASSKEYS)
      throw new Refusal(
        "LIMIT_REACHED",
        `You have ${MAX_PASSKEYS} passkeys already. Remove one that you no longer use.`,
      );
    await insertPasskey(tx, passkey);
    const what = { by: user.id, accountId: null, action: "passkey.added", subject: made.name } as const;
    await logAction(tx, what, { now: passkey.createdAt, random });
    return passkey;
  });
}
