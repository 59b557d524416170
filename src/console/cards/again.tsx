/** @jsxImportSource preact */

import { asFocus } from "../../app/batches/squad-cards.ts";
import { checkCard } from "../../app/images/check-card.ts";
import { ASKED_COMPOSITIONS, POSITIONS } from "../../core/card.ts";
import { colourNamed } from "../../core/colour-names.ts";
import { Refusal } from "../../core/errors.ts";
import { type CreateImageRequest, storedRequest } from "../../core/image-request.ts";
import { MAX_UPLOAD_BODY_BYTES } from "../../core/limits.ts";
import { invalidRequest } from "../../core/partner-refusals.ts";
import { formatsOf } from "../../core/picture-formats.ts";
import { PRINT_SIZE_NAMES } from "../../core/print-sizes.ts";
import { changedRequest, type RemakeImageRequest } from "../../core/remake-request.ts";
import { isPartnerRefusal, type PartnerRefusal } from "../../http/http-refusal.ts";
import { placesOf } from "../../store/images/batch-places.ts";
import { type Batch, batchesWith } from "../../store/images/batches.ts";
import { findImage } from "../../store/images/image-reads.ts";
import type { Image } from "../../store/images/images.ts";
import { batchName } from "../batches/batches.tsx";
import { printStyle } from "../batches/for-print.tsx";
import { takeFromBudget } from "../budget.ts";
import { compositionText, positionText, presetText } from "../card-words.ts";
import { Options, ThemeField } from "../choices.tsx";
import { Card, Choice, EnvironmentBadge, Field, Notice, PageHead, PostForm } from "../elements.tsx";
import { shell } from "../layout.tsx";
import { Refused } from "../refused.tsx";
import { redirect } from "../respond.ts";
import { canWrite, field, type MemberVisit, member } from "../visit.ts";
import { ColourInput } from "./colour-input.tsx";
import { Extras } from "./extras.tsx";
import { FocusField } from "./focus-field.tsx";
import { ownImage } from "./image.tsx";
import { isOpen, playerName, StatusBadge, Thumb } from "./image-parts.tsx";
import { keepPhoto, PhotoDrop } from "./photo-drop.tsx";
import { focusText } from "./playground-form.ts";
import { declaredBy, formFacts } from "./playground-inputs.tsx";
import { acceptOnce, Nonce } from "./sent-once.tsx";

/** What can be made otherwise here, by the names of the form. */
interface Changes {
  name: string;
  position: string;
  number: string;
  skill_level: string;
  source_image_url: string;
  focus: string;
  preset: string;
  background_theme: string;
  primary_color: string;
  secondary_color: string;
  club_badge_url: string;
  width: string;
  height: string;
  format: string;
  composition: string;
  layers: string;
  foil: string;
}

function changesOf({ player, style, branding = {} }: CreateImageRequest): Changes {
  return {
    name: player.name,
    position: player.position,
    number: String(player.number),
    skill_level: String(player.skill_level),
    source_image_url: player.source_image_url,
    focus: focusText(player.focus),
    preset: style.preset,
    background_theme: style.background_theme ?? "",
    primary_color: branding.primary_color ?? "",
    secondary_color: branding.secondary_color ?? "",
    club_badge_url: branding.club_badge_url ?? "",
    width: String(style.width ?? ""),
    height: String(style.height ?? ""),
    format: style.format ?? "png",
    composition: style.composition ?? "auto",
    layers: style.layers ? "true" : "",
    foil: style.foil ? "true" : "",
  };
}

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

interface Shown {
  image: Image;
  of: Changes;
  places: Batch[];
  /** The place chosen so far. */
  place: string;
  /** The address of its photo, as long as that is kept. */
  photo?: string | undefined;
}

async function Form({ visit, image, of, places, place, photo }: Shown & { visit: MemberVisit }) {
  const declared = await declaredBy(visit, { ...of, back: "" }, await formFacts(visit));
  const { presets } = visit.deps.config;
  return (
    <PostForm
      visit={visit}
      action={`/console/images/${image.id}/again`}
      class="form"
      encType="multipart/form-data"
    >
      <Nonce visit={visit} />
      <Text name="name" label="Name" of={of} />
      <Select name="position" label="Position" of={of} names={POSITIONS} text={positionText} />
      <div class="field-pair">
        <Text name="number" label="Shirt number" of={of} number />
        <Text name="skill_level" label="Rating" of={of} number />
      </div>
      <PhotoDrop label="Another photo" />
      <Text name="source_image_url" label="Or its address" of={of} />
      <FocusField value={of.focus} photo={photo} />
      <ThemeField value={of.background_theme} />
      <div class="field-pair">
        <Colour name="primary_color" label="Main colour" of={of} />
        <Colour name="secondary_color" label="Second colour" of={of} />
      </div>
      <Text name="club_badge_url" label="Badge address" of={of} />
      <div class="field-pair">
        {presets.length > 1 && (
          <Select name="preset" label="Template" of={of} names={presets} text={presetText} />
        )}
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
      <Places places={places} chosen={place} />
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
  const forPrint = size ? textOf(printStyle(image, size)) : {};
  const of = { ...changesOf(storedRequest(image.request)), ...forPrint };
  return page(visit, { image, of, places, place: place?.id ?? "" });
}

async function page(visit: MemberVisit, shown: Shown, refusal?: PartnerRefusal): Promise<Response> {
  const { image, places } = shown;
  const change = await openChange(visit, image, places);
  const { sourceSha256 } = image;
  const isKept = sourceSha256 !== null && (await visit.deps.blobs.stat("source", sourceSha256)) !== null;
  const photo = isKept ? `/console/images/${image.id}/photo` : undefined;
  return shell(
    visit,
    "Make again",
    <>
      <PageHead
        title={`${playerName(image)} again`}
        lead={
          places.length > 0
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

/** The fields of the form as it was sent; what it has no field for is as it was. */
function readChanges(visit: MemberVisit, before: Changes): Changes {
  const names = Object.keys(before) as (keyof Changes)[];
  const read = names.map((name) => [name, visit.form.has(name) ? field(visit, name) : before[name]]);
  return Object.fromEntries(read) as Changes;
}

/**
 * What a create request is to have otherwise: only what the form changed, so that the rest stays as it was
 * written.
 */
function changeOf(before: CreateImageRequest, after: Changes): RemakeImageRequest {
  const was = changesOf(before);
  const isNew = (name: keyof Changes) => after[name] !== was[name];
  const pick = (names: (keyof Changes)[]) =>
    Object.fromEntries(names.filter(isNew).map((name) => [name, typed(name, after[name])]));
  const brand = ["primary_color", "secondary_color", "club_badge_url"] as const;
  const branding = Object.fromEntries(
    brand.filter((name) => after[name] !== "").map((name) => [name, typed(name, after[name])]),
  );
  return {
    player: pick(["name", "position", "number", "skill_level", "source_image_url", "focus"]),
    style: pick(["preset", "background_theme", "width", "height", "format", "composition", "layers", "foil"]),
    ...(brand.some(isNew) ? { branding } : {}),
  } as RemakeImageRequest;
}

const NUMBERS: readonly (keyof Changes)[] = ["number", "skill_level", "width", "height"];

/**
 * Numbers that are none stay text, so that the message can name what was written. Colours may be named.
 */
function typed(name: keyof Changes, text: string): unknown {
  if (name === "focus") return text === "" ? undefined : asFocus(text);
  if (name === "primary_color" || name === "secondary_color") return colourNamed(text) ?? text;
  if (name === "layers" || name === "foil") return text === "true";
  if (!NUMBERS.includes(name)) return text;
  return /^\d{1,9}$/.test(text) ? Number(text) : text === "" ? undefined : text;
}

async function again(visit: MemberVisit): Promise<Response> {
  const image = await ownImage(visit);
  const { deps, file } = visit;
  const before = storedRequest(image.request);
  const after = readChanges(visit, changesOf(before));
  const places = await placesFor(visit, image);
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
    const whole = changedRequest(before, changeOf(before, after));
    const checked = await checkCard(JSON.parse(JSON.stringify(whole)), deps.config, deps.templates);
    if (!checked.request) throw invalidRequest(checked.details);
    if (place) return await inItsPlace(visit, place, image, checked.request);
    const { request } = checked;
    const made = await acceptOnce(visit, { environment: image.environment, request, replaces: image.id });
    return redirect(`/console/images/${made}`, visit.exchange);
  } catch (error) {
    if (!isPartnerRefusal(error)) throw error;
    const shown = { image, of: after, places, place: place?.id ?? "" };
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
];
