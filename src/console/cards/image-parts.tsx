/** @jsxImportSource preact */
import { isCanceled, publicStatus } from "../../core/image-state.ts";
import type { Image } from "../../store/images/images.ts";
import { Badge } from "../elements.tsx";

/** Whether an image is unfinished. */
export function isOpen(image: Pick<Image, "state">): boolean {
  return publicStatus(image.state) === "processing";
}

export function StatusBadge({ image }: { image: Pick<Image, "state" | "failureReason"> }) {
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

/** Whether its picture can be opened. */
export function isThere({ outputName, purgedAt }: Pick<Image, "outputName" | "purgedAt">): boolean {
  return outputName !== null && purgedAt === null;
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

/** The download's file name: the player's id, where that is a valid file name. */
export function downloadName({ externalId, outputName }: Image): string {
  const type = /\.\w+$/.exec(outputName ?? "")?.[0] ?? "";
  return `${externalId.replaceAll(/[^\p{L}\p{N}._-]+/gu, "-").slice(0, 100) || "card"}${type}`;
}
