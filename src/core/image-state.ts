/**
 * The states of an image: `queued -> rendering -> completed | failed`, and `rendering -> queued` after a fault that may
 * pass or a lease that ran out. Only the last two are final.
 */
export const IMAGE_STATES = ["queued", "rendering", "completed", "failed"] as const;
export type ImageState = (typeof IMAGE_STATES)[number];

/** The states as partners see them: `queued` and `rendering` are both processing. */
export const PUBLIC_STATUSES = ["processing", "completed", "failed"] as const;
export type PublicStatus = (typeof PUBLIC_STATUSES)[number];

/** The states from which an image still moves on. */
export const UNFINISHED_STATES = ["queued", "rendering"] as const satisfies ImageState[];

/** What partners are told of a state. */
export function publicStatus(state: ImageState): PublicStatus {
  return state === "queued" || state === "rendering" ? "processing" : state;
}
