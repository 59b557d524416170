/** @jsxImportSource preact */
import { printSizeOf } from "../core/print-sizes.ts";
import { THEMES } from "../render/card/scenes/themes.ts";
import { Field } from "./elements.tsx";

/** The options of a choice in words. What is chosen stays, also where it is not offered any more. */
export function Options({
  names,
  chosen,
  text = (name) => name,
}: {
  names: readonly string[];
  chosen: string;
  text?: ((name: string) => string) | undefined;
}) {
  const all = chosen === "" || names.includes(chosen) ? names : [chosen, ...names];
  return (
    <>
      {all.map((name) => (
        <option key={name} value={name} selected={name === chosen}>
          {text(name)}
        </option>
      ))}
    </>
  );
}

/** The sizes of a card in words, of which those for print say so to the form's styles. */
export function SizeOptions({ sizes, chosen }: { sizes: [label: string, px: string][]; chosen: string }) {
  return (
    <>
      {sizes.map(([label, px]) => (
        <option key={px} value={px} selected={px === chosen} data-print={isPrintSize(px) || undefined}>
          {label}
        </option>
      ))}
    </>
  );
}

/** Whether a size such as 815x1110 is one of printed cards. */
export function isPrintSize(px: string): boolean {
  const [width = 0, height = 0] = px.split("x").map(Number);
  return printSizeOf({ width, height }) !== undefined;
}

/** A background's theme: any words, with those that have a scene of their own to choose from. */
export function ThemeInput(input: {
  id: string;
  name: string;
  value: string;
  maxLength?: number;
  "aria-label"?: string;
  "aria-describedby"?: string;
}) {
  const list = `${input.id}-known`;
  return (
    <>
      <input type="text" list={list} {...input} />
      <datalist id={list}>
        {THEMES.map((theme) => (
          <option key={theme} value={theme} />
        ))}
      </datalist>
    </>
  );
}

/** The theme in a form of what a card is made of. */
export function ThemeField({ value }: { value: string }) {
  const id = "background_theme";
  return (
    <Field label="Background theme" id={id} hint="Any words: stadium night, fire, ice.">
      <ThemeInput id={id} name={id} value={value} aria-describedby={`${id}-hint`} />
    </Field>
  );
}
