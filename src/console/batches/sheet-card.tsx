/** @jsxImportSource preact */
import type { OutlivedConsent } from "../../app/people/consent.ts";
import { needsOtherPhoto } from "../../core/failure-reasons.ts";
import type { Image } from "../../store/images/images.ts";
import { isOpen, placeText, playerName, StatusBadge, Thumb } from "../cards/image-parts.tsx";
import { Badge } from "../elements.tsx";

const OUTLIVED: Record<OutlivedConsent, string> = {
  withdrawn: "Consent withdrawn",
  ended: "Consent ended",
  photo: "Photo not allowed",
  full_name: "Full name not allowed",
};

/** Says that a finished card shows what its player does not allow any more. */
export function OutlivedBadge({ outlived }: { outlived: OutlivedConsent | undefined }) {
  return outlived ? <Badge tone="bad">{OUTLIVED[outlived]}</Badge> : null;
}

/** The way to another photo, for the card of a batch or a change of it that failed for its photo. */
export const otherPhotoPath = ({ id }: Pick<Image, "id">, batchId: string) =>
  `/console/images/${id}/again?batch=${batchId}#file`;

/** One card of a batch, and whether it is being changed. A deleted one keeps its place. */
export function SheetCard({
  image,
  change,
  batchId,
  outlived,
  canWrite,
}: {
  image: Image;
  change: Image | undefined;
  batchId: string;
  outlived: OutlivedConsent | undefined;
  canWrite: boolean;
}) {
  if (image.forgottenAt !== null)
    return (
      <div class="tile">
        <span class="thumb">Deleted</span>
        <span class="tile-name">Deleted</span>
      </div>
    );
  const last = change ?? image;
  const failed = last.state === "failed" && needsOtherPhoto(last.failureReason);
  return (
    <>
      <a href={`/console/images/${image.id}?batch=${batchId}`} class="tile">
        <Thumb image={image} />
        <span class="tile-name ellipsis">{playerName(image)}</span>
        <span class="tile-foot">
          <StatusBadge image={image} />
          {change && isOpen(change) && <Badge tone="busy">Being changed</Badge>}
          {change?.state === "failed" && <Badge tone="bad">Change failed</Badge>}
          <OutlivedBadge outlived={outlived} />
          <span class="ellipsis">{placeText(image) ?? image.externalId}</span>
        </span>
      </a>
      {failed && canWrite && (
        <a class="button button-small tile-action" href={otherPhotoPath(last, batchId)}>
          Choose another photo
          <span class="visually-hidden"> of {playerName(image)}</span>
        </a>
      )}
    </>
  );
}
