import type { ErrorCode } from "../../core/errors.ts";
import { VERSION } from "../../version.ts";
import { ERROR_STATUS } from "../http-refusal.ts";
import { errorResponses } from "./errors.ts";
import { HEADERS, SECURITY_SCHEMES } from "./headers.ts";
import { cdnOperation, partnerOperations } from "./operations.ts";
import { renderOperation } from "./render-operation.ts";
import { webhookOperations } from "./webhooks.ts";

/** What the documentation needs to know about this particular service. */
export interface PublicFacts {
  /** Its public address, without a trailing slash. */
  baseUrl: string;
  cdnBaseUrl: string;
  /** The templates partners may request. */
  presets: readonly string[];
}

// biome-ignore lint/suspicious/noExplicitAny: an OpenAPI document is JSON of no fixed shape to its readers.
export type OpenApiDocument = Record<string, any>;

/**
 * The partner API as an OpenAPI 3.1 document, built from the schemas that validate requests and with which
 * the tests check answers. https://spec.openapis.org/oas/v3.1.1
 */
export function openApiDocument({ baseUrl, cdnBaseUrl, presets }: PublicFacts): OpenApiDocument {
  const document = {
    openapi: "3.1.0",
    info: {
      title: "cardpress partner API",
      version: VERSION,
      summary: "Football player cards from a photo and a few details.",
      description: description(baseUrl),
      contact: { name: "Documentation and help", url: `${baseUrl}/docs` },
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: baseUrl, description: "This service. The key's prefix selects the environment." }],
    security: [{ ApiKey: [] }],
    tags: [
      { name: "Images", description: "Create player cards and follow them to the finished picture." },
      { name: "Batches", description: "Create the cards of a whole squad at once." },
      { name: "Sets", description: "Sets of cards with their checklists and numbers." },
      { name: "Consent", description: "What players agree to, which every create obeys." },
      { name: "Presets", description: "The card templates there are." },
      { name: "Usage", description: "Images and credits of a period." },
      {
        name: "Webhooks",
        description: "Calls this service makes to you, signed as Standard Webhooks say, and their endpoints.",
      },
    ],
    externalDocs: { description: "Guides", url: `${baseUrl}/docs` },
    paths: { ...partnerOperations(presets), ...renderOperation(presets), ...cdnOperation(cdnBaseUrl) },
    webhooks: webhookOperations(),
    components: {
      securitySchemes: SECURITY_SCHEMES,
      headers: HEADERS,
      responses: errorResponses(Object.keys(ERROR_STATUS) as ErrorCode[], baseUrl),
    },
  };
  // The round trip through JSON removes the symbols with which TypeBox marks its schemas.
  const schemas: Record<string, object> = {};
  const published = publishSchemas<OpenApiDocument>(JSON.parse(JSON.stringify(document)), schemas);
  published.components.schemas = schemas;
  return published;
}

function description(baseUrl: string): string {
  return [
    "Send a player's details and the address of a photo; get a finished player card. Work is asynchronous: a create",
    "call is answered at once with an id, and the result comes by polling or by webhook.",
    "",
    `Guides, error pages and examples: ${baseUrl}/docs.`,
    "",
    "Every answer is an envelope: `{success, data, error}`. Every answer carries `X-Request-Id` and the",
    "`X-RateLimit-*` headers, also refusals and failures. HEAD is answered wherever GET is.",
  ].join("\n");
}

const PARTS: Record<string, "request" | "webhook"> = { requestBody: "request", webhooks: "webhook" };

/**
 * Moves every schema with an `$id` to the components and leaves a `$ref` in its place, so that each is
 * published once, under its name. What we answer or send is published as open, so that a client made from it
 * bears new fields; in a partner's request an unknown field is a mistake.
 */
function publishSchemas<T>(node: T, components: Record<string, object>, within?: "request" | "webhook"): T {
  if (Array.isArray(node)) return node.map((item) => publishSchemas(item, components, within)) as T;
  if (node === null || typeof node !== "object") return node;
  const { $id, ...all } = node as { $id?: unknown; additionalProperties?: unknown };
  const { additionalProperties, ...open } = all;
  const rest = within === "request" || additionalProperties !== false ? all : open;
  const walk = (value: object) =>
    Object.fromEntries(
      Object.entries(value).map(([key, field]) => [
        key,
        publishSchemas(field, components, within ?? PARTS[key]),
      ]),
    );
  if (typeof $id !== "string") return walk(rest) as T;
  components[$id] ??= walk(rest);
  return { $ref: `#/components/schemas/${$id}` } as T;
}
