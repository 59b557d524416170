import type { ErrorDetail } from "../core/errors.ts";

/**
 * The query parameters by name. Unknown and repeated ones are refused, because a misspelt filter must not list
 * everything.
 */
export function readQuery<const Name extends string>(
  url: URL,
  names: readonly Name[],
): { values: Partial<Record<Name, string>>; details: ErrorDetail[] } {
  const values: Partial<Record<Name, string>> = {};
  const details: ErrorDetail[] = [];
  for (const [name, given] of Map.groupBy(url.searchParams, ([name]) => name)) {
    if (!(names as readonly string[]).includes(name)) {
      const known = names.join(", ");
      details.push({
        field: `query ${name.slice(0, 100)}`,
        message: known
          ? `is not a parameter of this address; known are ${known}.`
          : "is not a parameter of this address, which takes none. Leave it out.",
      });
    } else if (given.length > 1)
      details.push({ field: `query ${name}`, message: "must be given once only." });
    else values[name as Name] = given[0]?.[1] ?? "";
  }
  return { values, details };
}
