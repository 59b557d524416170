import { SAMPLE_PHOTO_PATH } from "../core/sample-photo.ts";
import { SAMPLE_PHOTO } from "../sources/sample-photo.ts";
import type { TemplateRegistry } from "../templates/registry.ts";
import { type Asset, fileAnswer, fileAsset } from "../web/assets.ts";
import { PAGE_HEADERS } from "../web/policy.ts";
import { DOCS_ASSETS } from "./docs/assets.ts";
import { type DocsSite, docsSite } from "./docs/site.tsx";
import { standardHeaders } from "./envelope.ts";
import type { Exchange } from "./exchange.ts";
import type { PublicFacts } from "./openapi/document.ts";

/**
 * Builds the handler for /docs and everything below. Pages are rendered once, when the first of them is asked for, and
 * again when the list of templates changes, because they name those that partners may request.
 */
export function docsHandler(
  facts: PublicFacts,
  templates: Pick<TemplateRegistry, "listed">,
): (exchange: Exchange) => Promise<Response> {
  let { presets } = facts;
  let site: DocsSite | undefined;
  // Its address is the same for good, so what is there may change.
  const sample = fileAsset(SAMPLE_PHOTO.contentType, SAMPLE_PHOTO.path);
  return async (exchange) => {
    const { request, url } = exchange;
    const headers = { ...standardHeaders(exchange), ...PAGE_HEADERS };
    const asset = DOCS_ASSETS.answer(request, url, headers);
    if (asset) return asset;
    const path = url.pathname.replace(/\/+$/, "");
    // Cards are made of the sample photo, also where nobody reads the documentation.
    if (path === SAMPLE_PHOTO_PATH)
      return fileAnswer(request, sample, { ...headers, ...pageCaching(sample) });
    // Must work even while the database is unavailable.
    const listed = await templates.listed().catch(() => presets);
    if (listed !== presets) site = undefined;
    presets = listed;
    site ??= docsSite({ ...facts, presets });
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
