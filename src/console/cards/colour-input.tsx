/** @jsxImportSource preact */
import { colourNamed } from "../../core/colour-names.ts";

/** What a picker shows while no colour is written; it cannot show none. */
const NO_COLOUR = "#808080";

/** A colour to write, as #RRGGBB or by its name, with a picker beside it that writes it. */
export function ColourInput({
  label,
  ...input
}: {
  label: string;
  id: string;
  name: string;
  value: string;
  maxLength?: number;
  "aria-label"?: string;
  "aria-describedby"?: string;
}) {
  const { id, value } = input;
  const hex = /^#[0-9a-f]{6}$/i.test(value) ? value : (colourNamed(value) ?? NO_COLOUR);
  return (
    <span class="colour-input">
      <input type="text" placeholder="red, or #RRGGBB" {...input} />
      <input type="color" value={hex} data-writes={id} aria-label={`Choose: ${label}`} />
    </span>
  );
}
