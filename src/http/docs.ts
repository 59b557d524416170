import { pagePolicy } from "../web/policy.ts";
import { type DocsFile, type DocsSite, docsSite } from "./docs/site.tsx";
import { standardHeaders } from "./envelope.ts";
import { namesVersion } from "./etag.ts";
import type { Exchange } from "./exchange.ts";
import type { PublicFacts } from "./openapi/document.ts";

const YEAR_SECONDS = 365 * 86_400;

/** Builds the handler of /docs and everything under it. Pages are rendered here, once. */
export function docsHandler(facts: PublicFacts): (exchange: Exchange) => Response {
  const site = docsSite(facts);
  return (exchange) => serveDocs(site, exchange);
}

function serveDocs(site: DocsSite, exchange: Exchange): Response {
  const path = exchange.url.pathname.replace(/\/+$/, "");
  const found = site.find(path);
  const file = found ?? site.missing(path);
  const headers = docsHeaders(exchange, file, found !== undefined);
  if (found && namesVersion(exchange.request.headers.get("if-none-match") ?? "", file.etag)) {
    return new Response(null, { status: 304, headers });
  }
  return new Response(file.body, { status: found ? 200 : 404, headers });
}

function docsHeaders(exchange: Exchange, file: DocsFile, found: boolean): Record<string, string> {
  const cache = file.immutable ? `public, max-age=${YEAR_SECONDS}, immutable` : "no-cache";
  return {
    ...standardHeaders(exchange),
    "Content-Type": file.contentType,
    ...pagePolicy({ forms: false }),
    "Referrer-Policy": "no-referrer",
    // Generators and viewers in browsers may load the OpenAPI document from anywhere.
    ...(file.contentType.startsWith("application/json") ? { "Access-Control-Allow-Origin": "*" } : {}),
    ...(found ? { ETag: file.etag, "Cache-Control": cache } : { "Cache-Control": "no-store" }),
  };
}
