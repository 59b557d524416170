import { join } from "node:path";
import { openApiDocument } from "../../src/http/openapi/document.ts";
import { ROOT } from "./plan.ts";

// biome-ignore lint/suspicious/noExplicitAny: an OpenAPI document is JSON of no fixed shape to its readers.
type Json = any;

const WORDS = new Set(["description", "summary", "title", "example", "examples"]);

/** A document without what people read: what programs rely on is left. */
export function withoutWords(value: Json, isNames = false): Json {
  if (Array.isArray(value)) return value.map((each) => withoutWords(each));
  if (value === null || typeof value !== "object") return value;
  const kept = Object.entries(value).filter(([key]) => isNames || !WORDS.has(key));
  // What stands below `properties` are names of fields, such as a field named title.
  return Object.fromEntries(
    kept.map(([key, each]) => [key, withoutWords(each, !isNames && key === "properties")]),
  );
}

/** This version's document as test/fixtures/openapi keeps one of each release. */
export function releasedDocument(): Json {
  const document = openApiDocument({
    baseUrl: "https://cards.example.org",
    cdnBaseUrl: "https://cards.example.org/cdn",
    presets: ["club_card"],
  });
  return withoutWords(JSON.parse(JSON.stringify(document)));
}

export const fixtureOf = (version: string) => join(ROOT, "test/fixtures/openapi", `${version}.json`);
