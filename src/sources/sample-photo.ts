import { SAMPLE_PHOTO_FILE } from "../templates/built-in.ts";

/** The sample photo that every key may use as a source. */
export const SAMPLE_PHOTO = { path: SAMPLE_PHOTO_FILE, contentType: "image/png" };
