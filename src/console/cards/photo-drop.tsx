/** @jsxImportSource preact */
import { refuseFullUploads, uploadPhoto } from "../../app/images/upload-photo.ts";
import type { Environment } from "../../core/account.ts";
import { MAX_SOURCE_BYTES } from "../../core/limits.ts";
import { MAX_LIST_PHOTOS } from "../../core/list-limits.ts";
import { uploadUrl } from "../../core/own-photos.ts";
import { Field, PostForm } from "../elements.tsx";
import type { MemberVisit } from "../visit.ts";

/** The files that are photos, as inputs name them. */
export const PHOTO_TYPES = "image/jpeg,image/png,image/webp";

/** A place to drop a photo in, as the field `file` of a form that is sent as multipart/form-data. */
export function PhotoDrop({
  label,
  problem,
  note = "",
  sends = {},
}: {
  label: string;
  problem?: string;
  note?: string;
  /** htmx's attributes of an input that is sent as soon as a photo is chosen. */
  sends?: Record<string, string>;
}) {
  return (
    <Field
      label={label}
      id="file"
      hint={`Drop it here, or choose it: JPEG, PNG or WebP, at most 15 MB. It takes precedence over the address. ${note}`.trim()}
      problem={problem}
    >
      <input
        id="file"
        name="file"
        type="file"
        class="drop"
        accept={PHOTO_TYPES}
        aria-describedby={problem === undefined ? "file-hint" : "file-hint file-problem"}
        {...sends}
      />
    </Field>
  );
}

/**
 * Keeps a photo that was dropped, as POST /v1/photos does, and returns its address. Throws what that refuses.
 */
export async function keepPhoto(
  { deps, account }: MemberVisit,
  environment: Environment,
  bytes: Uint8Array,
): Promise<string> {
  await refuseFullUploads(deps, account);
  const photo = await uploadPhoto(deps, { account, environment, bytes, use: "photo" });
  return uploadUrl(deps.config, photo.id);
}

/** Where a folder, a ZIP or files are dropped for many players. Without its script it adds one file. */
export function PhotosForm({ visit, action }: { visit: MemberVisit; action: string }) {
  return (
    <PostForm
      visit={visit}
      action={action}
      encType="multipart/form-data"
      class="photo-drop"
      data-photo-drop
      data-max-bytes={MAX_SOURCE_BYTES}
      data-max-files={MAX_LIST_PHOTOS}
    >
      <label class="visually-hidden" for="photos">
        Photos
      </label>
      <input id="photos" name="file" type="file" class="drop" accept={PHOTO_TYPES} />
      <div class="actions">
        <button type="button" class="button" data-photo-folder hidden>
          Choose a folder
        </button>
        <noscript>
          <button type="submit" class="button">
            Add
          </button>
        </noscript>
      </div>
      <div class="photo-progress" data-photo-progress hidden>
        <progress max={1} value={0} aria-label="Photos sent" />
        <span class="note" data-photo-count />
        <button type="button" class="button button-small" data-photo-stop>
          Stop
        </button>
      </div>
      <div role="status" data-photo-problems />
    </PostForm>
  );
}
