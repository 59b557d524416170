import { SAMPLE_PHOTOS } from "../sources/sample-photo.ts";
import type { TemplateRegistry } from "../templates/registry.ts";
import { type Asset, fileAnswer, fileAsset } from "../web/assets.ts";
import { PAGE_HEADERS } from "../web/policy.ts";
import { DOCS_ASSETS } from "./docs/assets.ts";
import { clientPackages } from "./docs/client-packages.ts";
import { type DocsSite, docsSite } from "./docs/site.tsx";
import { standardHeaders } from "./envelope.ts";
import type { Exchange } from "./exchange.ts";
import type { PublicFacts } from "./openapi/document.ts";

/**
 * Builds the handler for /docs and everything below it. Pages are rendered on the first request, and again
 * when the list of templates changes, because they name the templates partners may request.
 */
export function docsHandler(
  facts: PublicFacts,
  templates: Pick<TemplateRegistry, "listed">,
): (exchange: Exchange) => Promise<Response> {
  let { presets } = facts;
  let site: DocsSite | undefined;
  // A photo's address never changes, so a new version may replace what is served there.
  const samples = new Map(
    Object.entries(SAMPLE_PHOTOS).map(([at, { path, contentType }]) => [at, fileAsset(contentType, path)]),
  );
  const packages = clientPackages(facts.baseUrl);
  return async (exchange) => {
    const { request, url } = exchange;
    const headers = { ...standardHeaders(exchange), ...PAGE_HEADERS };
    const asset = DOCS_ASSETS.answer(request, url, headers);
    if (asset) return asset;
    const path = url.pathname.replace(/\/+$/, "");
    // Before the site is rendered: sample cards fetch this photo even if nobody reads the documentation.
    const sample = samples.get(path);
    if (sample) return fileAnswer(request, sample, { ...headers, ...pageCaching(sample) });
    const pack = await packages(path);
    if (pack) return fileAnswer(request, pack, { ...headers, ...pageCaching(pack) });
    // The documentation must work even while the database is unavailable.
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
