import { API_PATHS, fillPath } from "./api-paths.ts";
import { isSamplePhoto } from "./sample-photo.ts";

// Addresses of this very service that stand for a photo. As a source they are read, not requested: they need neither HTTPS
// nor a public address, and no way from the service to itself.

const UPLOADS = `${API_PATHS.photos}/`;

/** The address of a photo that was sent to us. */
export function uploadUrl({ baseUrl }: { baseUrl: string }, id: string): string {
  return baseUrl + fillPath(API_PATHS.photo, { photo_id: id });
}

/** The id of the upload an address stands for; undefined when it is no upload's on this service. */
export function uploadAt(address: string, service: { baseUrl: string; port: number }): string | undefined {
  // On the machine itself people use the local names as well, whatever the public address is.
  const places = [service.baseUrl, `http://127.0.0.1:${service.port}`, `http://localhost:${service.port}`];
  const place = places.find((known) => address.startsWith(known + UPLOADS));
  return place && /^pho_[0-9A-Za-z]+$/.exec(address.slice(place.length + UPLOADS.length))?.[0];
}

/** Whether an address stands for a photo that this service has itself. */
export function isOwnPhoto(address: string, service: { baseUrl: string; port: number }): boolean {
  return isSamplePhoto(address, service) || uploadAt(address, service) !== undefined;
}
