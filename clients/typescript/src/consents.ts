import type { components } from "./schema.d.ts";
import type { CallOptions, Transport } from "./transport.ts";
import { walk } from "./walk.ts";

type Schemas = components["schemas"];

export type PlayerConsent = Schemas["PlayerConsent"];

/** The calls of what players agree to, which every create obeys. */
export function consents(calls: Transport) {
  const of = (externalId: string) => ({
    path: "/v1/players/{external_id}/consent" as const,
    params: { external_id: externalId },
  });
  return {
    /** What is recorded of all players, the last changed first, page by page as you walk. */
    list: (call: CallOptions = {}) =>
      walk(
        calls,
        { path: "/v1/consents", ...call },
        (page: Schemas["ConsentList"]): PlayerConsent[] => page.consents,
      ),
    /** Throws NOT_FOUND of a player of whom nothing is recorded. */
    get: (externalId: string, call: CallOptions = {}): Promise<PlayerConsent> =>
      calls.call({ method: "GET", ...of(externalId), ...call }),
    /** Takes the place of what was recorded before, a withdrawal too. */
    record: (
      externalId: string,
      terms: Schemas["RecordConsentRequest"] = {},
      call: CallOptions = {},
    ): Promise<PlayerConsent> => calls.call({ method: "POST", ...of(externalId), body: terms, ...call }),
    /** Deletes everything of the player, and has creates of theirs refused from then on. */
    withdraw: (externalId: string, call: CallOptions = {}): Promise<Schemas["WithdrawnConsent"]> =>
      calls.call({ method: "DELETE", ...of(externalId), ...call }),
  };
}
