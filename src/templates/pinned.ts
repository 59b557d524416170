import { MAX_TEMPLATE_BYTES } from "../core/limits.ts";
import { digestOf, type TemplateFiles } from "./files.ts";
import { type LoadedTemplate, templateOf } from "./load.ts";

/** A template's files as one: a tar archive, which any system can look into. */
export async function packTemplate(files: TemplateFiles): Promise<Uint8Array> {
  return new Bun.Archive(Object.fromEntries(files)).bytes();
}

/** The template of an archive. Throws where it is not the one that the digest says: nobody may draw with another. */
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
