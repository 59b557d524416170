import type { Blobs } from "../../blobs/blobs.ts";
import type { LoadedTemplate } from "../../templates/load.ts";
import { packTemplate } from "../../templates/pinned.ts";

/** How long the archives are, so that nobody packs one again to know whether it is there whole. */
const lengths = new Map<string, number>();

/**
 * Keeps a template's files by their digest, so that what is accepted with them is drawn with them, whatever is edited,
 * deployed or killed meanwhile. Makes those that are there already young: they are needed again.
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
