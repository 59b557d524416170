import { type Asset, fileAnswer } from "../web/assets.ts";
import { PAGE_HEADERS } from "../web/policy.ts";
import { DOCS_ASSETS } from "./docs/assets.ts";
import { docsSite } from "./docs/site.tsx";
import { standardHeaders } from "./envelope.ts";
import type { Exchange } from "./exchange.ts";
import type { PublicFacts } from "./openapi/document.ts";

/** Builds the handler of /docs and everything under it. Pages are rendered here, once. */
export function docsHandler(facts: PublicFacts): (exchange: Exchange) => Response {
  const site = docsSite(facts);
  return (exchange) => {
    const { request, url } = exchange;
    const headers = { ...standardHeaders(exchange), ...PAGE_HEADERS };
    const asset = DOCS_ASSETS.answer(request, url, headers);
    if (asset) return asset;
    const path = url.pathname.replace(/\/+$/, "");
    const page = site.find(path);
    return page
      ? fileAnswer(request, page, { ...headers, ...pageCaching(page) })
      : missing(site.missing(path), headers);
  };
}

function pageCaching({ contentType }: Asset): Record<string, string> {
  // Generators and viewers in browsers may load the OpenAPI document from anywhere.
  const cors = contentType.startsWith("application/json") ? { "Access-Control-Allow-Origin": "*" } : {};
  return { ...cors, "Cache-Control": "no-cache" };
}

function missing({ body, contentType }: Asset, headers: Record<string, string>): Response {
  return new Response(body, {
    status: 404,
    headers: { ...headers, "Content-Type": contentType, "Cache-Control": "no-store" },
  });
}
