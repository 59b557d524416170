// First, before the library that needs it.
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
import { OperatorError } from "../core/errors.ts";
import {
  deletePasskey,
  findPasskey,
  insertPasskey,
  type Passkey,
  passkeysOf,
  touchPasskey,
} from "../store/passkeys.ts";
import type { User } from "../store/users.ts";
import { logAction } from "./audit-log.ts";
import type { AppContext } from "./context.ts";

type Context = Pick<AppContext, "store" | "clock" | "random" | "config">;

/** How long a person may take between asking for a challenge and touching the key. */
const CHALLENGE_LIFETIME_MS = 300_000;
/** More than these never wait at the same time. */
const MAX_CHALLENGES = 10_000;
const MAX_PASSKEYS = 20;

/** Adds, uses and removes passkeys. Challenges live in memory, for five minutes and one use. */
export interface PasskeyDesk {
  /** False where browsers make no passkeys: for bare addresses, and for names without HTTPS. */
  readonly isPossible: boolean;
  /** The only origin where they work. */
  readonly origin: string;
  /** What the browser needs to make a passkey for a user. */
  registrationOptions(user: User): Promise<unknown>;
  /** Keeps the passkey a browser made. Throws an OperatorError when it cannot be trusted. */
  register(user: User, response: unknown, name: string): Promise<Passkey>;
  signInOptions(): Promise<unknown>;
  /** The user whose passkey signed, or undefined. */
  verify(response: unknown): Promise<User | undefined>;
  /** False when the user had no such passkey. */
  remove(user: User, id: string): Promise<boolean>;
}

/** Where browsers make passkeys for this service: this machine's bare address has a name that will do, localhost. */
function passkeySite(baseUrl: string): URL {
  const site = new URL(baseUrl);
  if (/^127\.|^\[::1\]$/.test(site.hostname)) site.hostname = "localhost";
  return site;
}

/** Browsers trust what never leaves the machine as they trust HTTPS. */
function isLocalName(hostname: string): boolean {
  return hostname === "localhost" || hostname.endsWith(".localhost");
}

export function passkeyDesk(context: Context): PasskeyDesk {
  const { store, clock, random, config } = context;
  const { hostname: rpID, origin: expectedOrigin, protocol } = passkeySite(config.baseUrl);
  const challenges = challengeBoard(() => clock.now());
  return {
    isPossible: isIP(rpID.replace(/^\[|\]$/g, "")) === 0 && (protocol === "https:" || isLocalName(rpID)),
    origin: expectedOrigin,
    registrationOptions: async (user) => {
      const known = await passkeysOf(store.read, user.id);
      const options = await generateRegistrationOptions({
        rpName: "cardpress",
        rpID,
        userName: user.email,
        userID: new TextEncoder().encode(user.id),
        attestationType: "none",
        excludeCredentials: known.map(({ credentialId }) => ({ id: credentialId })),
        authenticatorSelection: { residentKey: "required", userVerification: "required" },
      });
      challenges.add(options.challenge, user.id);
      return options;
    },
    register: async (user, response, name) => {
      const result = await verifyRegistrationResponse({
        response: response as RegistrationResponseJSON,
        expectedChallenge: (challenge) => challenges.take(challenge) === user.id,
        expectedOrigin,
        expectedRPID: rpID,
        requireUserVerification: true,
      }).catch((cause) => {
        throw new OperatorError(`The passkey could not be checked: ${(cause as Error).message}`);
      });
      if (!result.verified) throw new OperatorError("The passkey could not be checked. Try again.");
      return keep(context, user, { ...result.registrationInfo.credential, name });
    },
    signInOptions: async () => {
      const options = await generateAuthenticationOptions({ rpID, userVerification: "required" });
      challenges.add(options.challenge, ANYONE);
      return options;
    },
    verify: async (response) => {
      const { id } = response as { id?: unknown };
      const found = typeof id === "string" ? await findPasskey(store.read, id) : undefined;
      if (!found) return undefined;
      const { passkey, user } = found;
      const result = await verifyAuthenticationResponse({
        response: response as AuthenticationResponseJSON,
        expectedChallenge: (challenge) => challenges.take(challenge) === ANYONE,
        expectedOrigin,
        expectedRPID: rpID,
        requireUserVerification: true,
        credential: {
          id: passkey.credentialId,
          publicKey: new Uint8Array(Buffer.from(passkey.publicKey, "base64url")),
          counter: passkey.counter,
        },
      }).catch(() => ({ verified: false, authenticationInfo: { newCounter: 0 } }));
      if (!result.verified) return undefined;
      const use = { counter: result.authenticationInfo.newCounter, now: clock.now() };
      await store.write((tx) => touchPasskey(tx, passkey.id, use));
      return user;
    },
    remove: (user, id) => {
      return store.write(async (tx) => {
        const gone = await deletePasskey(tx, user.id, id);
        if (!gone) return false;
        const what = { by: user.id, accountId: null, action: "passkey.removed", subject: gone.name } as const;
        await logAction(tx, what, { now: clock.now(), random });
        return true;
      });
    },
  };
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
  return store.write(async (tx) => {
    if ((await passkeysOf(tx, user.id)).length >= MAX_PASSKEYS)
      throw new OperatorError(
        `You have ${MAX_PASSKEYS} passkeys already. Remove one that you no longer use.`,
      );
    await insertPasskey(tx, passkey);
    const what = { by: user.id, accountId: null, action: "passkey.added", subject: made.name } as const;
    await logAction(tx, what, { now: passkey.createdAt, random });
    return passkey;
  });
}

/** For whom a sign-in challenge is: nobody knows yet who answers it. */
const ANYONE = "";

function challengeBoard(now: () => number) {
  const board = new Map<string, { userId: string; until: number }>();
  return {
    add: (challenge: string, userId: string) => {
      // The oldest come first: a flood of challenges pushes out the oldest, never the memory's bounds.
      for (const [old, { until }] of board) {
        if (until > now() && board.size < MAX_CHALLENGES) break;
        board.delete(old);
      }
      board.set(challenge, { userId, until: now() + CHALLENGE_LIFETIME_MS });
    },
    /** For whom it was; undefined when unknown, too old or used. */
    take: (challenge: string): string | undefined => {
      const found = board.get(challenge);
      board.delete(challenge);
      return found && found.until > now() ? found.userId : undefined;
    },
  };
}
