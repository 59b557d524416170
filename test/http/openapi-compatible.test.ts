import { expect, test } from "bun:test";
import { join } from "node:path";
import { breakingChanges } from "../../scripts/openapi-changes.ts";
import { openApiDocument } from "../../src/http/openapi/document.ts";
import type { Json } from "./api.ts";

// What partners built on is still there: today's document beside that of each release, without its words and
// examples. The file of a release is made from its /docs/openapi.json and never changed.

const RELEASES = join(import.meta.dir, "../fixtures/openapi");

const today = (): Json =>
  JSON.parse(
    JSON.stringify(
      openApiDocument({
        baseUrl: "https://cards.example.org",
        cdnBaseUrl: "https://cards.example.org/cdn",
        presets: ["club_card"],
      }),
    ),
  );

const releases = [...new Bun.Glob("*.json").scanSync(RELEASES)].sort();

test.each(releases)("nothing that the release of %s promised is taken away", async (file) => {
  expect(breakingChanges(await Bun.file(join(RELEASES, file)).json(), today())).toEqual([]);
});

test("there is a release to compare with", () => expect(releases).toContain("0.1.0.json"));

const schema = (document: Json, name: string): Json => document.components.schemas[name];
const list = (document: Json): Json => document.paths["/v1/images"].get;

const ADDED: [what: string, change: (document: Json) => void][] = [
  ["a path", (d) => (d.paths["/v1/new"] = { get: { responses: {} } })],
  ["a webhook", (d) => (d.webhooks["image.new"] = {})],
  ["an optional parameter", (d) => list(d).parameters.push({ name: "new", in: "query", schema: {} })],
  ["a field of an answer", (d) => (schema(d, "ImageResult").properties.new = { type: "string" })],
  ["an optional field of a request", (d) => (schema(d, "CreateImageRequest").properties.new = {})],
  ["a value of a request", (d) => schema(d, "CreateImageRequest").properties.type.enum.push("new")],
  ["a code", (d) => schema(d, "ApiError").properties.code.enum.push("NEW")],
  ["a status", (d) => (list(d).responses["418"] = { description: "" })],
];
test.each(ADDED)("%s may be added", (_, change) => {
  const changed = today();
  change(changed);
  expect(breakingChanges(today(), changed)).toEqual([]);
});

const BROKEN: [what: string, change: (document: Json) => void, says: string][] = [
  ["a path", (d) => delete d.paths["/v1/usage"], "GET /v1/usage: is gone."],
  ["a method", (d) => delete d.paths["/v1/images"].get, "GET /v1/images: is gone."],
  ["a webhook", (d) => delete d.webhooks["credits.low"], "webhook credits.low: is gone."],
  [
    "a parameter",
    (d) => (list(d).parameters = list(d).parameters.filter(({ name }: Json) => name !== "limit")),
    "GET /v1/images query limit: is gone.",
  ],
  [
    "a parameter's range",
    (d) => (list(d).parameters.find(({ name }: Json) => name === "limit").schema.maximum = 50),
    "GET /v1/images query limit: maximum was 100 and is 50 now.",
  ],
  [
    "a new parameter that is required",
    (d) => list(d).parameters.push({ name: "new", in: "query", required: true, schema: {} }),
    "GET /v1/images query new: is new and required.",
  ],
  [
    "a field of a request that is required now",
    (d) => schema(d, "CreateImageRequest").required.push("metadata"),
    "POST /v1/images body metadata: is required now.",
  ],
  [
    "a field of a request",
    (d) => delete schema(d, "CreateImageRequest").properties.branding.properties.primary_color,
    "POST /v1/images body branding.primary_color: is not taken any more.",
  ],
  [
    "a value of a request",
    (d) => schema(d, "CreateImageRequest").properties.player.properties.position.enum.shift(),
    'POST /v1/images body player.position: the value "ST" is gone.',
  ],
  [
    "a type of a request",
    (d) => (schema(d, "CreateImageRequest").properties.player.properties.number.type = "string"),
    "POST /v1/images body player.number: was of type integer and is string now.",
  ],
  [
    "a field of an answer",
    (d) => delete schema(d, "ImageListItem").properties.type,
    "GET /v1/images 200 data.images[] type: is gone.",
  ],
  [
    "a field of an answer that may be absent now",
    (d) => (schema(d, "ImageResult").required = ["image_url"]),
    "GET /v1/images/{image_id} 200 data.result.width: was always there and may be absent now.",
  ],
  [
    "a field of an answer that may be null now",
    (d) =>
      (schema(d, "CompletedImage").properties.completed_at = {
        anyOf: [{ type: "string" }, { type: "null" }],
      }),
    "webhook image.completed.data.completed_at: may be null now, which it could not be.",
  ],
  [
    "a type of an answer",
    (d) => (schema(d, "Usage").properties.credits_used.type = "number"),
    "GET /v1/usage 200 data.credits_used: was of type integer and is number now.",
  ],
  [
    "an answer's header",
    (d) => delete list(d).responses["200"].headers["X-Request-Id"],
    "GET /v1/images 200 header X-Request-Id: is gone.",
  ],
  ["an answer", (d) => delete list(d).responses["200"], "GET /v1/images 200: is gone."],
  [
    "an error's code",
    (d) => schema(d, "ApiError").properties.code.enum.shift(),
    'GET /v1/images 400 error.code: the value "INVALID_REQUEST" is gone.',
  ],
];
test.each(BROKEN)("%s cannot go unnoticed, and its place is named", (_, change, says) => {
  const changed = today();
  change(changed);
  expect(breakingChanges(today(), changed)).toContain(says);
});
