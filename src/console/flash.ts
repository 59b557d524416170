import { MAX_OUTBOUND_URL_CHARS } from "../core/outbound-limits.ts";
import type { ShortLivedState } from "../state/state.ts";

/** What the next page shows once: what was done or refused, or a secret that is never shown again. */
export interface Flash {
  notice?: string;
  problem?: string;
  /** What was typed into the refused form, and the form's action. */
  typed?: { action: string; fields: [name: string, value: string][] };
  key?: {
    name: string;
    environment: "live" | "test";
    text: string;
    replaces: string | null;
  };
  /** Of the API key with this id and name. */
  signingSecret?: { keyId: string; keyName: string; text: string };
  link?: { email: string; url: string; startsAnew?: boolean };
  /** Of the webhook endpoint with this address. */
  webhookSecret?: { url: string; text: string };
}

/** Waits for the page that shows it, whichever other pages of the session are opened first. */
export type SecretKind = "key" | "signingSecret" | "link" | "webhookSecret";

/** Flashes by session, in short-lived state only: a secret must not reach the disk readable. */
export interface FlashStore {
  put(sessionId: string, flash: Flash): Promise<void>;
  /**
   * Removes and returns what any page shows, plus the kinds of secret this page shows: each is shown once.
   */
  take(sessionId: string, ...own: SecretKind[]): Promise<Flash>;
}

/** How long a secret is kept for a page that is never opened. */
const KEEP_MS = 120_000;
/** The most items waiting for pages at a time. */
const MAX_FLASHES = 10_000;

export function flashStore(state: ShortLivedState): FlashStore {
  const waiting = state.values<unknown>("flashes", { forMs: KEEP_MS, maxKeys: MAX_FLASHES });
  const place = (sessionId: string, kind: string) => `${kind} for ${sessionId}`;
  return {
    put: async (sessionId, flash) => {
      for (const [kind, value] of Object.entries(flash)) await waiting.put(place(sessionId, kind), value);
    },
    take: async (sessionId, ...own) => {
      const flash: Partial<Record<keyof Flash, unknown>> = {};
      for (const kind of ["notice", "problem", "typed", ...own] as const) {
        const found = await waiting.take(place(sessionId, kind));
        if (found !== undefined) flash[kind] = found;
      }
      return flash as Flash;
    },
  };
}

/** The fields a form refills, listed explicitly so that no password is ever kept. */
const KEPT_FIELDS = new Set([
  "name",
  "email",
  "role",
  "tier",
  "credits",
  "url",
  "events",
  "endpoint",
  "region",
  "bucket",
  "key_pattern",
  "access_key_id",
  "environment",
  "addresses",
  "expires",
  "limits",
  "scope_create",
  "scope_read",
  "scope_delete",
  "scope_webhooks",
]);
/** No form has more fields, or anything longer than a URL. */
const MAX_KEPT_FIELDS = 16;

/** What is kept of a refused form. */
export function typed(action: string, form: URLSearchParams): NonNullable<Flash["typed"]> {
  const kept = [...form].filter(([name]) => KEPT_FIELDS.has(name)).slice(0, MAX_KEPT_FIELDS);
  const fields = kept.map(([name, value]): [string, string] => [
    name,
    value.slice(0, MAX_OUTBOUND_URL_CHARS),
  ]);
  return { action, fields };
}

/** What was typed into the form with this action, if it is the refused one. */
export function typedInto(action: string, flash: Flash): URLSearchParams | undefined {
  return flash.typed?.action === action ? new URLSearchParams(flash.typed.fields) : undefined;
}
