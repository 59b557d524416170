import { MAX_OUTBOUND_URL_CHARS } from "../core/limits.ts";
import type { ShortLivedState } from "../state/state.ts";

/** What the next page tells once: what was done or refused, or a secret that is never shown again. */
export interface Flash {
  notice?: string;
  problem?: string;
  /** What had been filled into the form that was refused, and the form's action. */
  typed?: { action: string; fields: URLSearchParams };
  key?: { name: string; environment: "live" | "test"; text: string; replaces: string | null };
  link?: { email: string; url: string; startsAnew?: boolean };
  secret?: { url: string; text: string };
}

/** What waits for a page that shows it, whichever other page of the session is opened before. */
export type SecretKind = "key" | "link" | "secret";

/** Flashes by session, in short-lived state only: a secret must not reach the disk. */
export interface FlashStore {
  put(sessionId: string, flash: Flash): Promise<void>;
  /** Takes away what any page shows, and the one kind of secret that this page does: each is shown once. */
  take(sessionId: string, own?: SecretKind): Promise<Flash>;
}

/** A page that was never opened keeps its secret no longer than this. */
const KEEP_MS = 120_000;
/** More things than this never wait for a page at the same time. */
const MAX_FLASHES = 10_000;

export function flashStore(state: ShortLivedState): FlashStore {
  const waiting = state.values<unknown>("flashes", { forMs: KEEP_MS, maxKeys: MAX_FLASHES });
  const place = (sessionId: string, kind: string) => `${kind} for ${sessionId}`;
  return {
    put: async (sessionId, flash) => {
      for (const [kind, value] of Object.entries(flash)) await waiting.put(place(sessionId, kind), value);
    },
    take: async (sessionId, own) => {
      const flash: Partial<Record<keyof Flash, unknown>> = {};
      for (const kind of ["notice", "problem", "typed", ...(own ? [own] : [])] as const) {
        const found = await waiting.take(place(sessionId, kind));
        if (found !== undefined) flash[kind] = found;
      }
      return flash as Flash;
    },
  };
}

/** The fields that a form shows again, named one by one so that no password is ever kept. */
const KEPT_FIELDS = new Set(["name", "email", "role", "tier", "credits", "url", "events", "environment"]);
/** No form of ours has more of them, or anything longer than an address. */
const MAX_KEPT_FIELDS = 16;

/** What is kept of a form that was refused. */
export function typed(action: string, form: URLSearchParams): NonNullable<Flash["typed"]> {
  const kept = [...form].filter(([name]) => KEPT_FIELDS.has(name)).slice(0, MAX_KEPT_FIELDS);
  const fields = kept.map(([name, value]) => [name, value.slice(0, MAX_OUTBOUND_URL_CHARS)]);
  return { action, fields: new URLSearchParams(fields) };
}

/** What had been filled into the form of this action, if it was the one refused. */
export function typedInto(action: string, flash: Flash): URLSearchParams | undefined {
  return flash.typed?.action === action ? flash.typed.fields : undefined;
}
