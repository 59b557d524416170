import type { Environment } from "../core/account.ts";
import type { ErrorDetail } from "../core/errors.ts";
import type { PublicStatus } from "../core/image-state.ts";
import { formatPosition, type ListPosition, parsePosition } from "../core/list-position.ts";
import type { WebhookEventType } from "../core/webhook-event.ts";
import type { ImageFilters } from "../store/images/image-filters.ts";

interface Filter extends ImageFilters {
  accountId: string;
  environment: Environment;
  status?: PublicStatus | undefined;
  type?: WebhookEventType | undefined;
  from?: number | undefined;
  before?: number | undefined;
}

/** An opaque cursor: the position of the last item, bound to the filter it was made with. */
export function encodeCursor(position: ListPosition, filter: Filter): string {
  const place = formatPosition(position);
  return Buffer.from(`${place}.${binding(place, filter)}`).toString("base64url");
}

/** Null for a cursor that is malformed or was made with another filter, account or environment. */
function decodeCursor(text: string, filter: Filter): ListPosition | null {
  const bytes = Buffer.from(text, "base64url");
  // The decoder ignores invalid characters; a cursor must be exactly as it was issued.
  if (bytes.toString("base64url") !== text) return null;
  const [, place = "", bound] = /^(.+)\.([0-9a-f]{12})$/.exec(bytes.toString("latin1")) ?? [];
  const position = parsePosition(place);
  return position && binding(place, filter) === bound ? position : null;
}

/**
 * The position in a query's `after`, if it has one; what is wrong with it is added to `details`.
 * @param same what must be as it was when the cursor was made, for the message
 */
export function readCursor(
  text: string | undefined,
  filter: Filter,
  details: ErrorDetail[],
  same = "filters and key environment",
): ListPosition | undefined {
  const position = text === undefined ? undefined : decodeCursor(text, filter);
  if (position === null)
    details.push({
      field: "query after",
      message: `must be the next_cursor of an answer to this same query, with the same ${same}.`,
    });
  return position ?? undefined;
}

/**
 * A page of what was found when one more than its limit was asked for, which tells whether another follows.
 * @param cursorOf where the next page begins: behind this page's last
 */
export function pageOf<Item>(found: readonly Item[], limit: number, cursorOf: (last: Item) => string) {
  const items = found.slice(0, limit);
  const last = items.at(-1);
  const has_more = found.length > limit;
  return { items, has_more, next_cursor: has_more && last !== undefined ? cursorOf(last) : null };
}

/** Not a secret: it catches mistakes. A forged cursor still only reaches the caller's own images. */
function binding(place: string, { accountId, environment, status, ...filters }: Filter): string {
  const { externalId, batchId, metadata, current, from, before, type } = filters;
  // Without those that are not given, as before there were any: cursors do not expire.
  const given = Object.entries({ externalId, batchId, metadata, current, from, before, type }).filter(
    ([, value]) => value !== undefined,
  );
  const text = JSON.stringify([place, accountId, environment, status ?? null, ...given]);
  return Bun.SHA256.hash(text, "hex").slice(0, 12);
}
