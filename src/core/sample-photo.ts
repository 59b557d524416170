// Photos that every service hosts itself, for people who have none at hand. As a source they are read from
// disk, not requested, so their URLs need neither HTTPS nor a public address, nor a route from the service to
// itself.

import { ownAddresses } from "./base-path.ts";

/** Must stay stable: documentation, playground and demo refer to it. A portrait. */
export const SAMPLE_PHOTO_PATH = "/docs/samples/player.png";

/** All of them, the portrait first. They must stay stable too. */
export const SAMPLE_PHOTO_PATHS = [
  SAMPLE_PHOTO_PATH,
  "/docs/samples/player-2.jpg",
  "/docs/samples/player-3.jpg",
] as const;

export type SamplePhotoPath = (typeof SAMPLE_PHOTO_PATHS)[number];

/** The public URL of a sample photo. */
export function samplePhotoUrl(
  { baseUrl }: { baseUrl: string },
  path: SamplePhotoPath = SAMPLE_PHOTO_PATH,
): string {
  return baseUrl + path;
}

/** The path of the sample photo that `address` is the URL of; undefined for any other address. */
export function samplePhotoAt(
  address: string,
  service: { baseUrl: string; port: number },
): SamplePhotoPath | undefined {
  const places = ownAddresses(service);
  return SAMPLE_PHOTO_PATHS.find((path) => places.some((place) => address === place + path));
}
