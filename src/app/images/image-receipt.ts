import type { Blobs } from "../../blobs/blobs.ts";
import { OperatorError } from "../../core/errors.ts";
import { storedCard } from "../../core/image-request.ts";
import { publicStatus } from "../../core/image-state.ts";
import { isoTime, isoTimeOrNull } from "../../core/time.ts";
import type { RenderJob } from "../../render/protocol.ts";
import { type FieldPictures, picturesOfImage } from "../../store/images/image-pictures.ts";
import { findAnyImage } from "../../store/images/image-search.ts";
import type { Image } from "../../store/images/images.ts";
import { findReceipt, type Receipt } from "../../store/images/receipts.ts";
import type { AppContext } from "../context.ts";
import { pinnedTemplate } from "./render-image.ts";

interface ReceiptOf {
  image: Image;
  /** Those among its own fields. */
  pictures: FieldPictures;
  receipt: Receipt | null;
}

/**
 * An image with the record of how its picture was made, where one exists. Throws an OperatorError for an
 * unknown id.
 */
export async function imageReceipt({ store }: Pick<AppContext, "store">, id: string): Promise<ReceiptOf> {
  const image = await findAnyImage(store.read, id);
  if (!image) throw new OperatorError(`There is no image ${id}. "cardpress image list" names the newest.`);
  const pictures = await picturesOfImage(store.read, id);
  return { image, pictures, receipt: await findReceipt(store.read, id) };
}

/** The JSON of `cardpress image show`; names follow the API where it has them. */
export function receiptView({ image, pictures, receipt }: ReceiptOf) {
  return {
    image_id: image.id,
    account_id: image.accountId,
    environment: image.environment,
    status: publicStatus(image.state),
    external_id: image.externalId,
    created_at: isoTime(image.createdAt),
    completed_at: isoTimeOrNull(image.completedAt),
    expires_at: isoTimeOrNull(image.expiresAt),
    renders: image.renders,
    failure: image.failureMessage,
    failure_reason: image.failureReason,
    template: { name: image.templateName, version: image.templateVersion, digest: image.templateDigest },
    source_sha256: image.sourceSha256,
    badge_sha256: image.badgeSha256,
    picture_sha256s: pictures,
    picture:
      image.outputName === null
        ? null
        : {
            name: image.outputName,
            content_type: image.outputContentType,
            width: image.outputWidth,
            height: image.outputHeight,
            bytes: image.outputBytes,
            composition: image.outputComposition,
            sha256: receipt?.sha256 ?? null,
          },
    back:
      image.backOutputName === null
        ? null
        : {
            name: image.backOutputName,
            bytes: image.backOutputBytes,
            sha256: receipt?.backSha256 ?? null,
          },
    tools: receipt?.tools ?? null,
    framing: receipt?.framing ?? null,
    timings_ms: receipt?.timingsMs ?? null,
  };
}

/**
 * The job that renders an image's picture again into `outputPath`, from the stored request, photo, badge and
 * template. Throws an OperatorError when one of them is no longer kept.
 */
export async function rerenderJob(
  blobs: Blobs,
  { image, pictures }: Pick<ReceiptOf, "image" | "pictures">,
  outputPath: string,
): Promise<RenderJob> {
  if (image.environment === "test" || image.sourceSha256 === null)
    throw new OperatorError(`${image.id} is a test image: its placeholder was made of no photo.`);
  const place = async (what: string, sha256: string) => {
    if (await blobs.stat("source", sha256)) return blobs.local("source", sha256);
    throw new OperatorError(
      `The ${what} of ${image.id} is not kept any more, so its picture cannot be made again. Photos go some days after they were last asked for.`,
    );
  };
  const pinned = await pinnedTemplate(blobs, image);
  if (!pinned.template)
    throw new OperatorError(
      `The template of ${image.id} is not kept any more. It goes when the picture does.`,
    );
  const card = storedCard(image);
  const shown = Object.entries(pictures).map(
    async ([field, sha256]) => [field, await place(`picture in fields.${field}`, sha256)] as const,
  );
  return {
    jobId: image.id,
    // Whichever was chosen then. Pictures that predate the choice show a cutout.
    card: { ...card, style: { ...card.style, composition: image.outputComposition ?? "cutout" } },
    ...pinned,
    photoPath: await place("photo", image.sourceSha256),
    photoSha256: image.sourceSha256,
    badgePath: image.badgeSha256 === null ? null : await place("badge", image.badgeSha256),
    picturePaths: Object.fromEntries(await Promise.all(shown)),
    outputPath,
  };
}
