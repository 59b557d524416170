import { and, gte, lt, type Placeholder, type SQL, type SQLWrapper, sql } from "drizzle-orm";

/** Where a page ended; placeholders in a prepared query, which has no span. */
interface End {
  createdAt: number | Placeholder;
  id: string | Placeholder;
}

/**
 * What a page of a list, newest first, has of a span of time after the page before. A page that goes on is
 * bounded by its position alone: with both, SQLite begins at `before` and reads all that was shown already.
 */
export function pageBounds(
  createdAt: SQLWrapper,
  id: SQLWrapper,
  span: { from?: number | undefined; before?: number | undefined; after?: End | undefined },
): SQL | undefined {
  const { from, before = Number.POSITIVE_INFINITY, after } = span;
  const goesOn = typeof after?.createdAt === "number" && after.createdAt < before;
  return and(
    from === undefined ? undefined : gte(createdAt, from),
    before === Number.POSITIVE_INFINITY || goesOn ? undefined : lt(createdAt, before),
    after && sql`(${createdAt}, ${id}) < (${after.createdAt}, ${after.id})`,
  );
}
