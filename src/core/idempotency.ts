import { sha256 } from "./sha256.ts";

/**
 * JSON with sorted object keys and no white space, so that equivalent bodies produce the same text (the idea
 * of RFC 8785; our bodies hold only strings, safe integers and objects).
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (value !== null && typeof value === "object") {
    const fields = Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, field]) => `${JSON.stringify(key)}:${canonicalJson(field)}`);
    return `{${fields.join(",")}}`;
  }
  return JSON.stringify(value);
}

/** SHA-256 of the canonical payload: equal fingerprints mean "same payload". */
export function fingerprintOf(payload: unknown): string {
  return sha256(canonicalJson(payload));
}
