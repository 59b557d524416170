import type { ErrorDetail } from "./errors.ts";
import { MAX_PUBLISH_AHEAD_DAYS } from "./limits.ts";
import { invalidRequest } from "./partner-refusals.ts";
import { DAY_MS, parseTime } from "./time.ts";

// Cards that are made before anybody may see them.

interface Asked {
  publish_at?: string;
}

interface Owner {
  /** Days after a card's end when all of it is deleted; null: never by itself. */
  forgetAfterDays: number | null;
}

/** What cannot be the time of a publication, whenever it is asked; undefined where nothing is wrong. */
export function publicationFault(text: string): string | undefined {
  return parseTime(text) === null ? "must be a time such as 2026-12-06T18:00:00Z." : undefined;
}

/** Until when an image is not shown; null where that time has come, or none was given. */
export function publicationTime({ publish_at: text }: Asked, now: number): number | null {
  const at = text === undefined ? null : parseTime(text);
  return at !== null && at > now ? at : null;
}

/**
 * Refuses times that lie too far ahead, by their place in the body: after their account has its cards deleted
 * nothing is left to publish. Throws INVALID_REQUEST.
 */
export function requirePublicationTimes(
  asked: readonly Asked[],
  { account, now, place }: { account: Owner; now: number; place: (at: number) => string },
): void {
  const { forgetAfterDays } = account;
  const days = Math.min(MAX_PUBLISH_AHEAD_DAYS, forgetAfterDays ?? Number.POSITIVE_INFINITY);
  const why =
    days === forgetAfterDays ? ": the account has its cards deleted so long after they are made" : "";
  const most = now + days * DAY_MS;
  const details = asked.flatMap((one, at): ErrorDetail[] =>
    (publicationTime(one, now) ?? 0) <= most
      ? []
      : [{ field: `${place(at)}publish_at`, message: `must lie at most ${days} days ahead${why}.` }],
  );
  if (details.length > 0) throw invalidRequest(details);
}
