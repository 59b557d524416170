/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { isCanceled } from "../../core/image-state.ts";
import type { Image } from "../../store/images/images.ts";
import { withoutFields } from "../card-words.ts";
import { Notice, PostForm } from "../elements.tsx";
import type { MemberVisit } from "../visit.ts";
import { Nonce } from "./sent-once.tsx";

/** Whether the photo as it was fetched is still there. */
export const keptPhoto = async ({ deps }: MemberVisit, { sourceSha256 }: Image): Promise<boolean> =>
  sourceSha256 !== null && (await deps.blobs.stat("source", sourceSha256)) !== null;

/** What went wrong and how to fix it, as its message says, with a link to more. */
export function Failure({ image, children }: { image: Image; children?: ComponentChildren }) {
  if (image.state !== "failed") return null;
  if (isCanceled(image))
    return (
      <Notice tone="info" title="Canceled">
        {image.failureMessage}
      </Notice>
    );
  const { failureCode: code, failureReason: reason } = image;
  return (
    <Notice tone="bad" title="The card could not be made.">
      {withoutFields(image.failureMessage ?? "")}{" "}
      <a href={`/docs/errors/${code}#reasons`} title={reason === null ? `${code}` : `${code}, ${reason}`}>
        More about it
      </a>
      {children}
    </Notice>
  );
}

const FIELD = "focus";

/** Of a failed card whose photo shows several people: a click says who is meant, and it is made with that. */
export function FaceAgain({ visit, image, place }: { visit: MemberVisit; image: Image; place: string }) {
  return (
    <PostForm
      visit={visit}
      action={`/console/images/${image.id}/again`}
      class="face-choice"
      encType="multipart/form-data"
    >
      <Nonce visit={visit} />
      {/* In its batch, where it has one. */}
      <input type="hidden" name="place" value={place} />
      <p>
        <strong>Click on the player's face.</strong>
      </p>
      <div class="focus-photo" data-points={FIELD} data-photo={`/console/images/${image.id}/photo`} hidden>
        <canvas role="img" aria-label="The photo" />
        <span class="focus-mark" hidden />
      </div>
      <div class="face-point">
        <label for={FIELD}>Or where it is, from the left and the top</label>
        <input id={FIELD} name={FIELD} type="text" placeholder="0.62 0.2" autocomplete="off" required />
      </div>
      <div class="actions">
        <button type="submit" class="button button-primary">
          {image.environment === "live" ? "Make the card, one credit" : "Make the card, free"}
        </button>
      </div>
    </PostForm>
  );
}
