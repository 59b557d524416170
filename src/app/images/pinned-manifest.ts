import type { Blobs } from "../../blobs/blobs.ts";
import type { TemplateManifest } from "../../templates/manifest.ts";
import { unpackTemplate } from "../../templates/pinned.ts";
import type { TemplateRegistry } from "../../templates/registry.ts";

export interface PinnedManifestDeps {
  blobs: Pick<Blobs, "open">;
  templates: Pick<TemplateRegistry, "current">;
}

/**
 * The manifest that an image was accepted with; the current one where that is not kept, as when it is drawn.
 */
export async function manifestOf(
  { blobs, templates }: PinnedManifestDeps,
  preset: string,
  digest: string | null,
): Promise<Partial<TemplateManifest>> {
  const current = await templates.current(preset).catch(() => null);
  if (digest === null || current?.digest === digest) return current?.manifest ?? {};
  const pinned = await blobs.open("template", digest);
  const bytes = await pinned?.bytes();
  // A damaged one fails when the card is drawn, which gives its credit back; here it would wait for ever.
  const kept = bytes && (await unpackTemplate(bytes, digest).catch(() => null));
  return (kept || current)?.manifest ?? {};
}
