import type { FailureReason } from "./failure-reasons.ts";

/**
 * The states of an image: `waiting -> queued` once the photo of a batch card has been fetched,
 * `queued -> rendering -> completed | failed`, and `rendering -> queued` after a transient fault or an
 * expired lease. Only the last two are final.
 */
export const IMAGE_STATES = ["waiting", "queued", "rendering", "completed", "failed"] as const;
export type ImageState = (typeof IMAGE_STATES)[number];

/** The states as partners see them: `waiting`, `queued` and `rendering` are all `processing`. */
export const PUBLIC_STATUSES = ["processing", "completed", "failed"] as const;
export type PublicStatus = (typeof PUBLIC_STATUSES)[number];

/** The states that are not final. */
export const UNFINISHED_STATES = ["waiting", "queued", "rendering"] as const satisfies ImageState[];

/**
 * Whether an image failed because it was not wanted any more. Its status is `failed` all the same: for older
 * clients.
 */
export function isCanceled({ failureReason }: { failureReason: string | null }): boolean {
  return failureReason === ("canceled" satisfies FailureReason);
}

/** The public status for a state. */
export function publicStatus(state: ImageState): PublicStatus {
  return state === "completed" || state === "failed" ? state : "processing";
}
