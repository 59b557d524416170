import { join } from "node:path";
import PQueue from "p-queue";
import type { Blobs } from "../../blobs/blobs.ts";
import type { CardInput } from "../../core/card.ts";
import type { SetPlace } from "../../core/card-set.ts";
import { Refusal } from "../../core/errors.ts";
import { type CreateImageRequest, cardInput } from "../../core/image-request.ts";
import { SOURCE_BYTES_PER_DAY } from "../../core/limits.ts";
import type { RenderPool } from "../../render/pool.ts";
import type { FieldPictures } from "../../store/images/image-pictures.ts";
import type { Account } from "../../store/people/accounts.ts";
import type { DataFolder } from "../../system/data-folder.ts";
import { removeWhole } from "../../system/write-whole.ts";
import type { TemplateRegistry } from "../../templates/registry.ts";
import { type FetchSourcesDeps, fetchSources, refuseWhenSpent } from "../images/fetch-sources.ts";
import { picturePaths } from "../images/render-image.ts";
import type { SourceKeeper } from "../images/source-keeper.ts";
import { spareRenderer } from "../spare-renderer.ts";

export interface PreviewDeps extends FetchSourcesDeps {
  pool: RenderPool;
  blobs: Blobs;
  keeper: SourceKeeper;
  folder: DataFolder;
  templates: Pick<TemplateRegistry, "current">;
}

/** Longer side in pixels: enough to judge a card by, too small to use. */
const LONG_SIDE_PX = 640;
/** The smallest side the API allows. */
const SHORT_SIDE_PX = 512;

/** Paid cards come first: one preview at a time, and only when a renderer is free. */
const drawing = new PQueue({ concurrency: 1 });

const SMALL_QUALITY = 78;

/**
 * A preview of a card, marked PREVIEW and, with `widthPx`, smaller: made from its own photo, not charged and
 * not stored; `place` is shown as its place in a set. Returns a WebP picture. Throws a Refusal when the photo
 * cannot be used, or no renderer becomes free in time.
 */
export function previewCard(
  deps: PreviewDeps,
  account: Account,
  request: CreateImageRequest,
  { widthPx, place }: { widthPx?: number; place?: SetPlace } = {},
): Promise<Uint8Array> {
  return drawing.add(async () => {
    const limit = SOURCE_BYTES_PER_DAY[account.tier];
    await refuseWhenSpent(deps.sourceBytes, account, limit, "photos and badges fetched");
    const hold = deps.keeper.hold();
    try {
      const scope = { accountId: account.id, environment: "live" as const };
      const { manifest: template } = await deps.templates.current(request.style.preset);
      const { photo, badge, pictures } = await fetchSources(deps, { ...scope, request, template }, hold);
      if (!photo) throw new Error("a preview without a photo");
      const badgeSha256 = badge?.sha256 ?? null;
      const card = cardInput(request, place);
      const whole = await draw(deps, card, { photo: photo.sha256, badge: badgeSha256, pictures });
      if (widthPx === undefined) return whole;
      return await new Bun.Image(whole).resize(widthPx).webp({ quality: SMALL_QUALITY }).bytes();
    } finally {
      await hold.close(false);
    }
  });
}

async function draw(
  { pool, blobs, folder, random }: PreviewDeps,
  card: CardInput,
  sources: { photo: string; badge: string | null; pictures: FieldPictures },
): Promise<Uint8Array> {
  const outputPath = join(folder.scratch, `${random.id("preview")}.webp`);
  const renderer = await spareRenderer(pool);
  try {
    const outcome = await renderer.render(
      {
        jobId: "preview",
        card: { ...card, style: { ...card.style, ...previewSize(card.style), format: "webp" } },
        preview: true,
        photoPath: await blobs.local("source", sources.photo),
        photoSha256: sources.photo,
        badgePath: sources.badge === null ? null : await blobs.local("source", sources.badge),
        picturePaths: await picturePaths(blobs, sources.pictures),
        outputPath,
      },
      () => {},
    );
    if (outcome.kind === "refused")
      throw new Refusal("UNSUPPORTED_IMAGE_SOURCE", outcome.message, { reason: outcome.reason });
    return await Bun.file(outputPath).bytes();
  } finally {
    renderer.release();
    await removeWhole(outputPath).catch(() => {});
  }
}

/** The card's proportions, scaled down. */
function previewSize({ width, height }: { width: number; height: number }): {
  width: number;
  height: number;
} {
  const scale = Math.min(
    1,
    Math.max(LONG_SIDE_PX / Math.max(width, height), SHORT_SIDE_PX / Math.min(width, height)),
  );
  return { width: Math.round(width * scale), height: Math.round(height * scale) };
}
