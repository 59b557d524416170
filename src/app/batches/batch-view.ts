import { publicStatus } from "../../core/image-state.ts";
import { isoTime, isoTimeOrNull } from "../../core/time.ts";
import type { Batch } from "../../store/images/batches.ts";
import type { Image } from "../../store/images/images.ts";
import { failureView, setOf } from "../images/image-view.ts";

/** The public view of a batch; its completion event carries the same. */
export function batchView(batch: Batch) {
  const { total, completed, failed, canceled } = batch;
  const ended = completed + failed;
  return {
    batch_id: batch.id,
    name: batch.name,
    status: batchStatus(batch),
    total,
    completed,
    failed,
    canceled,
    processing: total - ended,
    progress: Math.round((ended / total) * 1000) / 1000,
    created_at: isoTime(batch.createdAt),
    updated_at: isoTime(batch.updatedAt),
    canceled_at: isoTimeOrNull(batch.canceledAt),
    completed_at: isoTimeOrNull(batch.completedAt),
  };
}

export const BATCH_STATUSES = ["processing", "completed", "canceled"] as const;
export type BatchStatus = (typeof BATCH_STATUSES)[number];

/** Canceled from the moment it is requested; renders in progress still finish. */
export function batchStatus({
  canceledAt,
  completedAt,
}: Pick<Batch, "canceledAt" | "completedAt">): BatchStatus {
  if (canceledAt !== null) return "canceled";
  return completedAt === null ? "processing" : "completed";
}

/**
 * One card of a batch, in the order sent, with what is to replace it or failed to. A deleted one keeps its
 * place.
 */
export function batchImageView(image: Image, change: Image | undefined, cdnBaseUrl: string) {
  const isDeleted = image.forgottenAt !== null;
  const isThere = image.outputName !== null && image.purgedAt === null && !isDeleted;
  return {
    image_id: image.id,
    external_id: isDeleted ? null : image.externalId,
    status: isDeleted ? "deleted" : publicStatus(image.state),
    image_url: isThere ? `${cdnBaseUrl}/${image.outputName}` : null,
    back_url: isThere && image.backOutputName !== null ? `${cdnBaseUrl}/${image.backOutputName}` : null,
    failure: image.state === "failed" && !isDeleted ? failureView(image) : null,
    ...setOf(image),
    change: change
      ? {
          image_id: change.id,
          status: publicStatus(change.state),
          failure: change.state === "failed" ? failureView(change) : null,
        }
      : null,
  };
}
