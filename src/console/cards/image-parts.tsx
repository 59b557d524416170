/** @jsxImportSource preact */
import { setOf } from "../../app/images/image-view.ts";
import { isVideo } from "../../app/images/output-name.ts";
import { placeLabel } from "../../core/card-set.ts";
import { isCanceled, publicStatus } from "../../core/image-state.ts";
import { MAX_STILL_WIDTH } from "../../core/moving-pictures.ts";
import { PDF } from "../../core/picture-formats.ts";
import type { PICTURE_WIDTHS } from "../../core/picture-limits.ts";
import type { Image } from "../../store/images/images.ts";
import { Badge, Breakable, Time } from "../elements.tsx";

/** Whether an image is unfinished. */
export function isOpen(image: Pick<Image, "state">): boolean {
  return publicStatus(image.state) === "processing";
}

/** How far an image is, and from when it is shown where that time is still to come. */
export function StatusBadge({ image }: { image: Pick<Image, "state" | "failureReason" | "publishAt"> }) {
  if (image.publishAt === null || image.state === "failed") return <StateBadge image={image} />;
  return (
    <span class="badges">
      <StateBadge image={image} />
      <Badge>
        <span>
          To be published on <Time at={image.publishAt} />
        </span>
      </Badge>
    </span>
  );
}

function StateBadge({ image }: { image: Pick<Image, "state" | "failureReason"> }) {
  if (isCanceled(image)) return <Badge>Canceled</Badge>;
  switch (image.state) {
    case "completed":
      return <Badge tone="good">Completed</Badge>;
    case "failed":
      return <Badge tone="bad">Failed</Badge>;
    default:
      return <Badge tone="busy">{image.state === "rendering" ? "Rendering" : "Queued"}</Badge>;
  }
}

/**
 * The player's name as it was sent. The request is JSON from the database, so nothing is assumed about it.
 */
export function playerName(image: Pick<Image, "request">): string {
  const { player } = (image.request ?? {}) as { player?: { name?: unknown } };
  return typeof player?.name === "string" ? player.name : "Unknown player";
}

/** The first sentence of the reason for failure; the image's page has the rest. */
function shortReason({ failureMessage }: Pick<Image, "failureMessage">): string {
  return failureMessage?.split(/(?<=\.) /)[0] ?? "No card";
}

/** How the place of a picture looks that is not there. */
export function placeholderClass(image: Pick<Image, "state" | "failureReason">): string {
  return isCanceled(image) ? "" : `thumb-${publicStatus(image.state)}`;
}

/** Below the width of every size for print. */
const PDF_SHOWN_PX = 512 satisfies (typeof PICTURE_WIDTHS)[number];

/** Whether its picture can be opened. */
export function isThere({ outputName, purgedAt }: Pick<Image, "outputName" | "purgedAt">): boolean {
  return outputName !== null && purgedAt === null;
}

/** The address of a finished picture as an `<img>` can show it: of a PDF its front, of a video its still. */
export function pictureAddress(image: Image): string {
  const isPdf = image.outputContentType === PDF;
  const width = isPdf ? PDF_SHOWN_PX : isVideo(image) ? MAX_STILL_WIDTH : null;
  return `/cdn/${image.outputName}${width === null ? "" : `?w=${width}`}`;
}

/** The parallel and number of a card of a set, such as gold 12/50; null for any other. */
export function placeText(image: Pick<Image, "setPlace" | "state">): string | null {
  const { set } = setOf(image);
  if (!set) return null;
  return placeLabel(set);
}

/** The set of a card with its place in it, among facts; nothing for a card outside of sets. */
export function SetFacts({ image }: { image: Image }) {
  const { set } = setOf(image);
  if (!set) return null;
  return (
    <>
      <dt>Set</dt>
      <dd>
        <a href={`/console/sets/${set.id}`}>
          <Breakable text={set.name} />
        </a>
      </dd>
      <dt>Place in the set</dt>
      <dd>
        <Breakable text={placeText(image) ?? ""} />
      </dd>
    </>
  );
}

/** A thumbnail of the finished picture, or a placeholder for it. */
export function Thumb({ image }: { image: Image }) {
  if (isThere(image))
    return (
      <img
        class="thumb"
        src={`/console/images/${image.id}/thumb`}
        alt=""
        loading="lazy"
        width={256}
        height={320}
      />
    );
  return (
    <span class={`thumb ${placeholderClass(image)}`}>
      {image.purgedAt !== null
        ? "Expired"
        : isCanceled(image)
          ? "Canceled"
          : image.state === "failed"
            ? shortReason(image)
            : "In the making"}
    </span>
  );
}

/** A finished card: a picture that leads to `href`, or a video for people who want it to move. */
export function CardPicture({
  image,
  className,
  alt,
  href,
}: {
  image: Image;
  className: string;
  alt: string;
  href?: string;
}) {
  const address = pictureAddress(image);
  if (isVideo(image)) {
    const video = `/cdn/${image.outputName}`;
    return (
      <video
        class={className}
        src={video}
        poster={address}
        aria-label={alt}
        controls
        loop
        muted
        playsinline
      />
    );
  }
  const picture = <img class={className} src={address} alt={alt} />;
  return href === undefined ? picture : <a href={href}>{picture}</a>;
}
