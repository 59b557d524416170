// A photo that every service hosts itself, for people who have none at hand. As a source it is read from disk, not
// requested, so its URL needs neither HTTPS nor a public address, nor a route from the service to itself.

/** Must stay stable: documentation, playground and demo refer to it. */
export const SAMPLE_PHOTO_PATH = "/docs/samples/player.png";

/** The public URL of the sample photo. */
export function samplePhotoUrl({ baseUrl }: { baseUrl: string }): string {
  return baseUrl + SAMPLE_PHOTO_PATH;
}

/** Whether `address` is the URL of this service's own sample photo. */
export function isSamplePhoto(address: string, service: { baseUrl: string; port: number }): boolean {
  // On the machine itself people also use its local names, whatever the public address is.
  const places = [service.baseUrl, `http://127.0.0.1:${service.port}`, `http://localhost:${service.port}`];
  return places.some((place) => address === place + SAMPLE_PHOTO_PATH);
}
