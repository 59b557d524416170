import { readFile } from "node:fs/promises";
import type { Blobs } from "../../blobs/blobs.ts";
import { DEFAULT_FORMAT, storedRequest } from "../../core/image-request.ts";
import { PDF, type PictureFormatName } from "../../core/picture-formats.ts";
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

/** Keeps a card whose sides were drawn. Where one cannot be kept neither is. */
export async function keepCard(
  deps: KeepDeps & Pick<AppContext, "random">,
  image: Image,
  { front, back }: { front: DrawnSide; back: DrawnSide | null },
): Promise<ImageOutput> {
  const { contentType, width, height, bytes, composition } = front;
  const { version, digest } = front.template;
  const template = { templateVersion: version, templateDigest: digest };
  const { style, player } = storedRequest(image.request);
  const name = newName(deps, image.id, style);
  if (style.format === "pdf") {
    const about = { title: player.name, createdAt: image.createdAt };
    const file = await pdfOfSides([front.path, ...(back ? [back.path] : [])], about);
    await deps.blobs.put("picture", name, file);
    const receipt = { ...front.receipt, sha256: sha256(file) };
    return { name, contentType: PDF, width, height, bytes: file.length, composition, template, receipt };
  }
  await deps.blobs.put("picture", name, { path: front.path });
  const output: ImageOutput = { name, contentType, width, height, bytes, composition, template };
  if (!back) return { ...output, receipt: front.receipt };
  const backName = newName(deps, image.id, style);
  await deps.blobs.put("picture", backName, { path: back.path }).catch(async (error) => {
    await dropPicture(deps, name);
    throw error;
  });
  output.back = { name: backName, bytes: back.bytes };
  return { ...output, receipt: { ...front.receipt, backSha256: back.receipt.sha256 } };
}

/** The PDF of a card whose sides were drawn into these files: the same ones give the same bytes. */
export async function pdfOfSides(
  paths: readonly string[],
  about: { title: string; createdAt: number },
): Promise<Uint8Array> {
  return cardPdf(await Promise.all(paths.map((path) => readFile(path))), about);
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

/** A file name for a picture of this image that has never been used before. */
export function newName(
  { random }: Pick<AppContext, "random">,
  imageId: string,
  { format = DEFAULT_FORMAT }: { format?: PictureFormatName },
): string {
  return outputName(imageId, format, random.id("x").slice(2));
}
