import type { MovingFormat } from "../../core/card.ts";
/** @jsxImportSource preact */

import { isMoving } from "../../core/moving-pictures.ts";
import { presetText } from "../card-words.ts";
import { Options, SizeOptions } from "../choices.tsx";
import { Card, Field, Notice, PostForm } from "../elements.tsx";
import { TemplateChoice } from "../template-choice.tsx";
import type { MemberVisit } from "../visit.ts";
import { KitOptions } from "./kit-choice.tsx";
import { MATCH } from "./make-inputs.tsx";
import type { KnownPlayer, MatchState } from "./match-form.ts";
import { PHOTO_TYPES } from "./photo-drop.tsx";
import { OwnFields } from "./playground-own.tsx";
import { PublishField } from "./publish-field.tsx";
import { Nonce } from "./sent-once.tsx";

/** The card and its clip. */
export const CREDITS = 2;

/** Template, kit, size and clip, as last time until somebody chooses others. */
export function LookForm({
  player,
  state,
  isOpen,
}: {
  player: KnownPlayer;
  state: MatchState;
  /** Stays so while choices are made. */
  isOpen: boolean;
}) {
  const { fields, formats, looks, kits, kit, sizes, clip } = state;
  const size = `${fields.width}x${fields.height}`;
  return (
    <details class="card fold" open={isOpen}>
      <summary>
        {presetText(fields.preset)}, {size.replace("x", " × ")}: change the look
      </summary>
      <form class="form" method="get" action={MATCH}>
        <input type="hidden" name="player" value={player.image.id} />
        <TemplateChoice looks={looks} chosen={fields.preset} data-submits />
        {kits.length > 0 && (
          <Field label="Brand kit" id="kit" hint="Fills in colours and badge.">
            <select id="kit" name="kit" data-submits aria-describedby="kit-hint">
              <option value="">As last time</option>
              <KitOptions kits={kits} chosen={kit} />
            </select>
          </Field>
        )}
        {sizes.length > 1 && (
          <Field label="Size" id="size">
            <select id="size" name="size" data-submits>
              <SizeOptions sizes={sizes} chosen={size} />
            </select>
          </Field>
        )}
        <Field label="Clip" id="clip">
          <select id="clip" name="clip" data-submits>
            <Options names={formats.filter(isMoving)} chosen={clip} text={clipText} />
          </select>
        </Field>
        <noscript>
          <button type="submit" class="button">
            Use
          </button>
        </noscript>
      </form>
    </details>
  );
}

const CLIPS = {
  "webp-animated": "Moving picture (WebP)",
  webm: "Video (WebM)",
  mp4: "Video (MP4)",
} as const satisfies Record<MovingFormat, string>;

const clipText = (format: string) => CLIPS[format as MovingFormat];

interface Filled {
  visit: MemberVisit;
  player: KnownPlayer;
  state: MatchState;
  left: number;
}

/** What is new about the match, and the buttons that make card and clip. */
export function MatchForm({ visit, player, state, left }: Filled) {
  const { fields, own, problems, kit, clip } = state;
  const hidden = {
    player: player.image.id,
    preset: fields.preset,
    kit,
    size: `${fields.width}x${fields.height}`,
    clip,
  };
  const photoProblem = problems.file ?? problems.source_image_url ?? "";
  return (
    <PostForm visit={visit} action={MATCH} id="match" class="form" encType="multipart/form-data">
      <Nonce visit={visit} />
      {Object.entries(hidden).map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
      {/* What the Enter key presses: nothing, since the next button costs credits. */}
      <button type="submit" disabled hidden />
      <Card>
        <div class="form">
          <OwnFields declared={linesOf(state)} inputs={own} problems={problems} />
          <Field
            label="A photo of today, in place of the one before"
            id="file"
            hint="From the camera or the album: JPEG, PNG or WebP, at most 15 MB."
            problem={photoProblem}
          >
            <input
              id="file"
              name="file"
              type="file"
              accept={PHOTO_TYPES}
              aria-describedby="file-hint file-problem"
            />
          </Field>
          <PublishField fields={fields} problem={problems.publish_on ?? ""} />
        </div>
      </Card>
      <Buttons left={left} />
    </PostForm>
  );
}

/** What is written in a line: the rest stays as it is on the player's card. */
function linesOf({ template }: MatchState): MatchState["template"] {
  return Object.fromEntries(Object.entries(template).filter(([, { type }]) => type === "text"));
}

function Buttons({ left }: { left: number }) {
  return (
    <div class="make-buttons">
      {left < CREDITS && (
        <Notice tone="warn" title="There are not enough credits.">
          Make test cards, or ask the operator of this service for credits.
        </Notice>
      )}
      <button
        type="submit"
        name="environment"
        value="live"
        class="button button-primary"
        disabled={left < CREDITS}
      >
        Make card and clip ({CREDITS} credits)
      </button>
      <button type="submit" name="environment" value="test" class="button">
        Try it free
      </button>
      <p class="note">
        You have {left === 1 ? "1 credit" : `${left} credits`}. What fails costs nothing. Free ones show a
        grey stand-in for the photo.
      </p>
    </div>
  );
}
