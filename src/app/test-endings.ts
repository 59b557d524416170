import { AppError } from "../core/errors.ts";
import { PHOTO_REFUSALS } from "../core/photo-refusals.ts";

/** How an image made with a test key ends. Chosen by `player.external_id`, so that partners can test every path. */
export type TestEnding = { kind: "completed"; afterMs: number } | { kind: "failed"; message: string };

/** Long enough to watch polling and progress work, short enough for a test suite. */
const SLOW_MS = 10_000;

export const PROVIDER_MESSAGE =
  "The image could not be rendered because of a fault on our side. Nothing was charged; send the request again with a new Idempotency-Key.";

export const PHOTO_LOST_MESSAGE =
  "The photo was lost on our side before the card was made. Nothing was charged; send the request again with a new Idempotency-Key.";

/** What asks for each way a photo can be refused: `test_fail_no_player`, `test_fail_sideways` and so on. */
const REFUSED_PHOTOS = new Map<string, string>(
  Object.entries(PHOTO_REFUSALS).map(([reason, message]) => [`test_fail_${reason}`, message]),
);

export function testEnding(externalId: string): TestEnding {
  const refusal = REFUSED_PHOTOS.get(externalId);
  if (refusal) return { kind: "failed", message: refusal };
  switch (externalId) {
    case "test_fail_provider":
      return { kind: "failed", message: PROVIDER_MESSAGE };
    case "test_slow":
      return { kind: "completed", afterMs: SLOW_MS };
    default:
      return { kind: "completed", afterMs: 0 };
  }
}

/** Whole seconds until a test image accepted now has ended. */
export function testEtaSeconds(externalId: string): number {
  const ending = testEnding(externalId);
  return Math.max(1, ending.kind === "completed" ? Math.ceil(ending.afterMs / 1000) : 1);
}

/** Refuses a test request the way its `external_id` asks for. */
export function refuseAsAsked(externalId: string): void {
  switch (externalId) {
    case "test_unsupported_source": {
      const message =
        "The photo could not be fetched: its address answered 404. Check that it is public and opens in a private browser window.";
      throw new AppError("UNSUPPORTED_IMAGE_SOURCE", message, {
        details: [{ field: "player.source_image_url", message }],
      });
    }
    case "test_insufficient_credits":
      throw new AppError(
        "INSUFFICIENT_CREDITS",
        "The account has no credits left. Wait for next month's credits, ask for a top-up, or use a test key, which costs nothing.",
      );
    case "test_rate_limited":
      throw new AppError(
        "RATE_LIMIT_EXCEEDED",
        "Too many requests. Wait for the time in Retry-After, then go on.",
        { retryAfterSeconds: 60 },
      );
  }
}
