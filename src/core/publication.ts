import { Type } from "@sinclair/typebox";
import type { ErrorDetail } from "./errors.ts";
import { MAX_PUBLISH_AHEAD_DAYS } from "./limits.ts";
import { invalidRequest } from "./partner-refusals.ts";
import { DAY_MS, isoTime, parseTime } from "./time.ts";

// Cards that are made before anybody may see them.

/** Another time, for a card that is there. */
export const changedPublication = (rest: string) =>
  Type.Union([Type.String({ maxLength: 40 }), Type.Null()], {
    description: `The new time, as RFC 3339 writes it and at most ${MAX_PUBLISH_AHEAD_DAYS} days ahead. Null, or a time that has passed, ${rest}`,
    examples: ["2026-12-06T20:00:00Z"],
  });

interface Asked {
  publish_at?: string;
}

interface Owner {
  /** Days after a card's end when all of it is deleted; null: never by itself. */
  forgetAfterDays: number | null;
}

interface Moments {
  now: number;
  /** When the card was made; now, unless it was before. */
  made?: number;
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
  { account, now, made = now, place }: Moments & { account: Owner; place: (at: number) => string },
): void {
  const days = account.forgetAfterDays ?? Number.POSITIVE_INFINITY;
  const most = Math.min(now + MAX_PUBLISH_AHEAD_DAYS * DAY_MS, made + days * DAY_MS);
  const rule =
    most === made + days * DAY_MS
      ? `must be ${isoTime(most)} at the latest: the account has its cards deleted ${days} days after they are made.`
      : `must lie at most ${MAX_PUBLISH_AHEAD_DAYS} days ahead.`;
  const details = asked.flatMap((one, at): ErrorDetail[] =>
    (publicationTime(one, now) ?? 0) <= most ? [] : [{ field: `${place(at)}publish_at`, message: rule }],
  );
  if (details.length > 0) throw invalidRequest(details);
}
