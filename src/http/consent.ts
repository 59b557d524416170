import { type Static, Type } from "@sinclair/typebox";
import type { ForgetDeps } from "../app/images/forget-image.ts";
import { consentView, recordConsent, withdrawConsent } from "../app/people/consent.ts";
import { formatConsentPosition, parseConsentPosition } from "../core/consent-position.ts";
import { Refusal } from "../core/errors.ts";
import { MAX_LIST_LIMIT } from "../core/limits.ts";
import { invalidRequest } from "../core/partner-refusals.ts";
import { StringEnum } from "../core/string-enum.ts";
import { endOfDay } from "../core/time.ts";
import { compileValidator } from "../core/validate.ts";
import { consentOf, listConsents } from "../store/people/consents.ts";
import type { Caller, PartnerHandler } from "./auth.ts";
import { readJson, requireJsonType } from "./body.ts";
import { pageOf } from "./cursor.ts";
import { success } from "./envelope.ts";
import type { Exchange } from "./exchange.ts";
import { checkExternalId } from "./forget.ts";
import { nextPage } from "./page-schema.ts";
import { readLimit, readQuery } from "./query.ts";
import { successEnvelope, time, timeOrNull } from "./schemas.ts";

const closed = { additionalProperties: false } as const;

/** A day such as 2027-06-30, or a moment of one with its zone. */
const MOMENT = "^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,9})?)?(Z|[+-]\\d{2}:\\d{2}))?$";

/** What POST /v1/players/{external_id}/consent takes. */
export const RecordConsentRequest = Type.Object(
  {
    photo: Type.Optional(
      Type.Boolean({
        default: true,
        description: "Whether photos of the player may be used.",
        examples: [true],
      }),
    ),
    full_name: Type.Optional(
      Type.Boolean({
        default: true,
        description:
          "Whether the whole name may stand on a card; if not, the first word and the initial of the last do.",
        examples: [false],
      }),
    ),
    until: Type.Optional(
      Type.Union([Type.String({ pattern: MOMENT }), Type.Null()], {
        default: null,
        description:
          "When the consent ends, in the future: a day, at whose end in UTC it does, or a moment in ISO 8601. Without it, it holds until it is withdrawn.",
        examples: ["2027-06-30"],
      }),
    ),
  },
  { ...closed, $id: "RecordConsentRequest", description: "What a player agrees to." },
);

const Consent = Type.Object(
  {
    external_id: Type.String({ description: "Your identifier of the player.", examples: ["player-10442"] }),
    status: StringEnum(["given", "ended", "withdrawn"], {
      description: "Cards of the player are made only while it is `given` and `photo` is true.",
    }),
    photo: Type.Boolean({ description: "Whether photos may be used." }),
    full_name: Type.Boolean({ description: "Whether the whole name may stand on a card." }),
    until: timeOrNull("When it ends or ended; null for no end."),
    withdrawn_at: timeOrNull("When it was withdrawn; null if it was not."),
    recalled_at: timeOrNull("When everything of the player was deleted after its end; null before."),
    updated_at: time("When it was last recorded or withdrawn.", "2026-11-21T10:00:00.000Z"),
  },
  { ...closed, $id: "PlayerConsent", description: "What a player agrees to." },
);

export const ConsentResponse = successEnvelope(Consent, "ConsentResponse");

export const ConsentListResponse = successEnvelope(
  Type.Object(
    {
      consents: Type.Array(Consent, { maxItems: MAX_LIST_LIMIT, description: "The last changed first." }),
      ...nextPage,
    },
    { ...closed, $id: "ConsentList", description: "A page of consents." },
  ),
  "ConsentListResponse",
);

export const WithdrawnConsentResponse = successEnvelope(
  Type.Object(
    {
      ...Consent.properties,
      images_deleted: Type.Integer({
        minimum: 0,
        description: "How many images of the player were deleted, live and test.",
        examples: [3],
      }),
    },
    { ...closed, $id: "WithdrawnConsent", description: "A consent that ended, and what was deleted for it." },
  ),
  "WithdrawnConsentResponse",
);

const validator = compileValidator(RecordConsentRequest, "body");

/** The handlers of the routes of consents. */
export function consentHandlers<Open>(deps: ForgetDeps, partner: (handler: PartnerHandler) => Open) {
  const of = (handler: (deps: ForgetDeps, handled: Handled) => Promise<Response>) =>
    partner((exchange, caller, { external_id: externalId = "" }) =>
      handler(deps, { exchange, caller, externalId }),
    );
  return {
    listConsents: partner((exchange, caller) => listConsentsPage(deps, exchange, caller)),
    getConsent: of(getConsent),
    recordConsent: of(postConsent),
    withdrawConsent: of(deleteConsent),
  };
}

interface Handled {
  exchange: Exchange;
  caller: Caller;
  externalId: string;
}

/** One consent holds for live and test images, so that a test key must not change it. */
function requireLive({ caller: { environment } }: Handled): void {
  if (environment !== "live")
    throw new Refusal(
      "KEY_NOT_ALLOWED",
      "A test key cannot record or withdraw a consent, which holds for live images too and may delete them. Use a live key.",
    );
}

/** GET /v1/consents */
async function listConsentsPage(
  { store, clock }: ForgetDeps,
  exchange: Exchange,
  { account }: Caller,
): Promise<Response> {
  const { values, details } = readQuery(exchange.url, ["limit", "after"]);
  const limit = readLimit(values.limit, details);
  const after = values.after === undefined ? undefined : parseConsentPosition(values.after);
  if (values.after !== undefined && !after)
    details.push({ field: "query after", message: "must be the next_cursor of an answer to this query." });
  if (details.length > 0) throw invalidRequest(details);
  const found = await listConsents(store.read, { accountId: account.id, after, limit: limit + 1 });
  const { items, ...page } = pageOf(found, limit, (last) => formatConsentPosition(last));
  return success(exchange, {
    consents: items.map((consent) => consentView(consent, clock.now())),
    ...page,
  });
}

/** GET /v1/players/{external_id}/consent */
async function getConsent(
  { store, clock }: ForgetDeps,
  { exchange, caller, externalId }: Handled,
): Promise<Response> {
  checkExternalId(externalId);
  const consent = await consentOf(store.read, { accountId: caller.account.id, externalId });
  if (!consent)
    throw new Refusal(
      "NOT_FOUND",
      "No consent of this player is recorded, so nothing is held back. Check the id; it is your own one, percent-encoded.",
    );
  return success(exchange, consentView(consent, clock.now()));
}

/** POST /v1/players/{external_id}/consent */
async function postConsent(deps: ForgetDeps, handled: Handled): Promise<Response> {
  requireLive(handled);
  const { exchange, caller, externalId } = handled;
  requireJsonType(exchange.request);
  checkExternalId(externalId);
  const checked = validator.check(await readJson(exchange.request));
  if (!checked.ok) throw invalidRequest(checked.details);
  const {
    photo = true,
    full_name: fullName = true,
    until = null,
  }: Static<typeof RecordConsentRequest> = checked.value;
  const player = { accountId: caller.account.id, externalId };
  const terms = { photo, fullName, endsAt: until === null ? null : endOf(until) };
  const consent = await recordConsent(deps, player, terms, null);
  return success(exchange, consentView(consent, deps.clock.now()));
}

/** Throws INVALID_REQUEST for a day that no calendar has. */
function endOf(until: string): number {
  const lastOfDay = endOfDay(until.slice(0, 10));
  const at = until.includes("T") ? Date.parse(until) : lastOfDay;
  if (Number.isNaN(at + lastOfDay))
    throw invalidRequest([{ field: "until", message: "is a day that no calendar has." }]);
  return at;
}

/** DELETE /v1/players/{external_id}/consent */
async function deleteConsent(deps: ForgetDeps, handled: Handled): Promise<Response> {
  requireLive(handled);
  const { exchange, caller, externalId } = handled;
  checkExternalId(externalId);
  const player = { accountId: caller.account.id, externalId };
  const { consent, images } = await withdrawConsent(deps, player, null);
  return success(exchange, { ...consentView(consent, deps.clock.now()), images_deleted: images });
}
