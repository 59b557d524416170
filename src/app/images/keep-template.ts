import type { Blobs } from "../../blobs/blobs.ts";
import type { Clock } from "../../core/ports.ts";
import { HOUR_MS } from "../../core/time.ts";
import type { LoadedTemplate } from "../../templates/load.ts";
import { packTemplate } from "../../templates/pinned.ts";

export interface KeepTemplateDeps {
  blobs: Pick<Blobs, "put" | "refresh">;
  clock: Pick<Clock, "elapsed">;
}

/**
 * Once is enough for as long: files only go when nobody has used them for SOURCE_RETENTION_MS, which is days.
 */
const RENEWED_EVERY_MS = HOUR_MS;

/** By digest, when this process last found or put the files, on the clock's monotonic scale. */
const keptAt = new WeakMap<object, Map<string, number>>();
/** Sizes of the archives, so that checking whether one is complete does not require packing it again. */
const lengths = new Map<string, number>();

/**
 * Stores a template's files under their digest, so that images accepted with them are drawn with them,
 * whatever is edited, deployed or killed in the meantime. Refreshes the age of files that exist already,
 * since they are needed again; not at every call, because in a bucket that is a write.
 */
export async function keepTemplate(
  { blobs, clock }: KeepTemplateDeps,
  { digest, files }: LoadedTemplate,
): Promise<void> {
  const kept = keptAt.get(blobs) ?? new Map<string, number>();
  keptAt.set(blobs, kept);
  const now = clock.elapsed();
  const last = kept.get(digest);
  if (last !== undefined && now - last < RENEWED_EVERY_MS) return;
  await renew(blobs, digest, files);
  kept.set(digest, now);
}

async function renew(
  blobs: KeepTemplateDeps["blobs"],
  digest: string,
  files: LoadedTemplate["files"],
): Promise<void> {
  const archive = lengths.has(digest) ? null : await packTemplate(files);
  if (archive) lengths.set(digest, archive.length);
  if (await blobs.refresh("template", digest, lengths.get(digest) as number)) return;
  await blobs.put("template", digest, archive ?? (await packTemplate(files)));
}
