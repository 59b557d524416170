import { type ErrorDetail, Refusal } from "./errors.ts";
import { type KeyScope, SCOPE_MEANINGS } from "./key-rules.ts";
import { FETCH_RETRY_SECONDS } from "./outbound-limits.ts";
import { nextMonth } from "./time.ts";

// The texts partners see, in one place: the service refuses with them, the documentation shows them as
// examples, and the sandbox answers with them.

/**
 * Names the first few broken fields in its message, and all of them in its details, of which there are at
 * most a hundred.
 */
export function invalidRequest(details: ErrorDetail[]): Refusal {
  const sentences = details.slice(0, 3).map(({ field, message }) => `${field} ${message}`);
  const shown = sentences.join(" ");
  const rest = details.length > 3 ? ` (and ${details.length - 3} more: see details)` : "";
  return new Refusal("INVALID_REQUEST", shown + rest, { details });
}

const KEY_REFUSALS = {
  missing:
    "The X-API-Key header is missing. Send your key in it, not in Authorization; keys are made in the console.",
  malformed:
    "The X-API-Key header holds no whole key: one begins with sk_live_ or sk_test_, and 49 letters and digits follow. Copy it again, or make a new one in the console.",
  unknown: "The key in the X-API-Key header is unknown, revoked or expired. Make a new one in the console.",
};

/**
 * Distinguishes a missing from a mistyped key, which anyone could tell by the checksum, but not an unknown
 * from a revoked one.
 */
export function invalidApiKey(reason: keyof typeof KEY_REFUSALS): Refusal {
  return new Refusal("INVALID_API_KEY", KEY_REFUSALS[reason]);
}

/**
 * `comingCredits`: the plan's credits at the start of the month after `now`; `batch`: set when many are
 * needed at once.
 */
export function insufficientCredits(
  comingCredits: number,
  now: number,
  batch?: { needed: number; left: number },
): Refusal {
  const remedy =
    comingCredits > 0
      ? `The next month brings ${comingCredits}: wait for them, ask for a top-up, or use a test key, which costs nothing.`
      : "Ask for a top-up, or use a test key, which costs nothing.";
  const lack = batch
    ? `The batch needs ${batch.needed} credits and the account has ${batch.left}. Nothing was reserved.`
    : "The account has no credits left.";
  return new Refusal("INSUFFICIENT_CREDITS", `${lack} ${remedy}`, {
    credits: {
      needed: batch?.needed ?? 1,
      remaining: batch?.left ?? 0,
      renewsAt: comingCredits > 0 ? nextMonth(now) : null,
    },
  });
}

export function partnerSuspended(): Refusal {
  return new Refusal(
    "PARTNER_SUSPENDED",
    "The account of this key is suspended. Its images stay; write to the operator of this service to have it resumed.",
  );
}

/** For a key in force that may not do this. */
export function scopeMissing(scope: KeyScope): Refusal {
  return new Refusal(
    "KEY_NOT_ALLOWED",
    `This key lacks the scope "${scope}": it may not ${SCOPE_MEANINGS[scope]}. Use a key that has it, or make one in the console.`,
  );
}

/** For a key in force that is used from elsewhere. */
export function addressNotAllowed(address: string): Refusal {
  return new Refusal(
    "KEY_NOT_ALLOWED",
    `This key may not be used from ${address}. Send from one of its addresses, or make a key for this one in the console.`,
  );
}

const ADDRESS_REFUSALS = {
  signature: {
    code: "KEY_NOT_ALLOWED",
    detail: { field: "query sig", code: "signature_mismatch", message: "does not match the address." },
    message:
      "The address is not signed by its key, or was changed after it was signed. Sign its path and all its parameters but sig, sorted by name, with the key's signing secret.",
  },
  key: {
    code: "KEY_NOT_ALLOWED",
    detail: { field: "query key", code: "signing_key_unknown", message: "is not a key that signs." },
    message:
      "The key that this address names is unknown, revoked or expired, or has no signing secret. Sign it with a key in force.",
  },
  expired: {
    code: "PICTURE_GONE",
    detail: { field: "query exp", code: "address_expired", message: "has passed." },
    message: "This address has expired: exp is the second at which it did. Sign a new one.",
  },
} as const;

/** For a signed address that is not, or no longer, good. */
export function badAddress(why: keyof typeof ADDRESS_REFUSALS): Refusal {
  const { code, message, detail } = ADDRESS_REFUSALS[why];
  return new Refusal(code, message, { details: [detail] });
}

export function imageNotFound(): Refusal {
  return new Refusal(
    "IMAGE_NOT_FOUND",
    "There is no image with this id for this key. Check the id, and that the key is of the same account and environment as the one that created it.",
  );
}

/** For a time of publication of a card that everybody sees already. */
export function alreadyPublished(): Refusal {
  return invalidRequest([
    {
      field: "publish_at",
      code: "already_published",
      message: "cannot be changed: the card is published. Delete it to take it down.",
    },
  ]);
}

const GONE = {
  expired:
    "has expired. Pictures are kept until their expires_at; store them before, or create the image again.",
  deleted: "was deleted by the account it belonged to. Take it down wherever you show it.",
};

/** For a finished picture that once existed and will not come back. */
export function pictureGone(why: keyof typeof GONE): Refusal {
  return new Refusal("PICTURE_GONE", `This picture ${GONE[why]}`);
}

/** The first of the places that tell why, as a sentence. */
function conflict(
  code: "SERIAL_TAKEN" | "PARALLEL_FULL" | "EDITION_CLOSED",
  details: ErrorDetail[],
): Refusal {
  const [first] = details;
  const rest = details.length > 1 ? ` (and ${details.length - 1} more: see details)` : "";
  return new Refusal(code, `${first?.field} ${first?.message} Nothing was reserved.${rest}`, { details });
}

/** For numbers of a set that other cards have. */
export function serialTaken(details: ErrorDetail[]): Refusal {
  return conflict("SERIAL_TAKEN", details);
}

/** For players who have all cards of a parallel. */
export function parallelFull(details: ErrorDetail[]): Refusal {
  return conflict("PARALLEL_FULL", details);
}

/** For cards of an open edition whose time is over. */
export function editionClosed(details: ErrorDetail[]): Refusal {
  return conflict("EDITION_CLOSED", details);
}

export function setInUse(): Refusal {
  return new Refusal(
    "SET_IN_USE",
    "Cards of this set were made, and refer to it: it stays. Only a set without cards can be deleted.",
  );
}

export function setNotFound(): Refusal {
  return new Refusal(
    "NOT_FOUND",
    "There is no set with this id for this key. Check the id, and that the key is of the same account and environment as the one that created it.",
  );
}

export function batchNotFound(): Refusal {
  return new Refusal(
    "NOT_FOUND",
    "There is no batch with this id for this key. Check the id, and that the key is of the same account and environment as the one that created it.",
  );
}

/** `failure.message` of a card whose batch was canceled before rendering began. */
export const CANCELED_MESSAGE = "The batch was canceled before this card was made. Nothing was charged.";

export function nothingAt(path: string): Refusal {
  return new Refusal(
    "NOT_FOUND",
    `There is nothing at ${path.slice(0, 200)}. The API's addresses begin with /v1/, such as /v1/images; all of them are listed under /docs.`,
  );
}

export function methodNotAllowed(methods: readonly string[]): Refusal {
  return new Refusal(
    "METHOD_NOT_ALLOWED",
    `This address answers ${methods.join(" and ")} only. Check the method.`,
  );
}

export function idempotencyKeyReused(): Refusal {
  return new Refusal(
    "IDEMPOTENCY_KEY_REUSED_WITH_DIFFERENT_PAYLOAD",
    "This Idempotency-Key was used with a different body. Send the same body to get the first answer again, or a new key for another request.",
    { details: [{ field: "header Idempotency-Key", message: "was used with a different body." }] },
  );
}

const SEND_ADDRESS = "Send the photo's address, not the photo; POST /v1/photos takes photos.";

export function payloadTooLarge(maxBytes: number, remedy = SEND_ADDRESS): Refusal {
  const size = maxBytes < 1024 ** 2 ? `${maxBytes / 1024} KB` : `${Math.floor(maxBytes / 1024 ** 2)} MB`;
  const message = `must be at most ${size}. ${remedy}`;
  return new Refusal("PAYLOAD_TOO_LARGE", `The body ${message}`, { details: [{ field: "body", message }] });
}

const MEDIA_REFUSALS = {
  "Content-Type": "must be application/json (in UTF-8).",
  "Content-Type of an upload": 'must be multipart/form-data, with the photo as its field "file".',
  "Content-Encoding": "must be left out: send the body uncompressed.",
};

export function unsupportedMediaType(header: keyof typeof MEDIA_REFUSALS): Refusal {
  const message = MEDIA_REFUSALS[header];
  const [name] = header.split(" ");
  return new Refusal("UNSUPPORTED_MEDIA_TYPE", `The ${name} header ${message}`, {
    details: [{ field: `header ${name}`, message }],
  });
}

/** Where each source stands in a create. */
export const SOURCE_FIELDS = { photo: "player.source_image_url", badge: "branding.club_badge_url" };

/** A kind of source, or the own field of a preset that a picture stands in. */
export type SourceNoun = keyof typeof SOURCE_FIELDS | { field: string };

export function unsupportedSource(noun: SourceNoun, reason: string, cause?: unknown): Refusal {
  const [word, field] = typeof noun === "string" ? [noun, SOURCE_FIELDS[noun]] : ["picture", noun.field];
  return new Refusal("UNSUPPORTED_IMAGE_SOURCE", `The ${word} in ${field} cannot be used. ${reason}`, {
    details: [{ field, message: reason }],
    cause,
  });
}

/** Why a source was refused whose server answered a status other than 200. */
export function sourceAnswered(status: number): string {
  return status === 429 || status >= 500
    ? `The address answered ${status}. Try again later, or host it elsewhere.`
    : `The address answered ${status}. Check that it is public and opens in a private browser window.`;
}

export function rateLimitExceeded(limit: number, seconds: number): Refusal {
  return new Refusal(
    "RATE_LIMIT_EXCEEDED",
    `More than ${limit} requests in a minute. Wait ${seconds} s, then go on; spread polling out, or use webhooks instead.`,
    { retryAfterSeconds: seconds },
  );
}

/** For a client address that keeps sending requests without a valid key. */
export function tooManyRefusedKeys(limit: number, seconds: number): Refusal {
  return new Refusal(
    "RATE_LIMIT_EXCEEDED",
    `More than ${limit} requests in a minute without a key that is in force, from one address. Check the X-API-Key header, and wait ${seconds} s.`,
    { retryAfterSeconds: seconds },
  );
}

/** `what`: the kind of bytes of which the account has used up today's share. */
export function dailyBytesSpent(limitBytes: number, what: string, seconds: number): Refusal {
  return new Refusal(
    "RATE_LIMIT_EXCEEDED",
    `This account has reached today's limit of ${limitBytes / 1024 ** 3} GB of ${what}. Send smaller files or fewer sizes, and go on after 00:00 UTC; Retry-After says in how many seconds.`,
    { retryAfterSeconds: seconds },
  );
}

/** For unforeseen faults; reveals nothing about the cause. */
export function internalError(cause?: unknown): Refusal<"INTERNAL_ERROR"> {
  return new Refusal(
    "INTERNAL_ERROR",
    "Something went wrong on our side. Send the request again with the same Idempotency-Key; if it keeps failing, send us the request_id.",
    { cause },
  );
}

export function overloaded(seconds: number): Refusal {
  return new Refusal(
    "SERVICE_OVERLOADED",
    "The service has more work than it can finish soon. Nothing was reserved; send the same request again after the time in Retry-After.",
    { retryAfterSeconds: seconds },
  );
}

const NO_FETCH_SLOT = {
  account: "Too many photos of this account are being fetched at once.",
  busy: "Too many photos are being fetched at the moment.",
  stopping: "The service is stopping.",
};

/** For a photo that could not be fetched for want of a slot, through no fault of its host. */
export function noFetchSlot(why: keyof typeof NO_FETCH_SLOT): Refusal {
  return new Refusal(
    "SERVICE_OVERLOADED",
    `${NO_FETCH_SLOT[why]} Nothing was reserved; send the same request again in a few seconds.`,
    { retryAfterSeconds: FETCH_RETRY_SECONDS },
  );
}

/** For a disk with no room for another picture. */
export function diskLow(seconds: number): Refusal {
  return new Refusal(
    "SERVICE_OVERLOADED",
    "The service has no room for another picture right now. Nothing was reserved; send the same request again after the time in Retry-After.",
    { retryAfterSeconds: seconds },
  );
}

/** For a store that can be neither read nor written. */
export function storageUnavailable(seconds: number, cause: unknown): Refusal<"SERVICE_OVERLOADED"> {
  return new Refusal(
    "SERVICE_OVERLOADED",
    "The service cannot read or store anything right now. Try again later.",
    { retryAfterSeconds: seconds, cause },
  );
}

/** `failure.message` of an image whose renders all failed through our own fault. */
export const RENDER_FAULT_MESSAGE =
  "The image could not be rendered because of a fault on our side. Nothing was charged; send the request again with a new Idempotency-Key.";

/** `failure.message` of an image whose photo was lost while it waited. */
export const PHOTO_LOST_MESSAGE =
  "The photo was lost on our side before the card was made. Nothing was charged; send the request again with a new Idempotency-Key.";
