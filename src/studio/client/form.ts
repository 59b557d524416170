import type { FieldHint } from "../messages.ts";
import { el } from "./dom.ts";
import { sampleBody, template } from "./state.ts";

type Json = Record<string, unknown>;
/** Where a value lies in the sample: names, and the number of an entry in a list. */
export type Path = readonly (string | number)[];
/** Sets one value; undefined takes it out. `isOther` where the form itself changes, as with an entry more. */
export type Put = (path: Path, value: unknown, isOther?: boolean) => void;

/** Longer texts get a line of their own. */
const LONG_TEXT_CHARS = 16;

const POSITIONS = "ST CF LW RW CAM CM CDM LM RM LB RB CB GK".split(" ");

/** Inputs for what is changed most, and for each field of the template, of the field's own type. */
export function form(put: Put): HTMLElement {
  const own = template()?.fields ?? [];
  const player = (hint: Partial<FieldHint> & Pick<FieldHint, "type" | "label" | "path">) =>
    field({ isRequired: true, ...hint }, ["player", hint.path], put);
  return el(
    "div",
    { class: "form", id: "data-form" },
    player({ path: "name", label: "Name", type: "text", max: 100 }),
    player({ path: "position", label: "Position", type: "choice", options: POSITIONS }),
    player({ path: "number", label: "Number", type: "integer", min: 1, max: 99 }),
    player({ path: "skill_level", label: "Skill", type: "integer", min: 1, max: 99 }),
    wide(
      labelled(
        "Theme",
        textInput(["style", "background_theme"], put, { placeholder: "stadium, night, ice…" }),
      ),
    ),
    field(
      {
        path: "composition",
        label: "Composition",
        type: "choice",
        isRequired: false,
        options: template()?.compositions ?? [],
        otherwise: "auto",
      },
      ["style", "composition"],
      put,
    ),
    colour("First colour", ["branding", "primary_color"], put),
    colour("Second colour", ["branding", "secondary_color"], put),
    ...own.map((hint) => field(hint, ["fields", hint.path], put)),
  );
}

/** A value of the sample as it is now, not as it was when the form was made. */
function at(path: Path): unknown {
  return path.reduce<unknown>((value, key) => (value as Json | null | undefined)?.[key], sampleBody());
}

function entriesAt(path: Path): unknown[] {
  const found = at(path);
  return Array.isArray(found) ? found : [];
}

const nameOf = (path: Path) => path.join(".");

function labelled(label: string, ...inputs: HTMLElement[]): HTMLElement {
  return el("label", {}, el("span", { title: label }, label), ...inputs);
}

function wide(element: HTMLElement): HTMLElement {
  element.classList.add("wide");
  return element;
}

function field(hint: FieldHint, path: Path, put: Put): HTMLElement {
  const { label, min, max } = hint;
  switch (hint.type) {
    case "text":
    case "qr":
    case "image": {
      const input = labelled(
        label,
        textInput(path, put, {
          maxlength: max,
          placeholder: hint.type === "image" ? "a file in samples/" : undefined,
        }),
      );
      return (max ?? 0) > LONG_TEXT_CHARS ? wide(input) : input;
    }
    case "integer":
    case "number":
      return labelled(label, numberInput(hint, path, put));
    case "boolean":
      return checkbox(label, path, put);
    case "choice":
      return labelled(label, choice(hint, path, put));
    case "color":
      return colour(label, path, put);
    case "list":
      return list({ ...hint, min: min ?? 0, max: max ?? 0 }, path, put);
  }
}

type Attributes = Record<string, string | number | undefined>;

function textInput(path: Path, put: Put, attributes: Attributes): HTMLElement {
  return el("input", {
    value: String(at(path) ?? ""),
    "data-path": nameOf(path),
    ...attributes,
    input: ({ target }: Event) => put(path, (target as HTMLInputElement).value || undefined),
  });
}

function numberInput({ type, min, max }: FieldHint, path: Path, put: Put): HTMLElement {
  return el("input", {
    type: "number",
    value: String(at(path) ?? ""),
    "data-path": nameOf(path),
    min,
    max,
    step: type === "integer" ? 1 : "any",
    input: ({ target }: Event) => {
      const { value } = target as HTMLInputElement;
      put(path, value === "" ? undefined : Number(value));
    },
  });
}

function checkbox(label: string, path: Path, put: Put): HTMLElement {
  const box = el("input", {
    type: "checkbox",
    "data-path": nameOf(path),
    checked: at(path) === true,
    change: () => put(path, box.checked),
  });
  return el("label", { class: "check" }, box, el("span", { title: label }, label));
}

function choice(
  { options = [], otherwise = "none", isRequired }: FieldHint,
  path: Path,
  put: Put,
): HTMLElement {
  const now = at(path);
  // A value that is not offered is shown as it is, or the list would seem to say its first one.
  const isOffered = now === otherwise || options.some((option) => option === now);
  const none = !isRequired || !isOffered;
  return el(
    "select",
    {
      "data-path": nameOf(path),
      change: ({ target }: Event) => put(path, (target as HTMLSelectElement).value || undefined),
    },
    none && el("option", { value: "" }, isOffered || now === undefined ? otherwise : `${now} (not offered)`),
    ...options.map((name) => el("option", { value: name, selected: name === now }, name)),
  );
}

/** A colour's input always has a colour, so taking it out needs a button. */
function colour(label: string, path: Path, put: Put): HTMLElement {
  const now = at(path);
  const isSet = typeof now === "string" && now !== "";
  const clear = el(
    "button",
    {
      type: "button",
      class: "quiet clear",
      hidden: !isSet,
      title: `No ${label.toLowerCase()}`,
      "aria-label": `No ${label.toLowerCase()}`,
      click: () => put(path, undefined, true),
    },
    "×",
  );
  const input = el("input", {
    type: "color",
    value: isSet ? now : "#1a2320",
    "data-path": nameOf(path),
    "data-set": isSet ? "yes" : "no",
    input: () => {
      input.dataset.set = "yes";
      clear.hidden = false;
      put(path, input.value.toUpperCase());
    },
  });
  const head = el("span", { title: label }, label);
  return el("div", { class: "colour" }, el("label", {}, head, input), clear);
}

type ListHint = FieldHint & { min: number; max: number };

/** A list's entries, one below the other. */
function list({ label, min, max, of = [], entry }: ListHint, path: Path, put: Put): HTMLElement {
  const entries = entriesAt(path);
  const without = (index: number) => {
    const rest = entriesAt(path).filter((_, i) => i !== index);
    put(path, rest.length > 0 || min > 0 ? rest : undefined, true);
  };
  return el(
    "fieldset",
    { class: "list", "data-path": nameOf(path) },
    el("legend", {}, label, el("small", {}, `${entries.length} of ${max}`)),
    ...entries.map((_, index) =>
      el(
        "div",
        { class: "entry" },
        ...of.map((column) => field(column, [...path, index, column.path], put)),
        el(
          "button",
          {
            type: "button",
            class: "quiet clear",
            disabled: entries.length <= min,
            "data-remove": nameOf([...path, index]),
            title: "Remove this entry",
            "aria-label": `Remove entry ${index + 1} of ${label}`,
            click: () => without(index),
          },
          "×",
        ),
      ),
    ),
    el(
      "button",
      {
        type: "button",
        class: "add",
        disabled: entries.length >= max,
        "data-add": nameOf(path),
        click: () => put(path, [...entriesAt(path), structuredClone(entry)], true),
      },
      "Add one",
    ),
  );
}
