import { isShareable, isVideo, shareName, shareUrl } from "../../app/images/output-name.ts";
import { fillPath, SHARED_PATHS } from "../../core/api-paths.ts";
import type { CreateImageRequest } from "../../core/image-request.ts";
import { type LayerAddresses, layerAddresses } from "../../core/layers.ts";
import { isMoving, MAX_STILL_WIDTH } from "../../core/moving-pictures.ts";
import { PICTURE_WIDTHS } from "../../core/picture-limits.ts";
import { findAnyImage } from "../../store/images/image-reads.ts";
import type { Image } from "../../store/images/images.ts";
import type { Tx } from "../../store/store.ts";

/** What the page of a card shows: what the card itself shows, and no more of its player. */
export interface SharedCard {
  /** The player's. */
  name: string;
  width: number;
  height: number;
  contentType: string;
  expiresAt: number;
  /** The page's own address, its frame's, and where oEmbed is asked about it. */
  address: string;
  frameUrl: string;
  oembedUrl: string;
  /** The picture for other sites; the others are for this page, from wherever pictures are served. */
  pictureUrl: string;
  picture: string;
  smallPicture: string;
  /** Of a picture that moves: one that stands still. */
  still: string | null;
  back: string | null;
  /** What moves against each other as it tilts. */
  layers: LayerAddresses | null;
  isVideo: boolean;
}

export type Addresses = { baseUrl: string; cdnBaseUrl: string };

const NAME = /^img_[0-9A-Za-z]+-[0-9A-Za-z]+$/;

/**
 * The card that a page's address names; `gone` once it has expired or been deleted, `early` until it is
 * published, `unknown` where nothing was ever shown.
 */
export async function findSharedCard(
  read: Tx,
  name: string,
  { config, now }: { config: Addresses; now: number },
): Promise<SharedCard | "gone" | "early" | "unknown"> {
  const image = NAME.test(name) ? await findAnyImage(read, name.slice(0, name.indexOf("-"))) : undefined;
  if (!image?.outputName || !isShareable(image) || shareName(image.outputName) !== name) return "unknown";
  const isOver = image.purgedAt !== null || image.forgottenAt !== null || (image.expiresAt ?? 0) <= now;
  if (isOver) return "gone";
  return (image.publishAt ?? 0) > now ? "early" : sharedCard(image, config);
}

/** What is shown of a completed image. */
export function sharedCard(image: Image, { baseUrl, cdnBaseUrl }: Addresses): SharedCard {
  const outputName = image.outputName ?? "";
  // Validated when it was accepted.
  const { player, style } = image.request as CreateImageRequest;
  const address = shareUrl(baseUrl, outputName);
  const oembed = `${baseUrl}${SHARED_PATHS.oembed}?${new URLSearchParams({ url: address, format: "json" })}`;
  const width = image.outputWidth ?? 0;
  // From this service a page names them without its host, which may be reached by another name too.
  const base = cdnBaseUrl.startsWith(`${baseUrl}/`) ? cdnBaseUrl.slice(baseUrl.length) : cdnBaseUrl;
  return {
    name: player.name,
    width,
    height: image.outputHeight ?? 0,
    contentType: image.outputContentType ?? "",
    expiresAt: image.expiresAt ?? 0,
    address,
    frameUrl: baseUrl + fillPath(SHARED_PATHS.cardFrame, { card: shareName(outputName) }),
    oembedUrl: oembed,
    pictureUrl: `${cdnBaseUrl}/${outputName}`,
    picture: `${base}/${outputName}`,
    smallPicture: `${base}/${outputName}${width > PICTURE_WIDTHS[0] ? `?w=${PICTURE_WIDTHS[0]}` : ""}`,
    still: isMoving(style.format ?? "png") ? `${base}/${outputName}?w=${MAX_STILL_WIDTH}` : null,
    back: image.backOutputName === null ? null : `${base}/${image.backOutputName}`,
    layers: layerAddresses(style, `${base}/${outputName}`),
    isVideo: isVideo(image),
  };
}

/** Messengers draw no preview of a picture above some hundred kilobytes; a card of this width is below. */
const PREVIEW_WIDTH = 512;

/**
 * The picture in one of its smaller widths, of a video its still, within these bounds; undefined where none
 * is small enough.
 */
export function thumbnail(
  card: Pick<SharedCard, "width" | "height" | "pictureUrl" | "isVideo">,
  bounds: { width: number; height: number } = { width: PREVIEW_WIDTH, height: Infinity },
): { url: string; width: number; height: number } | undefined {
  const { width: own, height: ownHeight, pictureUrl } = card;
  // A still of the video's own width is smaller than the video too.
  const most = Math.min(PREVIEW_WIDTH, card.isVideo ? own : own - 1);
  const sizes = PICTURE_WIDTHS.filter((width) => width <= most).map((width) => ({
    url: `${pictureUrl}?w=${width}`,
    width,
    height: Math.round((width * ownHeight) / own),
  }));
  return sizes.findLast(({ width, height }) => width <= bounds.width && height <= bounds.height);
}

/** The style that a page has of its own, so that its card keeps its shape in any window. */
export function ratioStyle({ width, height }: Pick<SharedCard, "width" | "height">): string {
  return `:root{--ratio:${(width / height).toFixed(4)}}`;
}
