import { keptSample, type SampleCardDeps, sampleCard } from "../app/images/sample-card.ts";
import type { Config } from "../config.ts";
import { Refusal } from "../core/errors.ts";
import { invalidRequest } from "../core/partner-refusals.ts";
import { formatsOf } from "../core/picture-formats.ts";
import { MAX_WAITING_SAMPLES } from "../core/picture-limits.ts";
import { layoutsAmong } from "../render/card/placement/template-layout.ts";
import { fieldsJsonSchema } from "../templates/fields.ts";
import { hasFoil, type LoadedTemplate } from "../templates/load.ts";
import { compositionsOf, titleOf } from "../templates/manifest.ts";
import type { TemplateRegistry } from "../templates/registry.ts";
import { standardHeaders, success } from "./envelope.ts";
import type { Exchange } from "./exchange.ts";
import { readQuery } from "./query.ts";

/** Renderers that are all busy for long stay so for a while. */
const SAMPLE_RETRY_S = 30;

export interface PresetDeps {
  config: Pick<Config, "baseUrl" | "mp4Encoder">;
  templates: TemplateRegistry;
}

/** GET /v1/presets */
export async function listPresets({ config, templates }: PresetDeps, exchange: Exchange): Promise<Response> {
  const { details } = readQuery(exchange.url, []);
  if (details.length > 0) throw invalidRequest(details);
  const listed = await Promise.all((await templates.listed()).map(templates.current));
  const presets = listed.map((template) => preset(template, config.baseUrl));
  return success(exchange, { presets, formats: formatsOf(config) });
}

function preset(template: LoadedTemplate, baseUrl: string) {
  const { name, version, description, sizes, shapes, fields = {} } = template.manifest;
  return {
    name,
    version,
    title: titleOf(template.manifest),
    description: description ?? null,
    sample_url: baseUrl + samplePath(template),
    sizes: Object.entries(sizes).map(([size, [width, height]]) => ({ name: size, width, height })),
    min_aspect_ratio: shapes[0],
    max_aspect_ratio: shapes[1],
    // Listed since 0.1.0, when templates set each kind of picture by itself.
    layouts: layoutsAmong(shapes).map(({ name, min, max }) => ({
      name,
      min_aspect_ratio: min,
      max_aspect_ratio: max,
    })),
    compositions: compositionsOf(template.manifest),
    layers: template.markup.layers.size > 0,
    foil: hasFoil(template),
    back: template.back !== null,
    fields: Object.keys(fields).length === 0 ? null : fieldsJsonSchema(fields),
  };
}

function samplesBusy(): Refusal<"SERVICE_OVERLOADED"> {
  const text =
    "The sample picture was not drawn yet, and no renderer is free: cards come first. Ask again later.";
  return new Refusal("SERVICE_OVERLOADED", text, { retryAfterSeconds: SAMPLE_RETRY_S });
}

/** Requests that wait for a sample. */
let waiting = 0;

/** What `draw` draws, unless too many wait or no renderer becomes free: SERVICE_OVERLOADED then. */
async function drawn(draw: () => Promise<string>): Promise<string> {
  if (waiting >= MAX_WAITING_SAMPLES) throw samplesBusy();
  waiting += 1;
  try {
    return await draw();
  } catch (error) {
    throw (error as Error).name === "TimeoutError" ? samplesBusy() : error;
  } finally {
    waiting -= 1;
  }
}

type Sampled = Pick<LoadedTemplate, "manifest" | "digest">;

/** Another look has another address, so that browsers may keep what they have for good. */
function sampleName({ manifest, digest }: Sampled, kind = ""): string {
  return `${manifest.name}-${digest.slice(0, 16)}${kind}.webp`;
}

/** Of a list's sample, for sharp screens. */
const SMALL_WIDTH_PX = 192;
const SMALL = "-small";
/** The small samples by template: a few KiB each, of its latest look alone. */
const smallSamples = new Map<string, { picture: string; blob: Promise<Blob> }>();

/** The same card for a list of templates, shrunk once. */
function smallSample(name: string, picture: string, path: string): Promise<Blob> {
  const kept = smallSamples.get(name);
  if (kept?.picture === picture) return kept.blob;
  const blob = new Bun.Image(path).resize(SMALL_WIDTH_PX).webp({ quality: 80 }).blob();
  smallSamples.set(name, { picture, blob });
  blob.catch(() => smallSamples.delete(name));
  return blob;
}

/** Where a card made with a template can be seen. */
const samplePath = (template: Sampled): string => `/docs/presets/${sampleName(template)}`;

/** The same, as small as a choice shows it. */
export const smallSamplePath = (template: Sampled): string => `/docs/presets/${sampleName(template, SMALL)}`;

/**
 * GET /docs/presets/{picture}: a card made with a template that partners may ask for, in the first of its
 * sizes, or a small one of it. Drawn when it is first asked for, and kept. Undefined where there is none of
 * this name now.
 */
export async function servePresetSample(
  deps: PresetDeps & SampleCardDeps,
  exchange: Exchange,
  picture: string,
): Promise<Response | undefined> {
  const name = picture.slice(0, picture.indexOf("-"));
  if (!(await deps.templates.listed()).includes(name)) return undefined;
  const template = await deps.templates.current(name);
  const [size = ""] = Object.keys(template.manifest.sizes);
  const isSmall = picture === sampleName(template, SMALL);
  if (!isSmall && picture !== sampleName(template)) return undefined;
  const path =
    (await keptSample(deps, name, template, size)) ??
    (await drawn(() => sampleCard(deps, name, template, size)));
  return new Response(isSmall ? await smallSample(name, picture, path) : Bun.file(path), {
    headers: {
      ...standardHeaders(exchange),
      "Content-Type": "image/webp",
      "Cache-Control": "public, max-age=31536000, immutable",
      "Access-Control-Allow-Origin": "*",
    },
  });
}
