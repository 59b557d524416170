/** @jsxImportSource preact */
import { Field } from "../elements.tsx";

/**
 * Who is meant in a photo of several people: two fractions, which a click on the photo writes. It is shown
 * where the browser can have it: a file that is chosen in the same form, or one of this service.
 */
export function FocusField({
  value,
  problem,
  photo,
}: {
  value: string;
  problem?: string;
  photo: string | undefined;
}) {
  return (
    <Field
      label="Where the player is in the photo"
      id="focus"
      hint="Where others are in it too: click on the player's face, or write two fractions from the left and the top, such as 0.62 0.2."
      problem={problem}
    >
      <input
        id="focus"
        name="focus"
        type="text"
        value={value}
        autocomplete="off"
        aria-describedby={problem === undefined ? "focus-hint" : "focus-hint focus-problem"}
      />
      <div class="focus-photo" data-points="focus" data-photo={photo} hidden>
        <canvas role="img" aria-label="The photo" />
        <span class="focus-mark" hidden />
      </div>
    </Field>
  );
}
