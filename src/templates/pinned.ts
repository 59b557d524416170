import { MAX_TEMPLATE_BYTES } from "../core/limits.ts";
import { digestOf, type TemplateFiles } from "./files.ts";
import { type LoadedTemplate, templateOf } from "./load.ts";

/** A template's files as a single tar archive, which any system can open. */
export async function packTemplate(files: TemplateFiles): Promise<Uint8Array> {
  return new Bun.Archive(Object.fromEntries(files)).bytes();
}

/**
 * Loads a template from an archive. Throws when it does not match the digest: no other may be used instead.
 */
export async function unpackTemplate(bytes: Uint8Array, digest: string): Promise<LoadedTemplate> {
  const files = new Map<string, Uint8Array>();
  let total = 0;
  for (const [name, file] of await new Bun.Archive(bytes).files()) {
    total += file.size;
    if (total > MAX_TEMPLATE_BYTES) throw new Error("it holds more than a template may");
    files.set(name, await file.bytes());
  }
  if (digestOf(files) !== digest) throw new Error("it does not hold what its digest says");
  return templateOf(files);
}
