import type { Blobs } from "../../blobs/blobs.ts";
import type { LoadedTemplate } from "../../templates/load.ts";
import { packTemplate } from "../../templates/pinned.ts";

/** Sizes of the archives, so that checking whether one is complete does not require packing it again. */
const lengths = new Map<string, number>();

/**
 * Stores a template's files under their digest, so that images accepted with them are drawn with them, whatever is
 * edited, deployed or killed in the meantime. Refreshes the age of files that exist already, since they are needed
 * again.
 */
export async function keepTemplate(
  blobs: Pick<Blobs, "put" | "refresh">,
  { digest, files }: LoadedTemplate,
): Promise<void> {
  const length = lengths.get(digest);
  if (length !== undefined && (await blobs.refresh("template", digest, length))) return;
  const bytes = await packTemplate(files);
  lengths.set(digest, bytes.length);
  if (await blobs.refresh("template", digest, bytes.length)) return;
  await blobs.put("template", digest, bytes);
}
