/** @jsxImportSource preact */

import { checkCard } from "../../app/images/check-card.ts";
import { ASKED_COMPOSITIONS, IMAGE_FORMATS } from "../../core/card.ts";
import {
  type CreateImageRequest,
  changedRequest,
  type RemakeImageRequest,
  storedRequest,
} from "../../core/image-request.ts";
import { MAX_UPLOAD_BODY_BYTES } from "../../core/limits.ts";
import { invalidRequest } from "../../core/partner-refusals.ts";
import { isPartnerRefusal } from "../../http/http-refusal.ts";
import type { Image } from "../../store/images/images.ts";
import { takeFromBudget } from "../budget.ts";
import { Card, EnvironmentBadge, Field, Notice, PageHead, PostForm } from "../elements.tsx";
import { shell } from "../layout.tsx";
import { redirect } from "../respond.ts";
import { canWrite, field, type MemberVisit, member } from "../visit.ts";
import { ownImage } from "./image.tsx";
import { playerName, StatusBadge, Thumb } from "./image-parts.tsx";
import { keepPhoto, PhotoDrop } from "./photo-drop.tsx";

/** What can be made otherwise here, by the names of the form. */
interface Changes {
  source_image_url: string;
  preset: string;
  background_theme: string;
  primary_color: string;
  secondary_color: string;
  club_badge_url: string;
  width: string;
  height: string;
  format: string;
  composition: string;
}

function changesOf({ player, style, branding = {} }: CreateImageRequest): Changes {
  return {
    source_image_url: player.source_image_url,
    preset: style.preset,
    background_theme: style.background_theme ?? "",
    primary_color: branding.primary_color ?? "",
    secondary_color: branding.secondary_color ?? "",
    club_badge_url: branding.club_badge_url ?? "",
    width: String(style.width ?? ""),
    height: String(style.height ?? ""),
    format: style.format ?? "png",
    composition: style.composition ?? "auto",
  };
}

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

function Options({
  name,
  label,
  of,
  options,
}: {
  name: keyof Changes;
  label: string;
  of: Changes;
  options: readonly string[];
}) {
  return (
    <Field label={label} id={name}>
      <select id={name} name={name}>
        {options.map((option) => (
          <option key={option} selected={option === of[name]}>
            {option}
          </option>
        ))}
      </select>
    </Field>
  );
}

function Form({ visit, image, of }: { visit: MemberVisit; image: Image; of: Changes }) {
  const { presets } = visit.deps.config;
  return (
    <PostForm
      visit={visit}
      action={`/console/images/${image.id}/again`}
      class="form"
      encType="multipart/form-data"
    >
      <Text name="source_image_url" label="Photo address" of={of} />
      <PhotoDrop label="Or another photo" />
      <Text
        name="background_theme"
        label="Background theme"
        of={of}
        hint="Any words: stadium night, fire, ice."
      />
      <div class="field-pair">
        <Text name="primary_color" label="Main colour" of={of} />
        <Text name="secondary_color" label="Second colour" of={of} />
      </div>
      <Text name="club_badge_url" label="Badge address" of={of} />
      <div class="field-pair">
        {presets.length > 1 && <Options name="preset" label="Template" of={of} options={presets} />}
        <Text name="width" label="Width" of={of} number />
        <Text name="height" label="Height" of={of} number />
        <Options name="format" label="Format" of={of} options={IMAGE_FORMATS} />
        <Options name="composition" label="Composition" of={of} options={ASKED_COMPOSITIONS} />
      </div>
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
  return page(visit, image, changesOf(storedRequest(image.request)));
}

function page(
  visit: MemberVisit,
  image: Image,
  of: Changes,
  refusal?: { title: string; details: { field: string; message: string }[]; message: string },
): Promise<Response> {
  return shell(
    visit,
    "Make again",
    <>
      <PageHead
        title={`${playerName(image)} again`}
        lead="A new card of the same player. The one before stays, and you can compare them."
      />
      {refusal && (
        <Notice tone="bad" title={refusal.title}>
          {refusal.details.length === 0 ? (
            refusal.message
          ) : (
            <ul>
              {refusal.details.map(({ field: name, message }) => (
                <li key={name}>
                  <code>{name}</code> {message}
                </li>
              ))}
            </ul>
          )}
        </Notice>
      )}
      <div class="image-page">
        <Card title="What is to be otherwise" note="What you leave as it is stays so.">
          <Form visit={visit} image={image} of={of} />
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
  const colours = ["primary_color", "secondary_color", "club_badge_url"] as const;
  const branding = Object.fromEntries(
    colours.filter((name) => after[name] !== "").map((name) => [name, after[name]]),
  );
  return {
    player: pick(["source_image_url"]),
    style: pick(["preset", "background_theme", "width", "height", "format", "composition"]),
    ...(colours.some(isNew) ? { branding } : {}),
  } as RemakeImageRequest;
}

/** Numbers that are none stay text, so that the message can name what was written. */
function typed(name: keyof Changes, text: string): unknown {
  if (name !== "width" && name !== "height") return text;
  return /^\d{1,9}$/.test(text) ? Number(text) : text === "" ? undefined : text;
}

async function again(visit: MemberVisit): Promise<Response> {
  const image = await ownImage(visit);
  const { deps, account, file } = visit;
  const before = storedRequest(image.request);
  const after = readChanges(visit, changesOf(before));
  try {
    await takeFromBudget(visit, image.environment);
    if (file) after.source_image_url = await keepPhoto(visit, image.environment, file.bytes);
    const whole = changedRequest(before, changeOf(before, after));
    const checked = await checkCard(JSON.parse(JSON.stringify(whole)), deps.config, deps.templates);
    if (!checked.request) throw invalidRequest(checked.details);
    const { answer } = await deps.accept({
      account,
      environment: image.environment,
      idempotencyKey: `console-${deps.random.id("idem")}`,
      request: checked.request,
    });
    return redirect(`/console/images/${answer.image_id}`, visit.exchange);
  } catch (error) {
    if (!isPartnerRefusal(error)) throw error;
    const { code, message, details = [] } = error;
    return page(visit, image, after, { title: code, message, details });
  }
}

export const againRoutes = [
  member.get("/console/images/:id/again", againPage),
  member.upload("/console/images/:id/again", MAX_UPLOAD_BODY_BYTES, again),
];
