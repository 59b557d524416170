/** @jsxImportSource preact */

import { Refusal } from "../../core/errors.ts";
import { type CreateImageRequest, storedRequest } from "../../core/image-request.ts";
import { MAX_UPLOAD_BODY_BYTES } from "../../core/limits.ts";
import { invalidRequest } from "../../core/partner-refusals.ts";
import { PRINT_SIZE_NAMES } from "../../core/print-sizes.ts";
import { isPartnerRefusal, type PartnerRefusal } from "../../http/http-refusal.ts";
import { placesOf } from "../../store/images/batch-places.ts";
import { type Batch, batchesWith } from "../../store/images/batches.ts";
import { findImage } from "../../store/images/image-reads.ts";
import type { Image } from "../../store/images/images.ts";
import { batchName } from "../batches/batches.tsx";
import { printStyle } from "../batches/for-print.tsx";
import { takeFromBudget } from "../budget.ts";
import { Card, Choice, EnvironmentBadge, Notice, PageHead, PostForm } from "../elements.tsx";
import { shell } from "../layout.tsx";
import { Refused } from "../refused.tsx";
import { redirect } from "../respond.ts";
import { canWrite, field, type MemberVisit, member } from "../visit.ts";
import { Look, Words } from "./again-fields.tsx";
import { type Changes, changesOf } from "./again-form.ts";
import {
  Address,
  AGAIN,
  againPreviewRoutes,
  PHOTO,
  previewPath,
  sendsPhoto,
  sentChanges,
  wished,
} from "./again-preview.tsx";
import { FocusField } from "./focus-field.tsx";
import { ownImage } from "./image.tsx";
import { Failure, keptPhoto } from "./image-failure.tsx";
import { isOpen, isThere, playerName, StatusBadge } from "./image-parts.tsx";
import { PreviewPlace } from "./make-preview.tsx";
import { keepPhoto, PhotoDrop } from "./photo-drop.tsx";
import { declaredBy, formFacts } from "./playground-inputs.tsx";
import { acceptOnce, Nonce } from "./sent-once.tsx";

const textOf = (values: Record<string, string | number>): Partial<Changes> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]));

/** The form's field for where the new card goes: a batch's id, or nothing for beside the old card. */
const PLACE = "place";

/** Offered as a place for the new card: the newest batches that have the old one. */
const MAX_PLACES = 5;

/** What is to take the card's place in a batch, as long as it is being made. */
async function openChange({ deps }: MemberVisit, image: Image, places: Batch[]): Promise<Image | undefined> {
  const { read } = deps.store;
  for (const { id } of places) {
    const changeId = (await placesOf(read, id, [image.id])).get(image.id)?.changeId;
    const change = changeId && changeId !== image.id && (await findImage(read, { ...image, id: changeId }));
    if (change && isOpen(change)) return change;
  }
  return undefined;
}

/** Where the new card may go: into a batch only once the old one has ended. */
async function placesFor({ deps }: MemberVisit, image: Image): Promise<Batch[]> {
  return isOpen(image) ? [] : batchesWith(deps.store.read, image.id, MAX_PLACES);
}

function Places({ places, chosen }: { places: Batch[]; chosen: string }) {
  if (places.length === 0) return null;
  return (
    <Choice
      legend="Where it goes"
      name={PLACE}
      options={[
        ...places.map((batch): [string, string] => [batch.id, `In its place in ${batchName(batch)}`]),
        ["", "Beside it, as a card of its own"],
      ]}
      chosen={chosen}
    />
  );
}

/** The form's field of a card for print: one more picture of the card, beside it and with its number. */
const FOR_PRINT = "for_print";

interface Shown {
  image: Image;
  forPrint: boolean;
  of: Changes;
  places: Batch[];
  /** The place chosen so far. */
  place: string;
}

interface FormProps extends Shown {
  visit: MemberVisit;
  /** The address of its photo, as long as that is kept. */
  photo: string | undefined;
  /** Whether the form was sent and refused. */
  refused: boolean;
}

async function Form({ visit, image, forPrint, of, places, place, photo, refused }: FormProps) {
  const facts = await formFacts(visit);
  const declared = await declaredBy(visit, { ...of, back: "" }, facts);
  // Who is meant is what such a card needs.
  const inCrowd = image.failureReason === "several_people";
  return (
    <PostForm
      visit={visit}
      action={`/console/images/${image.id}/again`}
      id={AGAIN}
      class="make again"
      encType="multipart/form-data"
    >
      <Nonce visit={visit} />
      {/* What the Enter key presses: nothing, since the next button may cost a credit. */}
      {canWrite(visit) && <button type="submit" disabled hidden />}
      <div class="make-fields">
        <Card title="What to change" note="What you leave as it is stays so.">
          <div class="form">
            <Words of={of} />
            <PhotoDrop label="Another photo" sends={sendsPhoto(image)} />
            <div id={PHOTO}>
              <Address address={of.source_image_url} />
            </div>
            {inCrowd && <FocusField value={of.focus} photo={photo} />}
            <Look {...{ visit, of, facts, declared, isOpen: refused }}>
              {!inCrowd && <FocusField value={of.focus} photo={photo} />}
            </Look>
            {forPrint ? (
              <input type="hidden" name={FOR_PRINT} value="yes" />
            ) : (
              <Places places={places} chosen={place} />
            )}
          </div>
        </Card>
      </div>
      <div class="make-card">
        {canWrite(visit) && (
          <PreviewPlace
            path={previewPath(image)}
            form={AGAIN}
            first="Change something, and see the card."
            now={isThere(image) ? `/console/images/${image.id}/thumb` : undefined}
            atOnce={forPrint || image.state === "failed"}
          />
        )}
        <div class="actions">
          {canWrite(visit) && (
            <button type="submit" class="button button-primary">
              {image.environment === "live" ? "Make it again, one credit" : "Make it again, free"}
            </button>
          )}
          <a class="button" href={`/console/images/${image.id}`}>
            Leave it
          </a>
        </div>
      </div>
    </PostForm>
  );
}

async function againPage(visit: MemberVisit): Promise<Response> {
  const image = await ownImage(visit);
  const places = await placesFor(visit, image);
  const place = places.find(({ id }) => id === visit.query.get("batch")) ?? places[0];
  const size = PRINT_SIZE_NAMES.find((name) => name === visit.query.get("print"));
  const style = size ? textOf(printStyle(image, size)) : {};
  const of = { ...changesOf(storedRequest(image.request), visit.now), ...style };
  return page(visit, { image, forPrint: size !== undefined, of, places, place: place?.id ?? "" });
}

const FOR_PRINT_LEAD =
  "A picture of the same card in a size for print. The one before stays; a card of a set keeps its number, and takes no other.";

async function page(visit: MemberVisit, shown: Shown, refusal?: PartnerRefusal): Promise<Response> {
  const { image, forPrint, places } = shown;
  const change = await openChange(visit, image, places);
  const photo = (await keptPhoto(visit, image)) ? `/console/images/${image.id}/photo` : undefined;
  return shell(
    visit,
    "Make again",
    <>
      <PageHead
        title={`${playerName(image)} ${forPrint ? "for print" : "again"}`}
        lead={
          forPrint
            ? FOR_PRINT_LEAD
            : places.length > 0
              ? "Once the new card is ready it takes its place in the squad: the contact sheet and the ZIP have it. If it fails, the previous card stays."
              : "A new card of the same player. The one before stays, and you can compare them."
        }
      >
        <StatusBadge image={image} /> <EnvironmentBadge environment={image.environment} />
      </PageHead>
      <Failure image={image} />
      {change && (
        <Notice tone="warn" title="This card is being changed.">
          <a href={`/console/images/${change.id}`}>The new one</a> takes its place once it is ready. Change
          the card again after that, from its page.
        </Notice>
      )}
      {refusal && <Refused error={refusal} title="The card is not made." />}
      {await Form({ visit, ...shown, photo, refused: refusal !== undefined })}
    </>,
    { wide: true, status: refusal ? 422 : 200 },
  );
}

async function again(visit: MemberVisit): Promise<Response> {
  const image = await ownImage(visit);
  const { file } = visit;
  const before = storedRequest(image.request);
  const after = sentChanges(visit, before);
  const places = await placesFor(visit, image);
  const forPrint = field(visit, FOR_PRINT) !== "";
  const place = places.find(({ id }) => id === field(visit, PLACE));
  try {
    // Two members, or one who went back, may send the same form: the second card would cost one more credit.
    if (!place && field(visit, PLACE) !== "")
      throw new Refusal(
        "INVALID_REQUEST",
        "This card is not in that squad any more: somebody made it again. Open the squad to see the new one.",
      );
    await takeFromBudget(visit, image.environment);
    if (file) after.source_image_url = await keepPhoto(visit, image.environment, file.bytes);
    const checked = await wished(visit, before, after);
    if (!checked.request) throw invalidRequest(checked.details);
    if (place) return await inItsPlace(visit, place, image, checked.request);
    const { request } = checked;
    const origin = forPrint ? { shows: image.id } : { replaces: image.id };
    const made = await acceptOnce(visit, { environment: image.environment, request, ...origin });
    return redirect(`/console/images/${made}`, visit.exchange);
  } catch (error) {
    if (!isPartnerRefusal(error)) throw error;
    const shown = { image, forPrint, of: after, places, place: place?.id ?? "" };
    return page(visit, shown, error);
  }
}

/** Makes the card again in its batch, whose page follows. */
async function inItsPlace(
  visit: MemberVisit,
  batch: Batch,
  image: Image,
  request: CreateImageRequest,
): Promise<Response> {
  const { deps, account, session, exchange } = visit;
  const cards = [{ imageId: image.id, request, field: playerName(image) }];
  const { environment, id: batchId } = batch;
  const { made, images } = await deps.remakeCards({ account, environment, batchId, cards });
  const notice =
    made > 0
      ? `The card of ${request.player.name} is being made again.`
      : images.size > 0
        ? `An earlier card of ${request.player.name} is just so: it is back in its place, free of charge.`
        : "Nothing was changed, so nothing is made or charged.";
  await visit.flashes.put(session.id, { notice });
  return redirect(`/console/batches/${batchId}`, exchange);
}

export const againRoutes = [
  member.get("/console/images/:id/again", againPage),
  member.upload("/console/images/:id/again", MAX_UPLOAD_BODY_BYTES, again),
  ...againPreviewRoutes,
];
