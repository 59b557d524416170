/** @jsxImportSource preact */

import { colourNamed } from "../../core/colour-names.ts";
import type { Field as FieldRule, Fields, ListField, SingleField } from "../../templates/fields.ts";
import { exampleFields } from "../../templates/fields.ts";
import { Field } from "../elements.tsx";
import { ColourInput } from "./colour-input.tsx";

// The fields that a template declares for itself, as a form. Inputs are named as the API names the values in
// its refusals: `fields.club`, `fields.stats[0].value`.

/** What the inputs hold, by their names. */
export type OwnInputs = Readonly<Record<string, string>>;

/** Lists no longer than this are shown with all their rows; longer ones with a few to go on with. */
const ROWS_SHOWN = 8;
const ROWS_LEFT_OPEN = 2;

/**
 * The inputs of a form that was sent. Where it has none of the template's, another was chosen before: then
 * its examples.
 */
export function readOwn(form: URLSearchParams, declared: Fields): OwnInputs {
  const sent = [...form].filter(([name]) => name.startsWith("fields."));
  const isOurs = sent.some(([name]) => (/^fields\.(\w+)/.exec(name)?.[1] ?? "") in declared);
  return isOurs
    ? Object.fromEntries(sent.map(([name, value]) => [name, value.trim()]))
    : exampleInputs(declared);
}

/** What a form begins with. */
export const exampleInputs = (declared: Fields): OwnInputs => inputsOf(exampleFields(declared));

/** The inputs that stand for a request's `fields`. */
export function inputsOf(values: Record<string, unknown> = {}): OwnInputs {
  const inputs: Record<string, string> = {};
  const put = (name: string, value: unknown) => {
    if (Array.isArray(value)) for (const [row, each] of value.entries()) put(`${name}[${row}]`, each);
    else if (typeof value === "object" && value !== null)
      for (const [column, each] of Object.entries(value)) put(`${name}.${column}`, each);
    else inputs[name] = String(value);
  };
  put("fields", values);
  return inputs;
}

/**
 * The request's `fields` that the inputs stand for, unchecked; what is empty is left out, and so are empty
 * rows. `places` maps each row of a list in the request to the row of the form that it is written in.
 */
export function ownFields(declared: Fields, inputs: OwnInputs) {
  const places: Record<string, number[]> = {};
  const values = Object.entries(declared).flatMap(([name, field]) => {
    const given =
      field.type === "list" ? rowsOf(name, field, inputs) : valueIn(field, inputs[`fields.${name}`]);
    if (given === undefined) return [];
    if (field.type !== "list") return [[name, given]];
    const { rows, at } = given as ReturnType<typeof rowsOf> & object;
    places[name] = at;
    return [[name, rows]];
  });
  const fields = values.length > 0 ? (Object.fromEntries(values) as Record<string, unknown>) : undefined;
  return { fields, places };
}

function rowsOf(name: string, { of, max }: ListField, inputs: OwnInputs) {
  const rows: Record<string, unknown>[] = [];
  const at: number[] = [];
  for (let row = 0; row < max; row++) {
    const cells = Object.entries(of).flatMap(([column, field]) => {
      const value = valueIn(field, inputs[`fields.${name}[${row}].${column}`]);
      return value === undefined ? [] : [[column, value]];
    });
    if (cells.length === 0) continue;
    rows.push(Object.fromEntries(cells));
    at.push(row);
  }
  return rows.length > 0 ? { rows, at } : undefined;
}

/** What is not a number stays text, so that the message can name what was written. */
function valueIn({ type }: SingleField, text = ""): unknown {
  if (text === "") return undefined;
  if ((type === "integer" || type === "number") && /^-?\d{1,9}(\.\d{1,6})?$/.test(text)) return Number(text);
  if (type === "color") return colourNamed(text) ?? text;
  if (type === "boolean") return text === "true" ? true : text === "false" ? false : text;
  return text;
}

/** The input that a refusal's field is written in: a request has no empty rows, a form may. */
export function inputOf(field: string, places: Record<string, number[]>): string {
  return field.replace(
    /^fields\.(\w+)\[(\d+)\]/,
    (_, list, row) => `fields.${list}[${places[list]?.[Number(row)] ?? row}]`,
  );
}

/** The inputs of a template's own fields; `problems` by their names. */
export function OwnFields(props: { declared: Fields; inputs: OwnInputs; problems: Record<string, string> }) {
  const entries = Object.entries(props.declared);
  if (entries.length === 0) return null;
  return (
    <fieldset class="form own-fields">
      <legend>Fields of this template</legend>
      {entries.map(([name, field]) =>
        field.type === "list" ? (
          <Rows key={name} name={name} list={field} {...props} />
        ) : (
          <OwnInput
            key={name}
            name={`fields.${name}`}
            label={labelOf(name, field)}
            field={field}
            {...props}
          />
        ),
      )}
    </fieldset>
  );
}

const labelOf = (name: string, { title, required }: FieldRule) =>
  `${title ?? name}${required ? " (required)" : ""}`;

interface Filled {
  inputs: OwnInputs;
  problems: Record<string, string>;
}

function Rows({ name, list, inputs, problems }: Filled & { name: string; list: ListField }) {
  const given = Object.keys(inputs).flatMap((input) => {
    const [, of, row] = /^fields\.(\w+)\[(\d+)\]/.exec(input) ?? [];
    return of === name ? [Number(row) + 1] : [];
  });
  const shown =
    list.max <= ROWS_SHOWN ? list.max : Math.min(list.max, Math.max(0, ...given) + ROWS_LEFT_OPEN);
  return (
    <div class="field">
      <span class="label">{labelOf(name, list)}</span>
      {Array.from({ length: shown }, (_, row) => (
        <div class="field-pair" key={row}>
          {Object.entries(list.of).map(([column, field]) => (
            <OwnInput
              key={column}
              name={`fields.${name}[${row}].${column}`}
              label={`${field.title ?? column} ${row + 1}`}
              field={field}
              inputs={inputs}
              problems={problems}
            />
          ))}
        </div>
      ))}
    </div>
  );
}

function OwnInput({
  name,
  label,
  field,
  inputs,
  problems,
}: Filled & { name: string; label: string; field: SingleField }) {
  const value = inputs[name] ?? "";
  const id = idOf(name);
  const options =
    field.type === "choice" ? field.options : field.type === "boolean" ? ["true", "false"] : null;
  const isNumber = field.type === "integer" || field.type === "number";
  const hint = field.type === "image" ? pictureHint(field.description) : field.description;
  const described = { "aria-describedby": `${id}-problem${hint ? ` ${id}-hint` : ""}` };
  return (
    <Field label={label} id={id} hint={hint} problem={problems[name] ?? ""}>
      {options ? (
        <select id={id} name={name} {...described}>
          <option value="">not sent</option>
          {options.map((option) => (
            <option key={option} selected={option === value}>
              {option}
            </option>
          ))}
        </select>
      ) : field.type === "color" ? (
        <ColourInput label={label} id={id} name={name} value={value} {...described} />
      ) : (
        <input
          id={id}
          name={name}
          type="text"
          inputMode={isNumber ? "decimal" : field.type === "image" ? "url" : "text"}
          value={value}
          {...described}
        />
      )}
    </Field>
  );
}

const pictureHint = (description = "") =>
  `${description} The address of a PNG, JPEG or WebP, at most 5 MB.`.trim();

/** An input's id, which style sheets and scripts can name. */
export const idOf = (name: string) => name.replace(/\W+/g, "-").replace(/-$/, "");
