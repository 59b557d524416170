import { API_PATHS, fillPath } from "./api-paths.ts";
import { ownAddresses } from "./base-path.ts";
import { samplePhotoAt } from "./sample-photo.ts";

// URLs of this very service that stand for a photo. As a source they are read from storage, not requested, so
// they need neither HTTPS nor a public address, nor a route from the service to itself.

const UPLOADS = `${API_PATHS.photos}/`;

/** The URL of an uploaded photo. */
export function uploadUrl({ baseUrl }: { baseUrl: string }, id: string): string {
  return baseUrl + fillPath(API_PATHS.photo, { photo_id: id });
}

/** The upload a URL stands for; undefined when it is not one of this service's uploads. */
export function uploadAt(address: string, service: { baseUrl: string; port: number }): string | undefined {
  const place = ownAddresses(service).find((known) => address.startsWith(known + UPLOADS));
  return place && /^pho_[0-9A-Za-z]+$/.exec(address.slice(place.length + UPLOADS.length))?.[0];
}

/** Whether a URL stands for a photo that this service already has. */
export function isOwnPhoto(address: string, service: { baseUrl: string; port: number }): boolean {
  return samplePhotoAt(address, service) !== undefined || uploadAt(address, service) !== undefined;
}
