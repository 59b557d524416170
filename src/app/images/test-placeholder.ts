import { rm } from "node:fs/promises";
import { join } from "node:path";
import PQueue from "p-queue";
import type { Blobs } from "../../blobs/blobs.ts";
import { fingerprint } from "../../core/idempotency.ts";
import { cardInput, storedRequest } from "../../core/image-request.ts";
import { scaledPlaceholder } from "../../render/placeholders/placeholder.ts";
import type { Placeholder } from "../../render/placeholders/placeholder-files.ts";
import type { RenderPool } from "../../render/pool.ts";
import type { RenderJob } from "../../render/protocol.ts";
import type { DataFolder } from "../../system/data-folder.ts";
import { DEFAULT_TEMPLATE, isBuiltIn } from "../../templates/built-in.ts";
import { type ClaimedImage, pinnedTemplate } from "./render-image.ts";

export interface TestPlaceholderDeps {
  pool: Pick<RenderPool, "acquire">;
  blobs: Blobs;
  /** Where renderers write their pictures. */
  folder: Pick<DataFolder, "scratch">;
}

/** However many test images wait, live cards lose one worker to them at most. */
const drawing = new PQueue({ concurrency: 1 });

/**
 * The picture of a test image: the template it was accepted with, a silhouette for the player, and TEST across it. That of
 * the built-in card is there in many sizes already and needs no worker; any other is drawn as the image asks for it, and
 * shared by those that ask for the same.
 */
export async function testPlaceholder(
  deps: TestPlaceholderDeps,
  image: ClaimedImage,
  signal: AbortSignal,
): Promise<Placeholder> {
  const card = cardInput(storedRequest(image.request));
  const { preset, width, height, format } = card.style;
  const { templateDigest } = image;
  if (templateDigest === null ? preset === DEFAULT_TEMPLATE : isBuiltIn(DEFAULT_TEMPLATE, templateDigest))
    return scaledPlaceholder(width, height, format);
  const job: RenderJob = {
    jobId: image.leaseToken,
    card,
    ...(await pinnedTemplate(deps.blobs, image)),
    placeholder: true,
    photoPath: "",
    photoSha256: "",
    badgePath: null,
    outputPath: join(deps.folder.scratch, image.leaseToken),
  };
  return {
    name: `${fingerprint({ card, templateDigest })}.${format}`,
    contentType: `image/${format}`,
    draw: () => drawing.add(() => render(deps.pool, job, signal)),
  };
}

async function render(pool: Pick<RenderPool, "acquire">, job: RenderJob, signal: AbortSignal) {
  const renderer = await pool.acquire(signal);
  try {
    const outcome = await renderer.render(job, () => {});
    if (outcome.kind === "refused") throw new Error(`the placeholder was refused: ${outcome.message}`);
    return { path: job.outputPath, bytes: outcome.file.bytes };
  } catch (error) {
    // What cannot be removed now goes with the next start.
    await rm(job.outputPath, { force: true }).catch(() => {});
    throw error;
  } finally {
    renderer.release();
  }
}
