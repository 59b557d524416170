import type { DetailCode, ErrorCode, Refusal } from "../../core/errors.ts";
import { MAX_BODY_BYTES } from "../../core/limits.ts";
import {
  editionClosed,
  idempotencyKeyReused,
  imageNotFound,
  insufficientCredits,
  internalError,
  invalidApiKey,
  invalidRequest,
  methodNotAllowed,
  nothingAt,
  overloaded,
  parallelFull,
  partnerSuspended,
  payloadTooLarge,
  pictureGone,
  rateLimitExceeded,
  scopeMissing,
  serialTaken,
  setInUse,
  sourceAnswered,
  unsupportedMediaType,
  unsupportedSource,
} from "../../core/partner-refusals.ts";
import { PHOTO_REFUSALS } from "../../core/photo-refusals.ts";
import type { FAILURE_CODES } from "../schemas.ts";

export type FailureCode = (typeof FAILURE_CODES)[number];

/** What the documentation says about a code. Texts are Markdown. */
export interface ErrorText {
  /** A few words for lists. */
  summary: string;
  meaning: string;
  /** What to do, most likely remedy first. */
  remedies: string[];
  /** Whether the same request may succeed later. */
  retry: "no" | "after Retry-After" | "with back-off";
  /** The message a real answer carries. */
  example: Pick<Refusal, "message"> & Partial<Pick<Refusal, "details" | "credits">>;
}

export const ERROR_TEXTS: Record<ErrorCode | FailureCode, ErrorText> = {
  INVALID_REQUEST: {
    summary: "A field, header or query parameter breaks a rule",
    meaning:
      'Something in the request is missing, of the wrong type, out of bounds or unknown. Types are strict: `"9"` is not `9`, and `null` is not an absent field. Nothing was reserved, and the `Idempotency-Key` is still free.',
    remedies: [
      "Read `error.details`: it lists every broken field with the rule and what to send instead.",
      "Where `details` has a `code`, the request is well formed and a state forbids it: `consent_withdrawn`, `consent_ended` and `no_photo_consent` are a player's [consent](/docs/data-protection#consent), `still_processing` is a card to wait for, `already_published` one that everybody sees.",
      "Compare your body with [the reference](/docs/reference#create-image). Fields that are not listed there are refused, so that a typing mistake never goes unnoticed.",
      "A cursor in `after` works only with the same `status` filter and the same kind of key it came from.",
    ],
    retry: "no",
    example: invalidRequest([
      { field: "player.number", message: 'must be a whole number from 1 to 99; got "9".' },
    ]),
  },
  INVALID_API_KEY: {
    summary: "The key is missing, malformed or revoked",
    meaning:
      "The `X-API-Key` header is missing, or it does not contain a valid key for this service. A revoked key is refused from its very next request on.",
    remedies: [
      "Send the whole key, with its prefix `sk_live_` or `sk_test_`, in the `X-API-Key` header, without quotes or spaces.",
      "If the key was lost or revoked, make a new one in the [console](/console). Keys are shown once only.",
      "Too many refused keys from one address in a minute are answered with [429](/docs/errors/RATE_LIMIT_EXCEEDED).",
    ],
    retry: "no",
    example: invalidApiKey("unknown"),
  },
  INSUFFICIENT_CREDITS: {
    summary: "The account has no credits left",
    meaning:
      "A live image needs one free credit when it is accepted, and there is none. Credits held by images still being made come back when an image fails.",
    remedies: [
      "Read `error.credits`: `needed`, `remaining`, and `renews_at`, when the plan's next credits come. [`GET /v1/usage`](/docs/reference#get-usage) has `credits_remaining` at any time.",
      "A batch is accepted whole or not at all: one of at most `remaining` cards fits.",
      "Wait for the next month's credits, which come at 00:00 UTC on the 1st, or ask for a top-up.",
      "Subscribe to the [`credits.low` webhook](/docs/webhooks#events): it tells you when a fifth is left.",
      "Develop with a test key, which never uses credits.",
    ],
    retry: "no",
    example: insufficientCredits(1000, Date.UTC(2026, 10, 21), { needed: 25, left: 12 }),
  },
  PARTNER_SUSPENDED: {
    summary: "The account is suspended",
    meaning:
      "The key is right, but its account has been suspended. Every request is refused until it is resumed. Finished pictures stay where they are until they expire.",
    remedies: [
      "Write to the operator of this service. Your keys work again as soon as the account is resumed.",
    ],
    retry: "no",
    example: partnerSuspended(),
  },
  KEY_NOT_ALLOWED: {
    summary: "The key may not do this",
    meaning:
      "The key is right, but lacks the scope that the call needs, or may not be used from the caller's address. For a [picture on demand](/docs/on-demand) it means that the signature does not match: the address was changed, or signed with another secret; `details[].code` is then `signature_mismatch` or `signing_key_unknown`.",
    remedies: [
      "Use another key of the account, or make one with the scope in the console: scopes and addresses of a key never change.",
      "Is the address wrong? It is the one that the service sees, after your own proxies.",
      "Is it the signature? Sign every parameter, `w` too, with the newest signing secret of the key named by `key`.",
    ],
    retry: "no",
    example: scopeMissing("delete"),
  },
  IMAGE_NOT_FOUND: {
    summary: "No image with this id for this key",
    meaning:
      "The id is unknown, or belongs to another account or to the other environment. An image made with a test key cannot be read with a live key.",
    remedies: [
      "Check that the id is complete: `img_` followed by letters and digits.",
      "Use a key of the account and environment that created the image.",
    ],
    retry: "no",
    example: imageNotFound(),
  },
  NOT_FOUND: {
    summary: "Nothing at this address",
    meaning: "The path is not one of this service, or no finished picture has this name.",
    remedies: [
      "Check the path: the API lives under `/v1`, and [the reference](/docs/reference) lists every address.",
      "Take a picture's address whole from `result.image_url`.",
    ],
    retry: "no",
    example: nothingAt("/v2/images"),
  },
  PICTURE_GONE: {
    summary: "The picture expired or was deleted",
    meaning:
      "There was a finished picture at this address, and it will not come back: its `expires_at` has passed, or the account it belonged to had it deleted. The address of a [picture on demand](/docs/on-demand) may also have expired by its `exp`: then `details[].code` is `address_expired`.",
    remedies: [
      "Pictures are served until their `expires_at`. Store them before, or create the image again.",
      "If `exp` of a signed address has passed, sign a new address: the card is still found by its content.",
      "If it was [deleted](/docs/data-protection), remove it from where you show it, and from your own copies.",
    ],
    retry: "no",
    example: pictureGone("expired"),
  },
  METHOD_NOT_ALLOWED: {
    summary: "The address does not take this method",
    meaning:
      "The path is right, but it does not answer this method. The `Allow` header lists the methods it does answer.",
    remedies: [
      "An image is changed by making another: `POST /v1/images/{image_id}/remake`. `GET` reads one, `DELETE` deletes it.",
      "Check whether a proxy or a redirect turned your POST into a GET.",
    ],
    retry: "no",
    example: methodNotAllowed(["GET", "POST"]),
  },
  IDEMPOTENCY_KEY_REUSED_WITH_DIFFERENT_PAYLOAD: {
    summary: "The idempotency key was used with another body",
    meaning:
      "This `Idempotency-Key` already made an image, a batch or a set, from a different body. To protect you from a mix-up nothing was made.",
    remedies: [
      "For something else, send a new key.",
      "For a retry, send exactly the body you sent first. White space and the order of fields do not matter, values do.",
      "Do not build keys from things that repeat, such as the player's id alone. See [idempotency](/docs/idempotency).",
    ],
    retry: "no",
    example: idempotencyKeyReused(),
  },
  SERIAL_TAKEN: {
    summary: "Another card has this number",
    meaning:
      "The number of the set that was asked for belongs to another card of the same player and parallel, made or being made. Numbers are never given twice. Nothing was reserved.",
    remedies: [
      "Leave `set.serial` out: the card gets the lowest number that is free.",
      "Look at the [checklist](/docs/sets) for how many there are of each player.",
      "To make a card again with its own number, remake the card that has it now.",
    ],
    retry: "no",
    example: serialTaken([
      {
        field: "set.serial",
        message: "is taken: another card has 7 of 50. Ask for another number, or for none.",
      },
    ]),
  },
  PARALLEL_FULL: {
    summary: "The player has all cards of the parallel",
    meaning:
      "A parallel has as many cards of each player as its size says, and all of this player's are made or being made. A card that fails gives its number back. Nothing was reserved.",
    remedies: [
      "Choose another parallel of the set.",
      "A set never changes: for more cards make another set, such as a second series.",
    ],
    retry: "no",
    example: parallelFull([
      { field: "set.parallel", message: 'is full: the player has all 50 cards of "gold".' },
    ]),
  },
  EDITION_CLOSED: {
    summary: "The edition is closed",
    meaning:
      "The parallel is an open edition, and its `closes_at` has passed: no card can be added any more. Cards that were accepted before keep their numbers, also those still being made. Nothing was reserved.",
    remedies: [
      "Choose another parallel of the set, or make another set: a set never changes.",
      "To change a card that is made, [remake](/docs/card-options#make-a-card-again) it: it keeps its number.",
    ],
    retry: "no",
    example: editionClosed([
      {
        field: "set.parallel",
        message: 'is closed: no card of "match day" can be added since 2026-11-28T22:00:00.000Z.',
      },
    ]),
  },
  SET_IN_USE: {
    summary: "Cards of this set were made",
    meaning: "A set of which cards were made stays, since they refer to it and to its numbers.",
    remedies: [
      "Leave it as it is: a set costs nothing.",
      "Delete its images if nobody may see them any more.",
    ],
    retry: "no",
    example: setInUse(),
  },
  PAYLOAD_TOO_LARGE: {
    summary: "The body is too large",
    meaning:
      "The body of a request may have 64 KB, where real ones have less than two; that of a batch 4 MB, an uploaded photo 15 MB. Nothing of it was kept.",
    remedies: [
      "Send the photo's address in `player.source_image_url`, never the photo itself.",
      "Save a photo that you send to `POST /v1/photos` smaller or with stronger compression.",
    ],
    retry: "no",
    example: payloadTooLarge(MAX_BODY_BYTES),
  },
  UNSUPPORTED_MEDIA_TYPE: {
    summary: "The body is not announced as what is expected",
    meaning:
      "Bodies are plain JSON in UTF-8 and must say so; only `POST /v1/photos` takes a form, `multipart/form-data`.",
    remedies: [
      "Send the header `Content-Type: application/json`.",
      "Send the body uncompressed, without a `Content-Encoding` header.",
      "With curl, `-d` alone sends a form: add `-H 'Content-Type: application/json'`, or use `--json`.",
      "A photo is the field `file` of a form: with curl `-F file=@player.jpg`.",
    ],
    retry: "no",
    example: unsupportedMediaType("Content-Type"),
  },
  UNSUPPORTED_IMAGE_SOURCE: {
    summary: "The photo or badge cannot be used",
    meaning:
      "The photo (or the badge) was fetched while you waited, and it was unreachable, of another format than JPEG, PNG or WebP, damaged, too large, or too small. Nothing was reserved, and the `Idempotency-Key` is still free.",
    remedies: [
      "Open the address in a private browser window: it must show the picture without a login.",
      "Check the limits: at most 15 MB and 40 megapixels, at least 200 pixels on the short side; badges at most 5 MB and 4 megapixels. The format is read from the content, not by the name.",
      "The address must begin with `https://`, lead to a public host, answer within 10 seconds and redirect at most 3 times.",
      "Presigned addresses must stay valid for a minute or so.",
    ],
    retry: "no",
    example: unsupportedSource("photo", sourceAnswered(404)),
  },
  RATE_LIMIT_EXCEEDED: {
    summary: "Too many requests in this minute",
    meaning:
      "The account's budget of requests for this minute and environment is spent. Nothing else happened, and the `Idempotency-Key` is still free.",
    remedies: [
      "Wait for the seconds in `Retry-After`, then send the same request again.",
      "Use [webhooks](/docs/webhooks) instead of polling, or poll no more often than once a second.",
      "If the message speaks of GB: the account has had as many photos fetched as it may in a day, or as many test pictures of new sizes drawn. Send smaller photos, or fewer different sizes, and go on after midnight UTC. See [photos](/docs/photos).",
      "If the message speaks of a key: one client address may send 60 requests a minute without a key that is in force. Check the `X-API-Key` header.",
      "Watch `X-RateLimit-Remaining` to slow down in time. See [rate limits](/docs/rate-limits).",
    ],
    retry: "after Retry-After",
    example: rateLimitExceeded(120, 24),
  },
  INTERNAL_ERROR: {
    summary: "A fault on our side",
    meaning: "Something went wrong that is not your fault. It has been logged under the `request_id`.",
    remedies: [
      "Send the request again with the same `Idempotency-Key`: if the first one did go through, you get its answer, and never a second image.",
      "If it keeps failing, send the operator the `request_id`.",
    ],
    retry: "with back-off",
    example: internalError(),
  },
  SERVICE_OVERLOADED: {
    summary: "More work than can be finished soon",
    meaning:
      "So much of your account already waits that one image more could not be finished within two minutes, too many of your photos are being fetched at once, or the service is short of storage or connections. Accounts take turns, so another one's queue does not hold yours up. Nothing was reserved, and the `Idempotency-Key` is still free.",
    remedies: ["Send the same request again after the seconds in `Retry-After`."],
    retry: "after Retry-After",
    example: overloaded(30),
  },
  IMAGE_PROCESSING_FAILED: {
    summary: "The image was accepted but could not be made",
    meaning:
      "This is not an HTTP error: it is the `failure.code` of an image whose `status` is `failed`, and it is answered with 200. The reserved credit has been given back.",
    remedies: [
      "Switch on `failure.reason`, which is one of the [reasons below](#reasons), and show `failure.hint` or `failure.message` to the person who sent the photo.",
      "The photo at fault? The message says what is wrong with it: nobody or several people, a cut face, too small, too blurred, too dark, sideways. Choose one in which one person's face and upper body are clear. See [photos that work well](/docs/photos).",
      "A fault on our side? It was tried five times already. Create the image again with a **new** `Idempotency-Key`: the old one keeps answering with the failed image.",
    ],
    retry: "no",
    example: { message: PHOTO_REFUSALS.no_player },
  },
};

/** What `details[].code` says, and with which code it comes. */
export const DETAIL_TEXTS: Record<DetailCode, { of: ErrorCode; meaning: string }> = {
  consent_withdrawn: {
    of: "INVALID_REQUEST",
    meaning: "The player has withdrawn [consent](/docs/data-protection#consent).",
  },
  consent_ended: { of: "INVALID_REQUEST", meaning: "The player's consent was until a day that is over." },
  no_photo_consent: { of: "INVALID_REQUEST", meaning: "No photo of the player may be used." },
  still_processing: {
    of: "INVALID_REQUEST",
    meaning: "The card is being made: send the same request once it has ended.",
  },
  already_published: {
    of: "INVALID_REQUEST",
    meaning:
      "The card is [published](/docs/cards-on-a-page#publish-later), and cannot be put off any more. Delete it to take it down.",
  },
  signature_mismatch: {
    of: "KEY_NOT_ALLOWED",
    meaning: "The address of a [picture on demand](/docs/on-demand) is not as it was signed.",
  },
  signing_key_unknown: {
    of: "KEY_NOT_ALLOWED",
    meaning: "The key that signed the address is unknown, revoked, expired, or has no signing secret.",
  },
  address_expired: {
    of: "PICTURE_GONE",
    meaning:
      "The second in `exp` of the address has passed. The card itself may still be there: sign a new address.",
  },
};
