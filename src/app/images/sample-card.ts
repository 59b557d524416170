import { mkdir, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import PQueue from "p-queue";
import type { Blobs } from "../../blobs/blobs.ts";
import type { Clock } from "../../core/ports.ts";
import { sha256 } from "../../core/sha256.ts";
import type { RenderPool } from "../../render/pool.ts";
import type { DataFolder } from "../../system/data-folder.ts";
import { SAMPLE_PHOTO_FILE } from "../../templates/built-in.ts";
import { exampleFields } from "../../templates/fields.ts";
import type { LoadedTemplate } from "../../templates/load.ts";
import { keepTemplate } from "./keep-template.ts";

/** Longer side in pixels: large enough to judge a template, quick to render. */
const LONG_SIDE_PX = 960;
/** The smallest side the API allows. */
const SHORT_SIDE_PX = 512;

/** One of the template's own sizes, scaled down to fit a page. */
export function sampleSize([width, height]: [number, number]): { width: number; height: number } {
  const scale = Math.min(
    1,
    Math.max(LONG_SIDE_PX / Math.max(width, height), SHORT_SIDE_PX / Math.min(width, height)),
  );
  return { width: Math.round(width * scale), height: Math.round(height * scale) };
}

export interface SampleCardDeps {
  pool: Pick<RenderPool, "acquire">;
  /** Where renderers find the template's files. */
  blobs: Pick<Blobs, "put" | "refresh" | "local">;
  clock: Pick<Clock, "elapsed">;
  folder: Pick<DataFolder, "cache">;
}

/** Partners' cards come first: one sample at a time, and only when a renderer is free. */
const making = new PQueue({ concurrency: 1 });
const WAIT_FOR_RENDERER_MS = 20_000;

/**
 * The path of a sample card for a template, rendered once per version of its files and cached. Rejects when
 * no renderer becomes free in time, or the template cannot be rendered.
 */
export function sampleCard(
  deps: SampleCardDeps,
  name: string,
  template: LoadedTemplate,
  size: string,
): Promise<string> {
  const pathOf = (digest: string) => samplePath(deps, { name, size, digest });
  return making.add(async () => {
    const path = pathOf(template.digest);
    if (await Bun.file(path).exists()) return path;
    const made = `${path}.new`;
    // The files may have been edited meanwhile, so the cache entry is named after what was really rendered.
    const named = pathOf(await make(deps, { template, size, path: made }));
    await rename(made, named);
    return named;
  });
}

/** The path of a sample card that is drawn already. */
export async function keptSample(
  deps: Pick<SampleCardDeps, "folder">,
  name: string,
  { digest }: Pick<LoadedTemplate, "digest">,
  size: string,
): Promise<string | undefined> {
  const path = samplePath(deps, { name, size, digest });
  return (await Bun.file(path).exists()) ? path : undefined;
}

/** Samples being drawn without anybody waiting, and how long one that failed is not tried again. */
const drawing = new Map<string, "drawing" | "failed">();
const FAILED_MS = 10_000;

/** Whether a sample card is there; if not, it is drawn from now on, and the caller is not kept waiting. */
export async function drawnSample(
  deps: SampleCardDeps,
  name: string,
  template: LoadedTemplate,
  size: string,
): Promise<"drawn" | "drawing" | "failed"> {
  if (await keptSample(deps, name, template, size)) return "drawn";
  const path = samplePath(deps, { name, size, digest: template.digest });
  const known = drawing.get(path);
  if (known) return known;
  drawing.set(path, "drawing");
  void sampleCard(deps, name, template, size).then(
    () => drawing.delete(path),
    () => {
      drawing.set(path, "failed");
      setTimeout(() => drawing.delete(path), FAILED_MS).unref();
    },
  );
  return "drawing";
}

function samplePath(
  { folder }: Pick<SampleCardDeps, "folder">,
  { name, size, digest }: { name: string; size: string; digest: string },
): string {
  return join(folder.cache, "samples", `${name}-${size}-${digest.slice(0, 16)}.webp`);
}

/** Renders the card and returns the digest of the template it was made with. */
async function make(
  { pool, blobs, clock }: SampleCardDeps,
  { template, size, path }: { template: LoadedTemplate; size: string; path: string },
): Promise<string> {
  const { name, sizes, fields } = template.manifest;
  const pixels = sizes[size];
  if (!pixels) throw new Error(`The template ${name} has no size ${size}`);
  await mkdir(dirname(path), { recursive: true });
  // Renderers know nothing of publishing; they draw from the files they are given.
  await keepTemplate({ blobs, clock }, template);
  const { digest } = template;
  const renderer = await pool.acquire(AbortSignal.timeout(WAIT_FOR_RENDERER_MS));
  try {
    const outcome = await renderer.render(
      {
        jobId: `sample-${size}`,
        template: { digest, path: await blobs.local("template", digest) },
        card: {
          player: { name: "Maya Okafor", position: "ST", number: 9, skillLevel: 93 },
          style: {
            preset: name,
            ...sampleSize(pixels),
            format: "webp",
            backgroundTheme: "stadium night",
          },
          branding: {},
          ...(fields && { fields: exampleFields(fields) }),
        },
        photoPath: SAMPLE_PHOTO_FILE,
        photoSha256: sha256(await Bun.file(SAMPLE_PHOTO_FILE).bytes()),
        badgePath: null,
        outputPath: path,
      },
      () => {},
    );
    if (outcome.kind === "refused") throw new Error(`The sample of ${name} was refused: ${outcome.message}`);
    return outcome.file.template.digest;
  } finally {
    renderer.release();
  }
}
