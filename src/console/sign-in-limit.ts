import {
  MAX_SIGN_IN_NAMES,
  SIGN_IN_WINDOW_MS,
  SIGN_INS_PER_ADDRESS,
  SIGN_INS_PER_EMAIL,
  SIGN_INS_PER_EMAIL_AND_ADDRESS,
} from "../core/limits.ts";
import { networkOf } from "../http/client-address.ts";

/** Bounds password guesses. Counts the same for emails that exist and for those that do not. */
export interface SignInLimit {
  /** Counts one try; false when there were too many. */
  take(email: string, address: string): boolean;
  /** The password was right: honest mistakes before it are forgotten. */
  forgive(email: string, address: string): void;
}

export function signInLimit(now: () => number = Date.now): SignInLimit {
  const byAddress = tryCounter(SIGN_INS_PER_ADDRESS, now);
  const byPair = tryCounter(SIGN_INS_PER_EMAIL_AND_ADDRESS, now);
  const byEmail = tryCounter(SIGN_INS_PER_EMAIL, now);
  const pair = (email: string, network: string) => `${network} ${email}`;
  return {
    // In this order, up to the first refusal: what a client may no longer try must not use up the email's own budget,
    // or one client could lock its owner out everywhere.
    take: (email, address) => {
      const network = networkOf(address);
      return byAddress.take(network) && byPair.take(pair(email, network)) && byEmail.take(email);
    },
    forgive: (email, address) => {
      const network = networkOf(address);
      byAddress.giveBack(network);
      byPair.forget(pair(email, network));
      byEmail.giveBack(email);
    },
  };
}

/** Counts tries by name, in windows that begin with a name's first try. */
function tryCounter(limit: number, now: () => number) {
  const windows = new Map<string, { tries: number; until: number }>();
  return {
    take: (name: string): boolean => {
      const known = windows.get(name);
      if (known && known.until > now()) {
        if (known.tries >= limit) return false;
        known.tries += 1;
        return true;
      }
      windows.delete(name);
      // The oldest come first: a flood of names pushes out the oldest, never the memory's bounds.
      for (const [old, { until }] of windows) {
        if (until > now() && windows.size < MAX_SIGN_IN_NAMES) break;
        windows.delete(old);
      }
      windows.set(name, { tries: 1, until: now() + SIGN_IN_WINDOW_MS });
      return true;
    },
    giveBack: (name: string) => {
      const known = windows.get(name);
      if (known) known.tries -= 1;
    },
    forget: (name: string) => void windows.delete(name),
  };
}
