/** All expressions in a dashboard or a file of rules, at any depth. */
export function expressions(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(expressions);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === "expr" && typeof inner === "string" ? [inner] : expressions(inner),
  );
}
