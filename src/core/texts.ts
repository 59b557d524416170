import type { ErrorDetail } from "./errors.ts";

/** Every text within a value and its place, such as `fields.stats[2].label`. */
export function textsWithin(value: unknown, place: string): [place: string, text: string][] {
  if (typeof value === "string") return [[place, value]];
  if (Array.isArray(value)) return value.flatMap((each, index) => textsWithin(each, `${place}[${index}]`));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, each]) => textsWithin(each, `${place}.${name}`));
}

/** What is wrong with a text that no database or page can hold. */
export function checkText(field: string, text: string): ErrorDetail[] {
  if (text.isWellFormed() && !text.includes("\0")) return [];
  return [{ field, message: "must be valid Unicode text without NUL characters." }];
}
