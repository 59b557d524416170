/** @jsxImportSource preact */
import { POSITIONS } from "../../core/card.ts";
import { uploadAt } from "../../core/own-photos.ts";
import { compositionText, positionText } from "../card-words.ts";
import { Options, SizeOptions } from "../choices.tsx";
import { Card, Field, Notice, PostForm } from "../elements.tsx";
import { TemplateChoice } from "../template-choice.tsx";
import type { MemberVisit } from "../visit.ts";
import { Extras } from "./extras.tsx";
import { FocusField } from "./focus-field.tsx";
import { KitOptions } from "./kit-choice.tsx";
import { lookOf, type MakeState, sizesOf } from "./make-form.ts";
import { PreviewPlace } from "./make-preview.tsx";
import { PHOTO_TYPES } from "./photo-drop.tsx";
import { Input, MotionInput } from "./playground-inputs.tsx";
import { OwnFields } from "./playground-own.tsx";
import { PublishField } from "./publish-field.tsx";
import { Nonce } from "./sent-once.tsx";

/** The form that one card is made with, and where its parts ask for themselves. */
export const MAKE = "/console/make";

/** The page for the player of the match. */
export const MATCH = "/console/match";

/** Where an upload is shown in this form. */
const photoPath = (upload: string): string => `${MAKE}/photos/${upload}/thumb`;

/** Sends the photo as soon as it is chosen, and nothing else of the form. */
const SENDS_PHOTO = {
  "hx-post": `${MAKE}/photo`,
  "hx-trigger": "change",
  "hx-target": "#photo",
  "hx-swap": "innerHTML",
  "hx-encoding": "multipart/form-data",
  "hx-params": "file,_csrf,source_image_url",
  "hx-sync": "#photo:replace",
  "hx-indicator": "#photo",
};

/** The photo that was chosen, or the place to choose one. */
export function PhotoPart({
  visit,
  address,
  problem,
}: {
  visit: MemberVisit;
  address: string;
  problem: string;
}) {
  const upload = uploadAt(address, visit.deps.config);
  return (
    <>
      <input type="hidden" name="source_image_url" value={address} />
      {upload !== undefined && <img class="make-photo" src={photoPath(upload)} alt="The player as chosen" />}
      <Field
        label={address === "" ? "Choose one" : "Another photo"}
        id="file"
        hint="Drop it here, or choose it: JPEG, PNG or WebP, at most 15 MB. One player, from the waist up, with the face to the camera; of several, say under More who it is."
        problem={problem}
      >
        <input
          id="file"
          name="file"
          type="file"
          class="drop"
          accept={PHOTO_TYPES}
          aria-describedby="file-hint file-problem"
          {...SENDS_PHOTO}
        />
      </Field>
      <label class="button camera">
        Take a photo
        {/* Of another form: it is sent by itself or not at all. */}
        <input
          type="file"
          name="file"
          form="camera"
          class="visually-hidden"
          accept={PHOTO_TYPES}
          capture="environment"
          {...SENDS_PHOTO}
          hx-include="#make [name=_csrf], #make [name=source_image_url]"
        />
      </label>
      <p class="note photo-busy" role="status">
        Reading the photo
      </p>
    </>
  );
}

function Player({ state: { fields, problems } }: { state: MakeState }) {
  const common = { fields, problems };
  return (
    <Card title="Player">
      <div class="form">
        <Input name="name" {...common} label="Name" />
        <div class="field-pair make-numbers">
          <Input name="number" {...common} label="Shirt number" type="number" />
          <Input name="skill_level" {...common} label="Rating, 1 to 99" type="number" />
        </div>
        <Field label="Position" id="position" problem={problems.position ?? ""}>
          <select id="position" name="position" aria-describedby="position-problem">
            <option value="">Choose a position</option>
            <Options names={POSITIONS} chosen={fields.position} text={positionText} />
          </select>
        </Field>
      </div>
    </Card>
  );
}

/** Another kit fills in its look, and another template has other fields. */
const FOLLOWS_CHOICES = {
  "hx-post": `${MAKE}/look`,
  "hx-trigger": "change target:[data-look]",
  "hx-target": "this",
  "hx-swap": "innerHTML",
  // As browsers without scripts send it.
  "hx-encoding": "multipart/form-data",
  "hx-params": "not file",
  "hx-sync": "this:replace",
};

/** What depends on kit and template. */
export function LookPart({ visit, state }: { visit: MemberVisit; state: MakeState }) {
  const { fields, problems, kits, kit, looks, look, own, template, hasBack } = state;
  const common = { fields, problems };
  return (
    <>
      <input type="hidden" name="shown_kit" value={kit} />
      <input type="hidden" name="shown_look" value={lookOf(state)} />
      {kits.length > 0 ? (
        <Field label="Brand kit" id="kit" hint="Fills in colours, badge, template and background.">
          <select id="kit" name="kit" data-look aria-describedby="kit-hint">
            <option value="">None</option>
            <KitOptions kits={kits} chosen={kit} />
          </select>
        </Field>
      ) : (
        <p class="note">
          Save colours and badge once as a <a href="/console/kits">brand kit</a>, and choose it here.
        </p>
      )}
      <TemplateChoice looks={looks} chosen={look.manifest.name} data-look />
      <div class="field-pair make-colours">
        <Input name="primary_color" {...common} label="Main colour" type="color" />
        <Input name="secondary_color" {...common} label="Second colour" type="color" />
      </div>
      <Input
        name="background_theme"
        {...common}
        label="Background"
        hint="Any words: stadium night, fire, ice. Empty for the template's own."
        type="theme"
      />
      {hasBack && (
        <label class="check">
          <input name="back" type="checkbox" value="true" checked={fields.back === "true"} data-look /> The
          back too, for the same credit
        </label>
      )}
      <OwnFields declared={template} inputs={own} problems={problems} />
      <noscript>
        <button type="submit" class="button" formaction={`${MAKE}/look`}>
          Use kit and template
        </button>
      </noscript>
      <More visit={visit} state={state} />
    </>
  );
}

/** What most cards need not say. */
function More({ visit, state }: { visit: MemberVisit; state: MakeState }) {
  const { fields, problems, look, compositions } = state;
  const upload = uploadAt(fields.source_image_url, visit.deps.config);
  const common = { fields, problems };
  const folded = [
    "external_id",
    "club_badge_url",
    "composition",
    "format",
    "motion",
    "layers",
    "focus",
    "publish_on",
  ];
  const isWrong = folded.some((name) => problems[name]);
  return (
    <details class="more" open={isWrong}>
      <summary>More: size, badge, one of several people, time, id</summary>
      <div class="form">
        <div class="field-pair">
          <Field label="Size" id="size">
            <select id="size" name="size">
              <SizeOptions sizes={sizesOf(look)} chosen={`${fields.width}x${fields.height}`} />
            </select>
          </Field>
          <Input name="format" {...common} label="Format" options={state.formats} />
        </div>
        <MotionInput {...common} />
        <Extras state={state} followsSize />
        <Input
          name="composition"
          {...common}
          label="Composition"
          options={["auto", ...compositions]}
          text={compositionText}
        />
        <Input name="club_badge_url" {...common} label="Badge address" />
        <FocusField value={fields.focus} problem={problems.focus ?? ""} photo={upload && photoPath(upload)} />
        <PublishField fields={fields} problem={problems.publish_on ?? ""} />
        <Field label="Photo's address, in place of a photo" id="address">
          <input id="address" name="address" type="text" inputMode="url" />
        </Field>
        <Input
          name="external_id"
          {...common}
          label="Your id of the player"
          hint="Empty, the name is the id. Two players of one name need ids that differ."
        />
      </div>
    </details>
  );
}

/** The form in its parts: what is filled in at the left, the card and what to do with it at the right. */
export function MakeForm({ visit, state, left }: { visit: MemberVisit; state: MakeState; left: number }) {
  const photoProblem = state.problems.file ?? state.problems.source_image_url ?? "";
  return (
    <>
      <PostForm visit={visit} action={MAKE} id="make" class="make" encType="multipart/form-data">
        <Nonce visit={visit} />
        {/* What the Enter key presses: nothing, since the next button costs a credit. */}
        <button type="submit" disabled hidden />
        <div class="make-fields">
          <Card title="Photo">
            <div id="photo" class="photo-part">
              <PhotoPart visit={visit} address={state.fields.source_image_url} problem={photoProblem} />
            </div>
          </Card>
          <Player state={state} />
          <Card title="Look">
            <div id="look" class="form" {...FOLLOWS_CHOICES}>
              <LookPart visit={visit} state={state} />
            </div>
          </Card>
        </div>
        <div class="make-card">
          <PreviewPlace />
          <Buttons left={left} />
        </div>
      </PostForm>
      <form id="camera" hidden />
    </>
  );
}

function Buttons({ left }: { left: number }) {
  return (
    <div class="make-buttons">
      {left === 0 && (
        <Notice tone="warn" title="No credits are left.">
          Make a test card, or ask the operator of this service for credits.
        </Notice>
      )}
      <button
        type="submit"
        name="environment"
        value="live"
        class="button button-primary"
        disabled={left === 0}
      >
        Make card (1 credit)
      </button>
      <button type="submit" name="environment" value="test" class="button">
        Make test card
      </button>
      <p class="note">
        You have {left === 1 ? "1 credit" : `${left} credits`}. A card that fails costs nothing. A test card
        is free and shows a grey stand-in for the photo.
      </p>
    </div>
  );
}
