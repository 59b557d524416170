/** @jsxImportSource preact */
import { refuseFullUploads, uploadPhoto } from "../../app/images/upload-photo.ts";
import type { Environment } from "../../core/account.ts";
import { uploadUrl } from "../../core/own-photos.ts";
import { Field } from "../elements.tsx";
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
