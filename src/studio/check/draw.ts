import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { OperatorError } from "../../core/errors.ts";
import type { PreviewPool } from "../../render/pool.ts";
import type { Previewed } from "../../render/preview/messages.ts";
import type { TemplateManifest } from "../../templates/manifest.ts";
import { GOLDEN_WIDTH } from "../goldens.ts";
import { badgeFile, photoFile, pictureFiles } from "../sample-files.ts";
import { sampleCard } from "../samples.ts";
import { type CheckCase, checkedSizes } from "./cards.ts";

/** Where cards are drawn: the template's folder, one for pictures, and what draws. */
export interface Drawing {
  dir: string;
  scratch: string;
  pool: PreviewPool;
}

/**
 * Draws a card with its longer side scaled to `longerPx`, as it is printed, or at the width of accepted
 * pictures.
 */
export async function draw(
  { dir, scratch, pool }: Drawing,
  manifest: TemplateManifest,
  { body, size, side, id }: CheckCase,
  longerPx: number | "print" | "golden",
  inspect: "no" | "contrast",
  as = dir,
): Promise<Previewed & { bytesOf(): Promise<Uint8Array> }> {
  const [width, height] = checkedSizes(manifest).get(size) as [number, number];
  const longer = longerPx === "print" ? Math.max(width, height) : longerPx;
  const scale = longer === "golden" ? GOLDEN_WIDTH / width : longer / Math.max(width, height);
  const sides = { width: Math.round(width * scale), height: Math.round(height * scale) };
  const format = longerPx === "golden" ? "webp" : "jpeg";
  const { card, photo, badge, pictures } = sampleCard(body, manifest, { ...sides, format });
  const outputPath = join(scratch, `${Bun.hash(id).toString(16)}.${format}`);
  await mkdir(scratch, { recursive: true });
  const folders = { dir, scratch };
  const files = Object.entries(await pictureFiles(folders, pictures));
  const job = {
    jobId: id,
    dir: as,
    side: side ?? ("front" as const),
    card,
    photo: await photoFile(dir, photo),
    badgePath: (await badgeFile(folders, badge))?.path ?? null,
    picturePaths: Object.fromEntries(files.map(([field, { path }]) => [field, path])),
    outputPath,
    inspect,
    encoding: "file" as const,
  };
  const renderer = await pool.acquire();
  try {
    const end = await renderer.preview(job);
    if (end.kind === "refused") throw new OperatorError(end.message);
    return { ...end.preview, bytesOf: async () => new Uint8Array(await readFile(outputPath)) };
  } finally {
    renderer.release();
  }
}
