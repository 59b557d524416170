import {
  ConsentListResponse,
  ConsentResponse,
  RecordConsentRequest,
  WithdrawnConsentResponse,
} from "../consent.ts";
import { ALWAYS, answer, EXTERNAL_ID_PARAMETER, pageParameters } from "./answers.ts";
import { refusals } from "./errors.ts";
import { EXAMPLES } from "./examples.ts";

export function listConsents(): object {
  return {
    tags: ["Consent"],
    summary: "List consents",
    description:
      "What is recorded of all players, for both environments, the last changed first. One that is changed while you walk the pages may come again.",
    parameters: pageParameters("consents", "account"),
    responses: {
      "200": answer("A page of consents.", ConsentListResponse, {
        page: { summary: "The only page", value: EXAMPLES.consentList },
      }),
      ...refusals(...ALWAYS, "INVALID_REQUEST"),
    },
  };
}

export function getConsent(): object {
  return {
    tags: ["Consent"],
    summary: "Get a player's consent",
    description:
      "The consent recorded for a player; it applies to both environments. Most players have none.",
    parameters: [EXTERNAL_ID_PARAMETER],
    responses: {
      "200": answer("The consent.", ConsentResponse, {
        given: { summary: "Given until a day, without the full name", value: EXAMPLES.consent },
      }),
      ...refusals(...ALWAYS, "INVALID_REQUEST", "NOT_FOUND"),
    },
  };
}

export function recordConsent(): object {
  return {
    tags: ["Consent"],
    summary: "Record a player's consent",
    description:
      "Records what a player agrees to, in the place of what was recorded before, a withdrawal too. It holds for live and test keys from the next create on: without `photo`, or after `until`, a create is refused with the field that may not be; without `full_name`, the card has the first word of the name and the initial of the last. At the end of `until` everything of the player is deleted as by a withdrawal.",
    parameters: [EXTERNAL_ID_PARAMETER],
    requestBody: {
      required: true,
      description: "`{}` records that everything is allowed.",
      content: {
        "application/json": {
          schema: RecordConsentRequest,
          examples: {
            minor: {
              summary: "Until a day, without the full name",
              value: { full_name: false, until: "2027-06-30" },
            },
          },
        },
      },
    },
    responses: {
      "200": answer("It is recorded.", ConsentResponse, {
        given: { summary: "Given until a day, without the full name", value: EXAMPLES.consent },
      }),
      ...refusals(
        ...ALWAYS,
        "INVALID_REQUEST",
        "PAYLOAD_TOO_LARGE",
        "UNSUPPORTED_MEDIA_TYPE",
        "SERVICE_OVERLOADED",
      ),
    },
  };
}

export function withdrawConsent(): object {
  return {
    tags: ["Consent"],
    summary: "Withdraw a player's consent",
    description:
      "Ends the consent now, also of a player of whom none was recorded: every live and test image is deleted as `DELETE /v1/players/{external_id}` deletes them, your webhooks receive `player.recalled`, and creates of the player are refused until a new consent is recorded. Withdrawing twice is withdrawing once.",
    parameters: [EXTERNAL_ID_PARAMETER],
    responses: {
      "200": answer("The player is recalled.", WithdrawnConsentResponse, {
        withdrawn: { summary: "Withdrawn", value: EXAMPLES.withdrawnConsent },
      }),
      ...refusals(...ALWAYS, "INVALID_REQUEST", "SERVICE_OVERLOADED"),
    },
  };
}
