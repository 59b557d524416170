import { invalidRequest } from "../core/partner-refusals.ts";
import { fieldsJsonSchema } from "../templates/fields.ts";
import { type TemplateManifest, titleOf } from "../templates/manifest.ts";
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
  const listed = await Promise.all((await templates.listed()).map(templates.current));
  return success(exchange, { presets: listed.map(({ manifest }) => preset(manifest)) });
}

function preset(manifest: TemplateManifest) {
  const { name, version, description, sizes, shapes, fields = {} } = manifest;
  return {
    name,
    version,
    title: titleOf(manifest),
    description: description ?? null,
    sizes: Object.entries(sizes).map(([size, [width, height]]) => ({ name: size, width, height })),
    min_aspect_ratio: shapes[0],
    max_aspect_ratio: shapes[1],
    fields: Object.keys(fields).length === 0 ? null : fieldsJsonSchema(fields),
  };
}
