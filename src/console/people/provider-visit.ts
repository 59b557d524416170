import type { Attempt } from "../../app/people/oidc-client.ts";
import type { SecretBox } from "../../core/secret-box.ts";
import { PROVIDER_VISIT_MS } from "../../core/sign-in-limits.ts";
import type { ShortLivedState, Values } from "../../state/state.ts";

/**
 * What a browser takes along to the sign-in provider, in a cookie of its own. Sealed, it needs no memory here
 * that a flood of sign-ins could fill, and whichever node is asked next can read it.
 */
export interface ProviderVisit extends Attempt {
  /** The page to go on to. */
  next: string;
  /** The session whose user connects the provider; null: somebody signs in. */
  connects: string | null;
  /** Epoch milliseconds. */
  until: number;
}

const CONTEXT = "visit to the sign-in provider";
/** A browser keeps a cookie of 4 KB; the rest takes less than one. */
const MAX_NEXT_CHARS = 1_000;

export function sealVisit(secrets: SecretBox, visit: ProviderVisit): string {
  const next = visit.next.length > MAX_NEXT_CHARS ? "" : visit.next;
  return Buffer.from(secrets.seal(JSON.stringify({ ...visit, next }), CONTEXT)).toString("base64url");
}

/** Undefined when it is not ours, altered, or too old. */
export function openVisit(secrets: SecretBox, sealed: string, now: number): ProviderVisit | undefined {
  try {
    const visit: ProviderVisit = JSON.parse(
      secrets.open(Buffer.from(sealed, "base64url").toString("utf8"), CONTEXT),
    );
    return visit.until > now ? visit : undefined;
  } catch {
    return undefined;
  }
}

/** Each took a sign-in at the provider, so a flood cannot fill this. */
const MAX_USED = 10_000;

/** Sign-ins that were completed, by their state: each counts once. */
export function usedSignIns(state: ShortLivedState): Values<true> {
  return state.values("sign-ins at the provider", { forMs: PROVIDER_VISIT_MS, maxKeys: MAX_USED });
}
