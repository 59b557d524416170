import { invalidRequest } from "../core/partner-refusals.ts";
import { LAYOUTS } from "../render/card/template-layout.ts";
import type { TemplateManifest } from "../templates/manifest.ts";
import type { TemplateRegistry } from "../templates/registry.ts";
import { success } from "./envelope.ts";
import type { Exchange } from "./exchange.ts";
import { readQuery } from "./query.ts";

/** GET /v1/presets */
export async function listPresets(
  { templates }: { templates: TemplateRegistry },
  exchange: Exchange,
): Promise<Response> {
  const { details } = readQuery(exchange.url, []);
  if (details.length > 0) throw invalidRequest(details);
  const listed = await Promise.all(templates.listed.map(templates.current));
  return success(exchange, { presets: listed.map(({ manifest }) => preset(manifest)) });
}

function preset({ name, version, description, layouts }: TemplateManifest) {
  return {
    name,
    version,
    description: description ?? null,
    layouts: LAYOUTS.map((layout) => ({
      name: layout,
      min_aspect_ratio: layouts[layout].minAspect,
      max_aspect_ratio: layouts[layout].maxAspect,
    })),
  };
}
