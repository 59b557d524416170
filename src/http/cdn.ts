import type { AppContext } from "../app/context.ts";
import { type SmallerPictures, smallerType } from "../app/images/smaller-pictures.ts";
import type { Blobs } from "../blobs/blobs.ts";
import { Refusal } from "../core/errors.ts";
import { storedRequest } from "../core/image-request.ts";
import { LAYER_PICTURES, type LayerPicture } from "../core/layers.ts";
import { isMoving, MAX_STILL_WIDTH } from "../core/moving-pictures.ts";
import { invalidRequest, pictureGone } from "../core/partner-refusals.ts";
import { PDF, PICTURE_NAME } from "../core/picture-formats.ts";
import { PICTURE_WIDTHS } from "../core/picture-limits.ts";
import { layerOf, withoutLayers } from "../render/card/formats/layer-files.ts";
import { findImageByOutput } from "../store/images/image-reads.ts";
import type { Image } from "../store/images/images.ts";
import { namesVersion } from "../web/etag.ts";
import { standardHeaders } from "./envelope.ts";
import type { Exchange } from "./exchange.ts";

export interface CdnDeps extends AppContext {
  blobs: Blobs;
  smaller: SmallerPictures;
}

const NAME = new RegExp(`^${PICTURE_NAME}$`);

/**
 * GET /cdn/{name}: a finished picture. Serves only what the database knows to be finished, never a stray
 * file.
 * @param version for its ETag; a finished picture never changes, so its name is one
 */
export async function servePicture(
  deps: CdnDeps,
  exchange: Exchange,
  name: string,
  version = name.replace(/\.\w+$/, ""),
): Promise<Response> {
  const image = NAME.test(name) ? await findImageByOutput(deps.store.read, name) : undefined;
  const expiresAt = image?.expiresAt ?? 0;
  const secondsLeft = Math.floor((expiresAt - deps.clock.now()) / 1000);
  if (!image || image.purgedAt !== null || image.forgottenAt !== null || secondsLeft <= 0) throw gone(image);
  const layer = layerAsked(exchange.url, image, name);
  const width = layer === undefined ? widthOf(exchange.url, image) : undefined;
  const headers = {
    ...standardHeaders(exchange),
    ETag: `"${version}${layer === undefined ? "" : `-${layer}`}${width === undefined ? "" : `-w${width}`}"`,
    "Cache-Control": `public, max-age=${secondsLeft}, immutable`,
    Expires: new Date(expiresAt).toUTCString(),
    "Last-Modified": new Date(image.completedAt ?? 0).toUTCString(),
    "X-Content-Type-Options": "nosniff",
    "Access-Control-Allow-Origin": "*",
    "Cross-Origin-Resource-Policy": "cross-origin",
    ...policyOf(image.outputContentType, width),
  };
  if (matches(exchange.request.headers, headers.ETag, image))
    return new Response(null, { status: 304, headers });
  const contentType = image.outputContentType ?? "application/octet-stream";
  const typed = { ...headers, "Content-Type": contentType };
  if (layer !== undefined || (width === undefined && hasLayers(image, name))) {
    const file = await fileOf(deps, name);
    const part = file && (layer === undefined ? withoutLayers(file) : layerOf(file, layer));
    if (!part) throw lost(deps, image, name);
    return new Response(part as Uint8Array<ArrayBuffer>, { headers: typed });
  }
  if (width === undefined) {
    const served = await deps.blobs.serve("picture", name, exchange.request, typed);
    if (!served) throw lost(deps, image, name);
    return served;
  }
  const bytes = await deps.smaller.give(name, contentType, width);
  if (!bytes) throw lost(deps, image, name);
  return new Response(bytes, { headers: { ...headers, "Content-Type": smallerType(contentType) } });
}

/**
 * What a file opened by itself may do: nothing. But browsers show a video in a document of their own, which
 * may load it, and no PDF at all under such a policy.
 */
function policyOf(contentType: string | null, width: number | undefined): Record<string, string> {
  if (contentType === PDF && width === undefined) return {};
  const media = contentType?.startsWith("video/") ? "media-src 'self'; " : "";
  return { "Content-Security-Policy": `default-src 'none'; ${media}sandbox` };
}

async function fileOf({ blobs }: CdnDeps, name: string): Promise<Uint8Array | null> {
  if ((await blobs.stat("picture", name)) === null) return null;
  return Bun.file(await blobs.local("picture", name)).bytes();
}

/** Whether the file of this name holds the card's layers, which its front alone does. */
const hasLayers = (image: Image, name: string): boolean =>
  image.outputName === name && storedRequest(image.request).style.layers === true;

/** The layer asked for by `layer`; undefined for the picture itself. */
function layerAsked({ searchParams }: URL, image: Image, name: string): LayerPicture | undefined {
  const asked = searchParams.getAll("layer");
  if (asked.length === 0) return undefined;
  const refused = (field: string, message: string) => invalidRequest([{ field, message }]);
  if (!hasLayers(image, name))
    throw refused(
      "query layer",
      "is given, and this picture has no layers. Leave it out, or make the card with `style.layers`: its `result.layers` has their addresses.",
    );
  const layer = LAYER_PICTURES.find((known) => asked.length === 1 && known === asked[0]);
  if (layer === undefined)
    throw refused("query layer", `must be one of ${LAYER_PICTURES.join(", ")}, given once.`);
  if (searchParams.has("w"))
    throw refused("query w", "is given with `layer`, and layers have one size. Leave one of them out.");
  return layer;
}

const isFilm = (image: Image) => isMoving(storedRequest(image.request).style.format ?? "png");

/**
 * The width asked for by `w`; undefined for the picture's own. Other parameters mean nothing, as they always
 * have.
 */
function widthOf({ searchParams }: URL, image: Image): number | undefined {
  const asked = searchParams.getAll("w");
  if (asked.length === 0) return undefined;
  if (isFilm(image)) return stillWidthOf(asked);
  const own = image.outputWidth ?? 0;
  const width = PICTURE_WIDTHS.find((known) => asked.length === 1 && String(known) === asked[0]);
  if (width !== undefined && width <= own) return width === own ? undefined : width;
  const smaller = PICTURE_WIDTHS.filter((known) => known < own);
  const rule = `must be one of ${smaller.join(", ")}, given once: the widths below this picture's own ${own} pixels. Leave it out for the whole picture.`;
  throw invalidRequest([{ field: "query w", message: rule }]);
}

/** A moving picture's widths give its still. */
function stillWidthOf(asked: string[]): number {
  const widths = PICTURE_WIDTHS.filter((known) => known <= MAX_STILL_WIDTH);
  const width = widths.find((known) => asked.length === 1 && String(known) === asked[0]);
  if (width !== undefined) return width;
  const message = `must be one of ${widths.join(", ")}, given once: the widths of the still of a picture that moves. Leave it out for the moving picture.`;
  throw invalidRequest([{ field: "query w", message }]);
}

/** RFC 9110, 13.1: If-None-Match wins over If-Modified-Since. */
function matches(request: Headers, etag: string, image: Image): boolean {
  const tags = request.get("if-none-match");
  if (tags !== null) return namesVersion(tags, etag);
  const since = Date.parse(request.get("if-modified-since") ?? "");
  return !Number.isNaN(since) && Math.floor((image.completedAt ?? 0) / 1000) * 1000 <= since;
}

/** How many missing pictures are remembered as reported. */
const MAX_REPORTED = 1_000;
const reported = new Set<string>();

/** A missing file will not come back, so it is logged once, not at every view. */
function lost({ log }: CdnDeps, image: Image, name: string): Refusal {
  if (!reported.has(name)) {
    if (reported.size >= MAX_REPORTED) reported.clear();
    reported.add(name);
    log.error("picture_lost", {
      imageId: image.id,
      name,
      remedy: `Restore the folder of images from a backup. "cardpress audit" names every picture that is missing.`,
    });
  }
  return new Refusal(
    "NOT_FOUND",
    "This picture was lost on our side. Create the image again, or ask the operator of the service to restore it.",
  );
}

function gone(image: Image | undefined): Refusal {
  if (image) return pictureGone(image.forgottenAt === null ? "expired" : "deleted");
  return new Refusal(
    "NOT_FOUND",
    "There is no picture at this address. Take the address from result.image_url of a completed image.",
  );
}
