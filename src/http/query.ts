import type { ErrorDetail } from "../core/errors.ts";
import { DEFAULT_LIST_LIMIT, MAX_LIST_LIMIT } from "../core/limits.ts";
import { parseTime } from "../core/time.ts";

/**
 * The query parameters by name. Unknown and repeated ones are refused, because a misspelt filter must not
 * list everything. With a `prefix`, those that begin with it are the family, by what comes after it.
 */
export function readQuery<const Name extends string>(
  url: URL,
  names: readonly Name[],
  prefix?: string,
): {
  values: Partial<Record<Name, string>>;
  family: [name: string, value: string][];
  details: ErrorDetail[];
} {
  const values: Partial<Record<Name, string>> = {};
  const family: [string, string][] = [];
  const details: ErrorDetail[] = [];
  if (url.search === "") return { values, family, details };
  const isOfFamily = (name: string) => prefix !== undefined && name.startsWith(prefix);
  for (const [name, given] of Map.groupBy(url.searchParams, ([name]) => name)) {
    if (!(names as readonly string[]).includes(name) && !isOfFamily(name)) {
      const known = [...names, ...(prefix === undefined ? [] : [`${prefix}KEY`])].join(", ");
      details.push({
        field: `query ${name.slice(0, 100)}`,
        message: known
          ? `is not a parameter of this address; known are ${known}.`
          : "is not a parameter of this address, which takes none. Leave it out.",
      });
    } else if (given.length > 1)
      details.push({ field: `query ${name.slice(0, 100)}`, message: "must be given once only." });
    else if (isOfFamily(name)) family.push([name.slice(prefix?.length), given[0]?.[1] ?? ""]);
    else values[name as Name] = given[0]?.[1] ?? "";
  }
  return { values, family, details };
}

/** How many items a page may have, by its `limit`; what is wrong with it is added to `details`. */
export function readLimit(text: string | undefined, details: ErrorDetail[]): number {
  const limit = text === undefined ? DEFAULT_LIST_LIMIT : Number(text);
  if (text !== undefined && (!/^\d+$/.test(text) || limit < 1 || limit > MAX_LIST_LIMIT))
    details.push({ field: "query limit", message: `must be a whole number from 1 to ${MAX_LIST_LIMIT}.` });
  return limit;
}

/** The span of `created_after` and `created_before`; what is wrong with them is added to `details`. */
export function readSpan(
  values: { created_after?: string; created_before?: string },
  details: ErrorDetail[],
): { from: number | undefined; before: number | undefined } {
  const time = (name: "created_after" | "created_before") => {
    const text = values[name];
    const time = text === undefined ? undefined : parseTime(text);
    if (time === null)
      details.push({
        field: `query ${name}`,
        message:
          "must be a time as RFC 3339 writes it, such as 2026-11-21T10:00:00Z; in an address + is written %2B.",
      });
    return time ?? undefined;
  };
  const createdAfter = time("created_after");
  // Times are whole milliseconds: the next one is the first after it.
  return {
    from: createdAfter === undefined ? undefined : createdAfter + 1,
    before: time("created_before"),
  };
}
