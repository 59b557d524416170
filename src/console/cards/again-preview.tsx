/** @jsxImportSource preact */
import { checkCard } from "../../app/images/check-card.ts";
import { remadeRequest } from "../../app/images/remade-request.ts";
import { readSetPlace } from "../../core/card-set.ts";
import { type CreateImageRequest, storedRequest } from "../../core/image-request.ts";
import { MAX_UPLOAD_BODY_BYTES } from "../../core/limits.ts";
import { isPartnerRefusal } from "../../http/http-refusal.ts";
import type { Image } from "../../store/images/images.ts";
import { Field } from "../elements.tsx";
import { html } from "../respond.ts";
import { field, type MemberVisit, member } from "../visit.ts";
import { changeOf, changesOf, readChanges } from "./again-form.ts";
import { ownImage } from "./image.tsx";
import { BrokenRules, CardPreview, PREVIEW_CAPTION, SHOWS_PART } from "./make-preview.tsx";
import { keepPhoto } from "./photo-drop.tsx";

// The card as it will be when it is made again, before anything is charged.

export const previewPath = ({ id }: Pick<Image, "id">) => `/console/images/${id}/again/preview`;

/** What the form asks for, checked as the API would. */
export async function wished(
  visit: MemberVisit,
  before: CreateImageRequest,
  after = sentChanges(visit, before),
) {
  const { config, templates } = visit.deps;
  const whole = await remadeRequest(templates, before, changeOf(before, after, visit.now));
  return checkCard(JSON.parse(JSON.stringify(whole)), config, templates);
}

/** The form as it was sent. */
export const sentChanges = (visit: MemberVisit, before: CreateImageRequest) =>
  readChanges(visit, changesOf(before, visit.now));

/** The ids of the form, and of the part with the photo's address. */
export const AGAIN = "again";
export const PHOTO = "again-photo";

/** Sends the photo as soon as it is chosen, so that the preview shows it, and nothing else of the form. */
export const sendsPhoto = ({ id }: Image) => ({
  "hx-post": `/console/images/${id}/again/photo`,
  "hx-trigger": "change",
  "hx-target": `#${PHOTO}`,
  "hx-swap": "innerHTML",
  "hx-encoding": "multipart/form-data",
  "hx-params": "file,_csrf,source_image_url",
  "hx-sync": `#${PHOTO}:replace`,
});

export function Address({ address, problem }: { address: string; problem?: string }) {
  return (
    <details class="more" open={problem !== undefined && problem !== ""}>
      <summary>Or its address</summary>
      <Field label="The photo's address" id="source_image_url" problem={problem ?? ""}>
        <input
          id="source_image_url"
          name="source_image_url"
          type="text"
          value={address}
          aria-describedby="source_image_url-problem"
        />
      </Field>
    </details>
  );
}

/** A photo as soon as it is chosen: kept, and its address written into the form. */
async function sendPhoto(visit: MemberVisit): Promise<Response> {
  await ownImage(visit);
  const before = field(visit, "source_image_url");
  const shown = (address: string, problem = "") =>
    html(visit.exchange, <Address address={address} problem={problem} />, {
      fragment: true,
      headers: SHOWS_PART,
    });
  if (!visit.file) return shown(before);
  try {
    // Live, as its preview needs it.
    return shown(await keepPhoto(visit, "live", visit.file.bytes));
  } catch (error) {
    if (!isPartnerRefusal(error)) throw error;
    return shown(before, error.message);
  }
}

/** The card as the form would have it made, or what is wrong with that. */
async function preview(visit: MemberVisit): Promise<Response> {
  const image = await ownImage(visit);
  const { request: whole, details } = await wished(visit, storedRequest(image.request));
  // Another time makes no other picture.
  const { publish_at: _, ...request } = whole ?? {};
  const answer = whole
    ? await CardPreview({
        visit,
        request: request as CreateImageRequest,
        name: whole.player.name,
        caption: PREVIEW_CAPTION,
        path: previewPath(image),
        place: readSetPlace(image.setPlace),
      })
    : BrokenRules({ details });
  return html(visit.exchange, answer, { fragment: true });
}

export const againPreviewRoutes = [
  member.upload("/console/images/:id/again/photo", MAX_UPLOAD_BODY_BYTES, sendPhoto),
  member.post("/console/images/:id/again/preview", preview),
];
