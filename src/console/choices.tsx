/** @jsxImportSource preact */
import { THEMES } from "../render/card/themes.ts";
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
