import { publicStatus } from "../../core/image-state.ts";
import { isoTime } from "../../core/time.ts";
import type { Image } from "../../store/images.ts";

/** The status view of an image: exactly the fields the API promises for its state. Webhooks carry the same. */
export type ImageView = Record<string, unknown> & { image_id: string; status: string };

export interface ViewOptions {
  cdnBaseUrl: string;
  /** 0.0 to 1.0, or null when unknown. */
  progress: number | null;
}

export function imageView(image: Image, options: ViewOptions): ImageView {
  const createdAt = isoTime(image.createdAt);
  switch (image.state) {
    case "queued":
    case "rendering":
      return {
        image_id: image.id,
        status: "processing",
        progress: image.state === "queued" ? null : options.progress,
        created_at: createdAt,
        updated_at: isoTime(image.updatedAt),
      };
    case "completed":
      return {
        image_id: image.id,
        status: "completed",
        result: {
          image_url: `${options.cdnBaseUrl}/${image.outputName}`,
          width: image.outputWidth,
          height: image.outputHeight,
          content_type: image.outputContentType,
          expires_at: isoTime(image.expiresAt ?? 0),
        },
        usage: { credits_used: 1 },
        created_at: createdAt,
        completed_at: isoTime(image.completedAt ?? 0),
      };
    case "failed":
      return {
        image_id: image.id,
        status: "failed",
        failure: { code: image.failureCode, message: image.failureMessage },
        created_at: createdAt,
        completed_at: isoTime(image.completedAt ?? 0),
      };
  }
}

/** One item of the list. `completed_at` is there once a terminal state is reached. */
export function imageListItem(image: Image): Record<string, unknown> {
  return {
    image_id: image.id,
    status: publicStatus(image.state),
    type: image.type,
    created_at: isoTime(image.createdAt),
    completed_at: image.completedAt === null ? null : isoTime(image.completedAt),
  };
}
