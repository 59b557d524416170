/** @jsxImportSource preact */
import { takesFoil } from "../../core/foil.ts";
import type { PictureFormatName } from "../../core/picture-formats.ts";
import type { PlaygroundFields } from "./playground-form.ts";

// What a template can give besides the card's picture, for the same credit.

interface Ticked {
  name: string;
  label: string;
  isTicked: boolean;
  hint?: string;
  problem?: string | undefined;
  /** Of the whole field. */
  className?: string;
}

/** A choice that is taken or not. */
function Tick({ name, label, isTicked, hint, problem, className = "" }: Ticked) {
  const describedBy = [hint && `${name}-hint`, problem !== undefined && `${name}-problem`].filter(Boolean);
  return (
    <div class={`field ${className}`}>
      <label class="check">
        <input
          id={name}
          name={name}
          type="checkbox"
          value="true"
          checked={isTicked}
          aria-describedby={describedBy.join(" ") || undefined}
        />{" "}
        {label}
      </label>
      {/* What is sent without the tick, after what is sent with it. */}
      <input type="hidden" name={name} value="" />
      {hint && (
        <p class="hint" id={`${name}-hint`}>
          {hint}
        </p>
      )}
      {problem !== undefined && (
        <p class="problem" id={`${name}-problem`}>
          {problem}
        </p>
      )}
    </div>
  );
}

/** Whether a card of this form's size and format can have a plate of foil. */
export const isForFoil = ({ format, width, height }: Pick<PlaygroundFields, "format" | "width" | "height">) =>
  takesFoil({ format: format as PictureFormatName, width: Number(width), height: Number(height) });

/**
 * Layers and foil, where the template has them.
 * @param followsSize the form's styles show the foil for print sizes alone, while they are chosen
 */
export function Extras({
  state: { fields, problems, hasLayers, hasFoil },
  followsSize = false,
}: {
  state: {
    fields: Pick<PlaygroundFields, "layers" | "foil" | "format" | "width" | "height">;
    hasLayers: boolean;
    hasFoil: boolean;
    problems?: Record<string, string>;
  };
  followsSize?: boolean;
}) {
  const problemOf = (name: string) => problems && { problem: problems[name] ?? "" };
  return (
    <>
      {hasLayers && (
        <Tick
          name="layers"
          label="Also as layers, for the living card"
          hint="For your website's card that moves in depth. Format webp, not in sizes for print."
          isTicked={fields.layers === "true"}
          {...problemOf("layers")}
        />
      )}
      {hasFoil && (followsSize || isForFoil(fields)) && (
        <Tick
          name="foil"
          label="A plate of foil too, for printers who foil cards"
          isTicked={fields.foil === "true"}
          className={followsSize ? "for-foil" : ""}
          {...problemOf("foil")}
        />
      )}
    </>
  );
}
