/** @jsxImportSource preact */

import type { Environment } from "../../core/account.ts";
import { type Composition, MOTIONS, POSITIONS } from "../../core/card.ts";
import { formatsOf, type PictureFormatName } from "../../core/picture-formats.ts";
import { SAMPLE_PHOTO_PATHS, samplePhotoUrl } from "../../core/sample-photo.ts";
import type { PartnerRefusal } from "../../http/http-refusal.ts";
import type { CardSet } from "../../store/sets/card-sets.ts";
import type { Fields } from "../../templates/fields.ts";
import type { LoadedTemplate } from "../../templates/load.ts";
import { hasFoil, shownFields } from "../../templates/load.ts";
import { compositionsOf } from "../../templates/manifest.ts";
import { offeredSets, setLabel } from "../batches/list-set.tsx";
import { compositionText, positionText } from "../card-words.ts";
import { Options, ThemeInput } from "../choices.tsx";
import { Choice, Field, PostForm } from "../elements.tsx";
import { looksOf, TemplateChoice } from "../template-choice.tsx";
import { field, type MemberVisit } from "../visit.ts";
import { ColourInput } from "./colour-input.tsx";
import { Extras, isForFoil } from "./extras.tsx";
import { FocusField } from "./focus-field.tsx";
import { PhotoDrop } from "./photo-drop.tsx";
import { type FormFacts, INPUTS, inputNamed, type PlaygroundFields, readFields } from "./playground-form.ts";
import { idOf, inputOf, OwnFields, type OwnInputs, readOwn } from "./playground-own.tsx";
import { PublishField } from "./publish-field.tsx";
import { Nonce } from "./sent-once.tsx";

/** The form, and what it holds. */
export interface PlaygroundState {
  fields: PlaygroundFields;
  /** What is filled in for the template's own fields. */
  own: OwnInputs;
  /** The fields that the chosen template declares. */
  template: Fields;
  /** What it takes as composition besides `auto`. */
  compositions: readonly Composition[];
  /** Whether it has another side. */
  hasBack: boolean;
  /** Whether it marks layers, and where foil goes. */
  hasLayers: boolean;
  hasFoil: boolean;
  presets: readonly string[];
  looks: LoadedTemplate[];
  /** In which this service makes cards. */
  formats: readonly PictureFormatName[];
  /** Those that a card can be put into. */
  sets: readonly CardSet[];
  environment: Environment;
  problems: Problems;
}

type Declared = Pick<PlaygroundState, "template" | "compositions" | "hasBack" | "hasLayers" | "hasFoil">;

/** What a form of this service is made for. */
export async function formFacts({ deps: { config, templates } }: MemberVisit): Promise<FormFacts> {
  const looks = await looksOf(templates);
  const presets = looks.map(({ manifest }) => manifest.name);
  return { baseUrl: config.baseUrl, presets, looks, formats: formatsOf(config) };
}

/**
 * What a template declares for itself, as far as the wanted sides show it; nothing where it cannot be asked
 * for.
 */
export async function declaredBy(
  visit: MemberVisit,
  { preset, back }: Pick<PlaygroundFields, "preset" | "back">,
  { presets }: FormFacts,
): Promise<Declared> {
  if (!presets.includes(preset))
    return { template: {}, compositions: [], hasBack: false, hasLayers: false, hasFoil: false };
  const template = await visit.deps.templates.current(preset);
  const hasBack = template.back !== null;
  return {
    template: shownFields(template, hasBack && back === "true"),
    compositions: compositionsOf(template.manifest),
    hasBack,
    hasLayers: template.markup.layers.size > 0,
    hasFoil: hasFoil(template),
  };
}

/** The fields without what the template, or the size, has no choice for: the form does not show it. */
export function withinReach(fields: PlaygroundFields, declared: Declared): PlaygroundFields {
  return {
    ...fields,
    back: declared.hasBack ? fields.back : "",
    layers: declared.hasLayers ? fields.layers : "",
    foil: declared.hasFoil && isForFoil(fields) ? fields.foil : "",
  };
}

/** The form as it was sent. */
export async function sentState(visit: MemberVisit): Promise<PlaygroundState> {
  const facts = await formFacts(visit);
  const sent = readFields(visit.form, facts);
  const declared = await declaredBy(visit, sent, facts);
  // Another template may have been chosen since the back was.
  const fields = withinReach(sent, declared);
  const environment: Environment = field(visit, "environment") === "live" ? "live" : "test";
  const own = readOwn(visit.form, declared.template);
  const sets = await offeredSets(visit);
  return { fields, own, ...declared, ...facts, sets, environment, problems: {} };
}

interface InputProps {
  name: keyof PlaygroundFields;
  fields: PlaygroundFields;
  problems: Problems;
  label: string;
  hint?: string;
  type?: "text" | "number" | "color" | "theme";
  options?: readonly string[];
  /** An option in words. */
  text?: (name: string) => string;
  /** The id of a list of values to choose from. */
  list?: string;
}

export function Input({
  name,
  fields,
  problems,
  label,
  hint,
  type = "text",
  options,
  text,
  list,
}: InputProps) {
  const describedBy = { "aria-describedby": `${hint ? `${name}-hint ` : ""}${name}-problem` };
  return (
    <Field label={label} id={name} hint={hint} problem={problems[name] ?? ""}>
      {options ? (
        <select id={name} name={name} {...describedBy}>
          <Options names={options} chosen={fields[name]} text={text} />
        </select>
      ) : type === "theme" ? (
        <ThemeInput id={name} name={name} value={fields[name]} {...describedBy} />
      ) : type === "color" ? (
        <ColourInput label={label} id={name} name={name} value={fields[name]} {...describedBy} />
      ) : type === "number" ? (
        <input id={name} name={name} type="number" value={fields[name]} {...describedBy} />
      ) : (
        <input id={name} name={name} type="text" value={fields[name]} list={list} {...describedBy} />
      )}
    </Field>
  );
}

/** How a card that moves does. */
export function MotionInput(common: Pick<InputProps, "fields" | "problems">) {
  return (
    <Input
      name="motion"
      {...common}
      label="Motion"
      options={MOTIONS}
      hint="Of webp-animated, webm and mp4, which move."
    />
  );
}

/** What is wrong with each input, by its name. */
export type Problems = Record<string, string>;

/** Another template, and a card with its back, has other fields; a size for print may have foil. */
const FOLLOWS_CHOICES = {
  "hx-post": "/console/playground/fields",
  "hx-trigger": ["preset", "width", "height", "format"]
    .map((id) => `change from:#${id}`)
    .concat("change target:#back")
    .join(", "),
  "hx-target": "this",
  "hx-include": "closest form",
  "hx-sync": "this:replace",
};

/** The inputs that depend on the chosen template. */
export function TemplateInputs(state: PlaygroundState) {
  const { fields, own, template, compositions, hasBack, problems } = state;
  return (
    <>
      <Input
        name="composition"
        fields={fields}
        problems={problems}
        label="Composition"
        options={["auto", ...compositions]}
        text={compositionText}
      />
      {hasBack && (
        <label class="check">
          <input id="back" name="back" type="checkbox" value="true" checked={fields.back === "true"} /> The
          back too, for the same credit
        </label>
      )}
      <Extras state={state} />
      <OwnFields declared={template} inputs={own} problems={problems} />
    </>
  );
}

function CardFields(state: PlaygroundState) {
  const { fields, looks, sets, problems } = state;
  const common = { fields, problems };
  return (
    <>
      <TemplateChoice looks={looks} chosen={fields.preset} problem={problems.preset ?? ""} />
      <Input name="name" {...common} label="Player's name" />
      <div class="field-pair">
        <Input name="position" {...common} label="Position" options={POSITIONS} text={positionText} />
        <Input name="number" {...common} label="Shirt number" type="number" />
        <Input name="skill_level" {...common} label="Rating" type="number" />
      </div>
      <div id="photo-address">
        <AddressInput {...common} />
      </div>
      <details class="more" open={fields.focus !== ""}>
        <summary>One of several in the photo</summary>
        <FocusField value={fields.focus} problem={problems.focus ?? ""} photo={fields.source_image_url} />
      </details>
      <Input
        name="external_id"
        {...common}
        label="Your id of the player"
        hint="In test, test_fail_no_player, test_fail_sideways, test_slow and others choose the ending."
      />
      {sets.length > 0 && <SetInput {...common} sets={sets} />}
      <Input
        name="background_theme"
        {...common}
        label="Background theme"
        hint="Any words: stadium night, fire, ice, galaxy."
        type="theme"
      />
      <div class="field-pair">
        <Input name="primary_color" {...common} label="Main colour" type="color" />
        <Input name="secondary_color" {...common} label="Second colour" type="color" />
      </div>
      <div id="own-fields" class="form" {...FOLLOWS_CHOICES}>
        <TemplateInputs {...state} />
      </div>
      <details class="more">
        <summary>Badge, size, format and time</summary>
        <div class="form">
          <Input name="club_badge_url" {...common} label="Badge address" />
          <div class="field-pair">
            <Input name="width" {...common} label="Width" type="number" />
            <Input name="height" {...common} label="Height" type="number" />
            <Input name="format" {...common} label="Format" options={state.formats} />
            <MotionInput {...common} />
          </div>
          <PublishField fields={fields} problem={problems.publish_on ?? ""} />
        </div>
      </details>
    </>
  );
}

/** The sets and their parallels, each of which a card can be put into. */
function SetInput({
  fields,
  problems,
  sets,
}: Pick<InputProps, "fields" | "problems"> & Pick<PlaygroundState, "sets">) {
  return (
    <Field
      label="Set and parallel"
      id="set"
      hint="The player's id must be on its checklist. A parallel with a size gives the lowest free number."
      problem={problems.set ?? ""}
    >
      <select id="set" name="set" aria-describedby="set-hint set-problem">
        <option value="">None</option>
        {sets.map((set) => (
          <optgroup key={set.id} label={setLabel(set)}>
            {set.parallels.map(({ name, size }) => (
              <option key={name} value={`${set.id} ${name}`} selected={fields.set === `${set.id} ${name}`}>
                {size === null ? name : `${name} of ${size}`}
              </option>
            ))}
          </optgroup>
        ))}
      </select>
    </Field>
  );
}

function AddressInput(common: Pick<InputProps, "fields" | "problems">) {
  return (
    <Input
      name="source_image_url"
      {...common}
      label="Photo address"
      hint="Public and HTTPS: JPEG, PNG or WebP. To begin with, a sample photo of this service; empty the field to choose among three. Test requests fetch nothing."
      list="sample-photos"
    />
  );
}

/** The input of the photo's address, for a page that shows the form already. */
export function PhotoAddress(common: Pick<InputProps, "fields" | "problems">) {
  return (
    <div id="photo-address" hx-swap-oob="true">
      <AddressInput {...common} />
    </div>
  );
}

/** The form, for users who may send it. What it is sent to says what comes of it in `#outcome`. */
export function Form({ visit, ...state }: PlaygroundState & { visit: MemberVisit }) {
  return (
    <PostForm
      visit={visit}
      action="/console/playground/send"
      class="form"
      hx-post="/console/playground/send"
      hx-target="#outcome"
      hx-disabled-elt="find button[type=submit]"
      hx-disinherit="hx-disabled-elt"
      encType="multipart/form-data"
    >
      <Nonce visit={visit} />
      <PhotoDrop label="Your own photo" problem={state.problems.file ?? ""} note={SEEN_LIVE} />
      <div
        class="form"
        hx-post="/console/playground/preview"
        hx-trigger="input delay:250ms, change"
        hx-target="#samples"
        hx-include="closest form"
        hx-params="not file"
        hx-sync="this:replace"
      >
        <CardFields {...state} />
        <datalist id="sample-photos">
          {SAMPLE_PHOTO_PATHS.map((path) => (
            <option key={path} value={samplePhotoUrl(visit.deps.config, path)} />
          ))}
        </datalist>
      </div>
      <div class="send">
        <Choice legend="Send as" name="environment" options={SEND_AS} chosen={state.environment} />
        <button type="submit" class="button button-primary">
          Send request
        </button>
      </div>
    </PostForm>
  );
}

const SEEN_LIVE = "A live card shows it; a test card has a silhouette in its place.";

const SEND_AS: [string, string][] = [
  ["test", "Test, free"],
  ["live", "Live, one credit"],
];

/** What is wrong beside each input, for a page that shows the form already. */
export function BesideInputs({ fields, own, presets, sets, hasLayers, hasFoil, problems }: PlaygroundState) {
  // Where there is nothing to choose, the form has no input for it.
  const shown: Partial<Record<keyof PlaygroundFields, boolean>> = {
    back: false,
    preset: presets.length > 1,
    set: sets.length > 0,
    layers: hasLayers,
    foil: hasFoil && isForFoil(fields),
    publish_zone: false,
  };
  const inputs = INPUTS.filter((name) => shown[name] ?? true);
  return (
    <>
      {["file", ...inputs, ...Object.keys(own)].map((name) => (
        <p key={name} class="problem" id={`${idOf(name)}-problem`} hx-swap-oob="true">
          {problems[name]}
        </p>
      ))}
    </>
  );
}

/** What a refusal says of each input, by its name. `places` as ownFields returns them. */
export function problemsOf(
  error: Pick<PartnerRefusal, "details">,
  places: Record<string, number[]>,
): Problems {
  const problems: Problems = {};
  for (const { field: name, message } of error.details ?? [])
    problems[inputNamed(name) ?? inputOf(name, places)] ??= sentence(message);
  return problems;
}

/** The rule alone: the input's label says what it is about. */
const sentence = (message: string) => message.charAt(0).toUpperCase() + message.slice(1);
