import type { Environment } from "../../core/account.ts";
import type { FailureReason } from "../../core/failure-reasons.ts";
import type { CreateImageRequest } from "../../core/image-request.ts";
import { RATE_LIMIT_PER_MINUTE, RATE_WINDOW_MS } from "../../core/limits.ts";
import {
  insufficientCredits,
  RENDER_FAULT_MESSAGE,
  rateLimitExceeded,
  sourceAnswered,
  unsupportedSource,
} from "../../core/partner-refusals.ts";
import { PHOTO_REFUSALS, type PhotoRefusal, REASON_OF_REFUSAL } from "../../core/photo-refusals.ts";
import type { Account } from "../../store/people/accounts.ts";

/**
 * How an image made with a test key ends, selected by `player.external_id` so that partners can test every
 * path.
 */
export type TestEnding =
  | { kind: "completed"; afterMs: number }
  | { kind: "failed"; message: string; reason: FailureReason };

/** Long enough to observe polling and progress, short enough for a test suite. */
const SLOW_MS = 10_000;

/** One value for each way a photo can be refused: `test_fail_no_player`, `test_fail_sideways` and so on. */
const REFUSED_PHOTOS = new Map<string, PhotoRefusal>(
  (Object.keys(PHOTO_REFUSALS) as PhotoRefusal[]).map((refusal) => [`test_fail_${refusal}`, refusal]),
);
// Drawings had a reason of their own once, and partners' tests may still ask for it: its name stays unused.
REFUSED_PHOTOS.set("test_fail_not_a_photograph", "no_player");

export function testEnding(externalId: string): TestEnding {
  const refusal = REFUSED_PHOTOS.get(externalId);
  if (refusal)
    return { kind: "failed", message: PHOTO_REFUSALS[refusal], reason: REASON_OF_REFUSAL[refusal] };
  switch (externalId) {
    case "test_unsupported_source":
      // Only in a batch: a single create is refused directly.
      return {
        kind: "failed",
        message: unsupportedSource("photo", sourceAnswered(404)).message,
        reason: "photo_unreachable",
      };
    case "test_fail_provider":
      return { kind: "failed", message: RENDER_FAULT_MESSAGE, reason: "provider" };
    case "test_slow":
      return { kind: "completed", afterMs: SLOW_MS };
    default:
      return { kind: "completed", afterMs: 0 };
  }
}

/** Whole seconds until a test image accepted now will have ended. */
export function testEtaSeconds(externalId: string): number {
  const ending = testEnding(externalId);
  return Math.max(1, ending.kind === "completed" ? Math.ceil(ending.afterMs / 1000) : 1);
}

const RATE_LIMITED_ID = "test_rate_limited";

/** Whether a request asks to be answered as if the request budget were used up. */
export function asksForRateLimit(environment: Environment, { player }: CreateImageRequest): boolean {
  return environment === "test" && player.external_id === RATE_LIMITED_ID;
}

/** Refuses a test request in the way its `external_id` asks for, as the account would be refused at `now`. */
export function refuseOnRequest(externalId: string, account: Account, now: number): void {
  switch (externalId) {
    case "test_unsupported_source":
      throw unsupportedSource("photo", sourceAnswered(404));
    case "test_insufficient_credits":
      throw insufficientCredits(account.creditLimit, now);
    case RATE_LIMITED_ID: {
      const seconds = Math.ceil((RATE_WINDOW_MS - (now % RATE_WINDOW_MS)) / 1000);
      throw rateLimitExceeded(RATE_LIMIT_PER_MINUTE[account.tier], seconds);
    }
  }
}
