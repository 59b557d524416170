import {
  MAX_SIGN_IN_NAMES,
  RESETS_PER_ADDRESS,
  RESETS_PER_EMAIL,
  SIGN_IN_WINDOW_MS,
  SIGN_INS_PER_ADDRESS,
  SIGN_INS_PER_EMAIL,
  SIGN_INS_PER_EMAIL_AND_ADDRESS,
} from "../../core/sign-in-limits.ts";
import { HOUR_MS } from "../../core/time.ts";
import { networkOf } from "../../http/client-address.ts";
import type { ShortLivedState } from "../../state/state.ts";

/** Bounds password guesses. Counts the same for existing and unknown emails. */
export interface SignInLimit {
  /** Counts one attempt; false when there were too many. */
  take(email: string, address: string): Promise<boolean>;
  /** Call when the password was right: honest mistakes before it are forgiven. */
  forgive(email: string, address: string): Promise<void>;
}

export function signInLimit(state: ShortLivedState): SignInLimit {
  const byAddress = tryCounter(state, "address", SIGN_INS_PER_ADDRESS);
  const byPair = tryCounter(state, "address and email", SIGN_INS_PER_EMAIL_AND_ADDRESS);
  const byEmail = tryCounter(state, "email", SIGN_INS_PER_EMAIL);
  const pair = (email: string, network: string) => `${network} ${email}`;
  return {
    // In this order, stopping at the first refusal: attempts a client may no longer make must not use up the
    // email's own budget, or one client could lock its owner out everywhere.
    take: async (email, address) => {
      const network = networkOf(address);
      return (
        (await byAddress.take(network)) &&
        (await byPair.take(pair(email, network))) &&
        (await byEmail.take(email))
      );
    },
    forgive: async (email, address) => {
      const network = networkOf(address);
      await byAddress.giveBack(network);
      await byPair.forget(pair(email, network));
      await byEmail.giveBack(email);
    },
  };
}

/** Bounds password reset mails, per mailbox and per client. */
export interface ResetLimit {
  /** Counts one request; false when there were too many. */
  take(email: string, address: string): Promise<boolean>;
}

export function resetLimit(state: ShortLivedState): ResetLimit {
  const bounds = { forMs: HOUR_MS, maxKeys: MAX_SIGN_IN_NAMES };
  const byAddress = state.counters("password resets by address", bounds);
  const byEmail = state.counters("password resets by email", bounds);
  return {
    take: async (email, address) =>
      (await byAddress.add(networkOf(address), 1)) <= RESETS_PER_ADDRESS &&
      (await byEmail.add(email, 1)) <= RESETS_PER_EMAIL,
  };
}

/** Counts attempts by name, in windows that start with a name's first attempt. */
function tryCounter(state: ShortLivedState, by: string, limit: number) {
  const tries = state.counters(`sign-ins by ${by}`, { forMs: SIGN_IN_WINDOW_MS, maxKeys: MAX_SIGN_IN_NAMES });
  const giveBack = async (name: string) => {
    if ((await tries.sum(name)) > 0) await tries.add(name, -1);
  };
  return {
    take: async (name: string): Promise<boolean> => {
      if ((await tries.add(name, 1)) <= limit) return true;
      // Refused attempts do not count, or a success could not refund what it took.
      await giveBack(name);
      return false;
    },
    giveBack,
    forget: (name: string) => tries.forget(name),
  };
}
