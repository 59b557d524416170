import type { SamplePhotoPath } from "../core/sample-photo.ts";
import { SAMPLE_PHOTO_FILE } from "../templates/built-in.ts";
import farAway from "./samples/far-away.jpg" with { type: "file" };
import wholeBody from "./samples/whole-body.jpg" with { type: "file" };

/** The sample photos that every key may use as a source, by the path they are served at. */
export const SAMPLE_PHOTOS: Record<SamplePhotoPath, { path: string; contentType: string }> = {
  "/docs/samples/player.png": { path: SAMPLE_PHOTO_FILE, contentType: "image/png" },
  "/docs/samples/player-2.jpg": { path: wholeBody, contentType: "image/jpeg" },
  "/docs/samples/player-3.jpg": { path: farAway, contentType: "image/jpeg" },
};
