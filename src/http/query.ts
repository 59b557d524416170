import type { ErrorDetail } from "../core/errors.ts";

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
