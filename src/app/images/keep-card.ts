import { readFile } from "node:fs/promises";
import type { Blobs } from "../../blobs/blobs.ts";
import { DEFAULT_FORMAT, storedRequest } from "../../core/image-request.ts";
import { PDF } from "../../core/picture-formats.ts";
import { sha256 } from "../../core/sha256.ts";
import { storageFault } from "../../core/storage-unavailable.ts";
import type { RenderedFile } from "../../render/protocol.ts";
import { findImageByOutput } from "../../store/images/image-reads.ts";
import type { Image, ImageOutput } from "../../store/images/images.ts";
import type { AppContext } from "../context.ts";
import { cardPdf } from "../print/card-pdf.ts";
import { outputName } from "./output-name.ts";

// How what was drawn of a card comes to be kept: as a picture of each side, or as one file of both.

type KeepDeps = Pick<AppContext, "store" | "log"> & { blobs: Blobs };

/** A side as the renderer wrote it. */
type DrawnSide = RenderedFile & { path: string };

/** Whether a finished image is to be one PDF of both sides. */
export const isPdfCard = (image: Pick<Image, "request">): boolean =>
  storedRequest(image.request).style.format === "pdf";

/** Keeps a card whose sides were drawn. Where one cannot be kept neither is. */
export async function keepCard(
  deps: KeepDeps & Pick<AppContext, "random">,
  image: Image,
  { front, back }: { front: DrawnSide; back: DrawnSide | null },
): Promise<ImageOutput> {
  const { contentType, width, height, bytes, composition } = front;
  const { version, digest } = front.template;
  const template = { templateVersion: version, templateDigest: digest };
  const name = newName(deps, image);
  if (isPdfCard(image)) {
    const file = await pdfOfSides(image, [front.path, ...(back ? [back.path] : [])]);
    await deps.blobs.put("picture", name, file);
    const receipt = { ...front.receipt, sha256: sha256(file) };
    return { name, contentType: PDF, width, height, bytes: file.length, composition, template, receipt };
  }
  await deps.blobs.put("picture", name, { path: front.path });
  const backName = newName(deps, image);
  if (back)
    await deps.blobs.put("picture", backName, { path: back.path }).catch(async (error) => {
      await dropPicture(deps, name);
      throw error;
    });
  const receipt = { ...front.receipt, ...(back && { backSha256: back.receipt.sha256 }) };
  const output: ImageOutput = { name, contentType, width, height, bytes, composition, template, receipt };
  if (back) output.back = { name: backName, bytes: back.bytes };
  return output;
}

/** The PDF of a card whose sides were drawn into these files: the same ones give the same bytes. */
export async function pdfOfSides(
  { request, createdAt }: Pick<Image, "request" | "createdAt">,
  paths: readonly string[],
): Promise<Uint8Array> {
  const pictures = await Promise.all(paths.map((path) => readFile(path)));
  return cardPdf(pictures, { title: storedRequest(request).player.name, createdAt });
}

/** Removes both sides of a card whose image somebody else has ended. */
export async function dropPictures(
  deps: KeepDeps,
  { name, back }: Pick<ImageOutput, "name" | "back">,
): Promise<void> {
  for (const one of [name, back?.name]) if (one !== undefined) await dropPicture(deps, one);
}

/**
 * Removes a picture whose image somebody else has ended, and only if no image has it: a picture too many is
 * removed by the sweep, one too few is lost. For that reason neither a database nor a bucket out of reach is
 * an error.
 */
async function dropPicture({ store, blobs, log }: KeepDeps, name: string): Promise<void> {
  try {
    if (await findImageByOutput(store.read, name)) log.error("picture_in_use", { name });
    else await blobs.remove("picture", name);
  } catch (error) {
    if (!storageFault(error)) throw error;
  }
}

/** A file name for this image's picture that has never been used before. */
export function newName(
  { random }: Pick<AppContext, "random">,
  image: Pick<Image, "id" | "request">,
): string {
  const { format = DEFAULT_FORMAT } = storedRequest(image.request).style;
  return outputName(image.id, format, random.id("x").slice(2));
}
