/** @jsxImportSource preact */

import { ASKED_COMPOSITIONS, POSITIONS } from "../../core/card.ts";
import { Refusal } from "../../core/errors.ts";
import { type CreateImageRequest, storedRequest } from "../../core/image-request.ts";
import { MAX_UPLOAD_BODY_BYTES } from "../../core/limits.ts";
import { invalidRequest } from "../../core/partner-refusals.ts";
import { formatsOf } from "../../core/picture-formats.ts";
import { PRINT_SIZE_NAMES } from "../../core/print-sizes.ts";
import { isPartnerRefusal, type PartnerRefusal } from "../../http/http-refusal.ts";
import { placesOf } from "../../store/images/batch-places.ts";
import { type Batch, batchesWith } from "../../store/images/batches.ts";
import { findImage } from "../../store/images/image-reads.ts";
import type { Image } from "../../store/images/images.ts";
import { batchName } from "../batches/batches.tsx";
import { printStyle } from "../batches/for-print.tsx";
import { takeFromBudget } from "../budget.ts";
import { compositionText, positionText } from "../card-words.ts";
import { Options, ThemeField } from "../choices.tsx";
import { Card, Choice, EnvironmentBadge, Field, Notice, PageHead, PostForm } from "../elements.tsx";
import { shell } from "../layout.tsx";
import { Refused } from "../refused.tsx";
import { redirect } from "../respond.ts";
import { TemplateChoice } from "../template-choice.tsx";
import { canWrite, field, type MemberVisit, member } from "../visit.ts";
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
import { ColourInput } from "./colour-input.tsx";
import { Extras } from "./extras.tsx";
import { FocusField } from "./focus-field.tsx";
import { ownImage } from "./image.tsx";
import { isOpen, playerName, StatusBadge, Thumb } from "./image-parts.tsx";
import { PreviewPlace } from "./make-preview.tsx";
import { keepPhoto, PhotoDrop } from "./photo-drop.tsx";
import { declaredBy, formFacts } from "./playground-inputs.tsx";
import { PublishField } from "./publish-field.tsx";
import { acceptOnce, Nonce } from "./sent-once.tsx";

const textOf = (values: Record<string, string | number>): Partial<Changes> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]));

function Text({
  name,
  label,
  of,
  hint,
  number = false,
}: {
  name: keyof Changes;
  label: string;
  of: Changes;
  hint?: string;
  number?: boolean;
}) {
  const describedBy = hint ? { "aria-describedby": `${name}-hint` } : {};
  return (
    <Field label={label} id={name} hint={hint}>
      {number ? (
        <input id={name} name={name} type="number" value={of[name]} {...describedBy} />
      ) : (
        <input id={name} name={name} type="text" value={of[name]} {...describedBy} />
      )}
    </Field>
  );
}

function Colour({ name, label, of }: { name: keyof Changes; label: string; of: Changes }) {
  return (
    <Field label={label} id={name}>
      <ColourInput label={label} id={name} name={name} value={of[name]} />
    </Field>
  );
}

function Select({
  name,
  label,
  of,
  ...options
}: {
  name: keyof Changes;
  label: string;
  of: Changes;
  names: readonly string[];
  text?: (name: string) => string;
}) {
  return (
    <Field label={label} id={name}>
      <select id={name} name={name}>
        <Options chosen={of[name]} {...options} />
      </select>
    </Field>
  );
}

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
  /** The address of its photo, as long as that is kept. */
  photo?: string | undefined;
}

async function Form({ visit, image, forPrint, of, places, place, photo }: Shown & { visit: MemberVisit }) {
  const facts = await formFacts(visit);
  const declared = await declaredBy(visit, { ...of, back: "" }, facts);
  return (
    <PostForm
      visit={visit}
      action={`/console/images/${image.id}/again`}
      id={AGAIN}
      class="form"
      encType="multipart/form-data"
    >
      <Nonce visit={visit} />
      {/* What the Enter key presses: nothing, since the next button may cost a credit. */}
      {canWrite(visit) && <button type="submit" disabled hidden />}
      <Text name="name" label="Name" of={of} />
      <Select name="position" label="Position" of={of} names={POSITIONS} text={positionText} />
      <div class="field-pair">
        <Text name="number" label="Shirt number" of={of} number />
        <Text name="skill_level" label="Rating" of={of} number />
      </div>
      <PhotoDrop label="Another photo" sends={sendsPhoto(image)} />
      <div id={PHOTO}>
        <Address address={of.source_image_url} />
      </div>
      <FocusField value={of.focus} photo={photo} />
      <ThemeField value={of.background_theme} />
      <div class="field-pair">
        <Colour name="primary_color" label="Main colour" of={of} />
        <Colour name="secondary_color" label="Second colour" of={of} />
      </div>
      <Text name="club_badge_url" label="Badge address" of={of} />
      <TemplateChoice looks={facts.looks} chosen={of.preset} />
      <div class="field-pair">
        <Text name="width" label="Width" of={of} number />
        <Text name="height" label="Height" of={of} number />
        <Select name="format" label="Format" of={of} names={formatsOf(visit.deps.config)} />
        <Select
          name="composition"
          label="Composition"
          of={of}
          names={ASKED_COMPOSITIONS}
          text={compositionText}
        />
      </div>
      <Extras state={{ fields: of, ...declared }} />
      <PublishField fields={of} problem="" />
      {forPrint ? (
        <input type="hidden" name={FOR_PRINT} value="yes" />
      ) : (
        <Places places={places} chosen={place} />
      )}
      {canWrite(visit) && (
        <PreviewPlace
          path={previewPath(image)}
          form={AGAIN}
          first="Change something, and see the card."
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
  const { sourceSha256 } = image;
  const isKept = sourceSha256 !== null && (await visit.deps.blobs.stat("source", sourceSha256)) !== null;
  const photo = isKept ? `/console/images/${image.id}/photo` : undefined;
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
              ? "Once the new card is ready it takes its place in the batch: its sheet and its ZIP have it. If it fails, the previous card stays."
              : "A new card of the same player. The one before stays, and you can compare them."
        }
      />
      {change && (
        <Notice tone="warn" title="This card is being changed.">
          <a href={`/console/images/${change.id}`}>The new one</a> takes its place once it is ready. Change
          the card again after that, from its page.
        </Notice>
      )}
      {refusal && <Refused error={refusal} title="The card is not made." />}
      <div class="image-page">
        <Card title="What to change" note="What you leave as it is stays so.">
          {await Form({ visit, ...shown, photo })}
        </Card>
        <Card title="Before">
          <Thumb image={image} />
          <p>
            <StatusBadge image={image} /> <EnvironmentBadge environment={image.environment} />
          </p>
        </Card>
      </div>
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
        "This card is not in that batch any more: somebody made it again. Open the batch to see the new one.",
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
