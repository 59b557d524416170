import { join } from "node:path";
import { finishImage } from "../../../src/app/images/finish-image.ts";
import { claimImage } from "../../../src/app/images/render-image.ts";
import type { Workspace } from "../../../src/service/workspace.ts";
import { storeSource } from "../../../src/sources/source-files.ts";
import { fetched, sourcesOf } from "../../fakes.ts";
import { acceptLive } from "../accepting.ts";

// A data folder as a service leaves it, made without a browser: the pictures are bytes, the photo is a real
// one.

let pictures = 0;

/** Accepts a live image whose photo is stored; what fetching would have done. */
export async function acceptWithPhoto(workspace: Workspace, accountId: string): Promise<string> {
  const bytes = await Bun.file(join(import.meta.dir, "../../photos/astronaut.png")).bytes();
  const { sha256 } = await storeSource(workspace.blobs, bytes);
  return acceptLive(workspace, accountId, { sources: sourcesOf(fetched(sha256)) });
}

/**
 * Finishes the next live image with its own picture, or the next test image with a placeholder, stored before
 * the image is completed, as the service does.
 */
export async function finishNext(
  workspace: Workspace,
  placeholder?: { name: string; bytes: string },
): Promise<{ id: string; name: string; bytes: string }> {
  const image = await claimImage(workspace, placeholder ? "test" : "live");
  if (!image) throw new Error("nothing to claim");
  // Longer than what is read at once.
  const bytes = placeholder?.bytes ?? `picture ${++pictures} of ${image.id}, `.repeat(30_000);
  const name = `${image.id}-${String(pictures).padStart(4, "0")}.png`;
  if (placeholder)
    await workspace.blobs.copy({ kind: "placeholder", name: placeholder.name }, { kind: "picture", name });
  else await workspace.blobs.put("picture", name, bytes);
  const output = {
    name,
    width: 1,
    height: 1,
    contentType: "image/png",
    bytes: bytes.length,
    composition: "cutout" as const,
  };
  const lease = { imageId: image.id, token: image.leaseToken, renders: image.renders };
  await finishImage(workspace, lease, { kind: "completed", output });
  return { id: image.id, name, bytes };
}
