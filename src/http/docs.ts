import type { TemplateRegistry } from "../templates/registry.ts";
import { type Asset, fileAnswer } from "../web/assets.ts";
import { PAGE_HEADERS } from "../web/policy.ts";
import { DOCS_ASSETS } from "./docs/assets.ts";
import { docsSite } from "./docs/site.tsx";
import { standardHeaders } from "./envelope.ts";
import type { Exchange } from "./exchange.ts";
import type { PublicFacts } from "./openapi/document.ts";

/**
 * Builds the handler for /docs and everything below. Pages are rendered here once, and again when the list of
 * templates changes, because they name those that partners may request.
 */
export function docsHandler(
  facts: PublicFacts,
  templates: Pick<TemplateRegistry, "listed">,
): (exchange: Exchange) => Promise<Response> {
  let { presets } = facts;
  let site = docsSite(facts);
  return async (exchange) => {
    // Must work even while the database is unavailable.
    const listed = await templates.listed().catch(() => presets);
    if (listed !== presets) {
      presets = listed;
      site = docsSite({ ...facts, presets });
    }
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
  // Browser-based generators and viewers on any site may load the OpenAPI document.
  const cors = contentType.startsWith("application/json") ? { "Access-Control-Allow-Origin": "*" } : {};
  return { ...cors, "Cache-Control": "no-cache" };
}

function missing({ body, contentType }: Asset, headers: Record<string, string>): Response {
  return new Response(body, {
    status: 404,
    headers: { ...headers, "Content-Type": contentType, "Cache-Control": "no-store" },
  });
}
