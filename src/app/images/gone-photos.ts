import type { Config } from "../../config.ts";
import type { Environment } from "../../core/account.ts";
import { storedRequest } from "../../core/image-request.ts";
import { uploadAt } from "../../core/own-photos.ts";
import type { Image } from "../../store/images/images.ts";
import { keptPhotos } from "../../store/images/photos.ts";
import type { AppContext } from "../context.ts";

type Deps = Pick<AppContext, "store" | "clock"> & {
  config: Pick<Config, "baseUrl" | "port">;
};

/**
 * The ids of those images whose photo was uploaded and is not kept any more: made again as they are, they
 * would fail. Test cards need no photo.
 */
export async function withoutPhoto(
  { store, clock, config }: Deps,
  scope: { accountId: string; environment: Environment },
  images: Image[],
): Promise<Set<string>> {
  if (scope.environment === "test") return new Set();
  const uploads = new Map<string, string>();
  for (const { id, request } of images) {
    const upload = uploadAt(storedRequest(request).player.source_image_url, config);
    if (upload !== undefined) uploads.set(id, upload);
  }
  const kept = await keptPhotos(store.read, scope, [...new Set(uploads.values())], clock.now());
  return new Set([...uploads].flatMap(([id, upload]) => (kept.has(upload) ? [] : [id])));
}
