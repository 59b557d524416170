// A photo that every service serves itself, for whoever has none at hand yet. As a source its address is read, not
// requested: it needs neither HTTPS nor a public address, and no way from the service to itself.

/** Stable: documentation, playground and demo name it. */
export const SAMPLE_PHOTO_PATH = "/docs/samples/player.png";

/** The sample photo's public address. */
export function samplePhotoUrl({ baseUrl }: { baseUrl: string }): string {
  return baseUrl + SAMPLE_PHOTO_PATH;
}

/** Whether `address` is exactly the sample photo's on this very service. */
export function isSamplePhoto(address: string, service: { baseUrl: string; port: number }): boolean {
  // On the machine itself people use the local names as well, whatever the public address is.
  const places = [service.baseUrl, `http://127.0.0.1:${service.port}`, `http://localhost:${service.port}`];
  return places.some((place) => address === place + SAMPLE_PHOTO_PATH);
}
