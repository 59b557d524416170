import { byId, copy, el, toast } from "./dom.ts";
import { server } from "./server.ts";
import { sampleBody, sampleText, set, studio, template, view } from "./state.ts";

type Json = Record<string, unknown>;

/** How long typing must pause before the picture is redrawn, in milliseconds. */
const TYPING_MS = 120;

const POSITIONS = "ST CF LW RW CAM CM CDM LM RM LB RB CB GK".split(" ");

let typing: ReturnType<typeof setTimeout> | undefined;

/** The sample's data: a form for the fields changed most, and all of it as JSON. */
export function dataTab(): HTMLElement {
  const editor = el("textarea", {
    id: "json",
    spellcheck: "false",
    autocomplete: "off",
    "aria-label": "The sample as JSON",
    input: () => {
      clearTimeout(typing);
      typing = setTimeout(() => edit(editor.value), TYPING_MS);
    },
    keydown: (event: KeyboardEvent) => {
      if (event.key !== "Tab" || event.shiftKey) return;
      event.preventDefault();
      editor.setRangeText("  ", editor.selectionStart, editor.selectionEnd, "end");
    },
  });
  editor.value = sampleText();
  return el(
    "div",
    { class: "tab" },
    form(),
    el("h3", {}, "All data", el("small", {}, "as the API takes it")),
    editor,
    el("p", { id: "json-problem", class: "bad", role: "status" }, jsonProblem(editor.value)),
    buttons(),
  );
}

function edit(text: string): void {
  const saved = template()?.samples.find((sample) => sample.name === view.sample)?.text ?? "";
  const problem = jsonProblem(text);
  byId("json-problem").textContent = problem;
  set({ data: text === saved ? "" : text });
}

function jsonProblem(text: string): string {
  try {
    JSON.parse(text);
    return "";
  } catch (error) {
    return `The picture waits: ${(error as Error).message}`;
  }
}

/** Sets one value of the data by its path, and updates everything that shows it. */
function put(path: string[], value: unknown): void {
  const body = structuredClone(sampleBody()) as Json;
  let at = body;
  for (const key of path.slice(0, -1)) {
    if (typeof at[key] !== "object" || at[key] === null) at[key] = {};
    at = at[key] as Json;
  }
  const last = path.at(-1) ?? "";
  if (value === "" || value === undefined) delete at[last];
  else at[last] = value;
  const text = `${JSON.stringify(body, null, 2)}\n`;
  const editor = document.getElementById("json") as HTMLTextAreaElement | null;
  if (editor) editor.value = text;
  edit(text);
}

function form(): HTMLElement {
  const body = sampleBody() as Record<string, Json | undefined>;
  const text = (label: string, path: [string, string], props: Json = {}) =>
    el(
      "label",
      {},
      el("span", {}, label),
      el("input", {
        value: String(body[path[0]]?.[path[1]] ?? ""),
        "data-path": path.join("."),
        ...(props as Record<string, string>),
        input: (event: Event) => {
          const { value, type } = event.target as HTMLInputElement;
          put(path, type === "number" && value !== "" ? Number(value) : value);
        },
      }),
    );
  const own = (template()?.fields ?? [])
    .filter((field) => field.type !== "list")
    .map((field) =>
      text(
        field.label,
        ["fields", field.path],
        field.type === "integer" ? { type: "number", min: field.min, max: field.max } : {},
      ),
    );
  return el(
    "div",
    { class: "form" },
    text("Name", ["player", "name"], { maxlength: 100, class: "wide" }),
    el(
      "label",
      {},
      el("span", {}, "Position"),
      el(
        "select",
        { change: (event: Event) => put(["player", "position"], (event.target as HTMLSelectElement).value) },
        ...POSITIONS.map((name) =>
          el("option", { value: name, selected: name === body.player?.position }, name),
        ),
      ),
    ),
    text("Number", ["player", "number"], { type: "number", min: 1, max: 99 }),
    text("Skill", ["player", "skill_level"], { type: "number", min: 1, max: 99 }),
    text("Theme", ["style", "background_theme"], { class: "wide", placeholder: "stadium, night, ice…" }),
    colour("First colour", "primary_color", body.branding),
    colour("Second colour", "secondary_color", body.branding),
    ...own,
  );
}

function colour(label: string, key: string, branding: Json | undefined): HTMLElement {
  const value = String(branding?.[key] ?? "");
  return el(
    "label",
    { class: "colour" },
    el("span", {}, label),
    el("input", {
      type: "color",
      value: value || "#1a2320",
      "data-path": `branding.${key}`,
      "data-set": value ? "yes" : "no",
      input: (event: Event) => put(["branding", key], (event.target as HTMLInputElement).value.toUpperCase()),
    }),
  );
}

function buttons(): HTMLElement {
  const isEdited = view.data !== "";
  return el(
    "div",
    { class: "buttons", id: "data-buttons" },
    el(
      "button",
      { type: "button", class: "primary", disabled: !isEdited, click: () => void save(view.sample) },
      "Save",
    ),
    el("button", { type: "button", click: saveAs }, "Save as sample…"),
    el(
      "button",
      { type: "button", class: "quiet", disabled: !isEdited, click: () => set({ data: "" }) },
      "Reset",
    ),
    el(
      "button",
      { type: "button", class: "quiet", click: () => void copy(sampleText(), "The data") },
      "Copy",
    ),
  );
}

/** Updates the buttons to match the data; leaves the editor and its cursor alone. */
export function refreshData(): void {
  document.getElementById("data-buttons")?.replaceWith(buttons());
  const editor = document.getElementById("json") as HTMLTextAreaElement | null;
  if (editor && document.activeElement !== editor && editor.value !== sampleText()) {
    editor.value = sampleText();
    byId("json-problem").textContent = jsonProblem(editor.value);
  }
}

async function save(name: string): Promise<void> {
  try {
    const { name: saved } = await server.saveSample(view.template, name, sampleText(), studio.photo?.id);
    set({ sample: saved, data: "" });
    toast(`Saved as samples/${saved}.json.`);
  } catch (error) {
    toast((error as Error).message, "bad");
  }
}

function saveAs(): void {
  const input = el("input", {
    name: "name",
    required: true,
    pattern: "[a-z0-9][a-z0-9_\\-]{0,60}",
    placeholder: "long_name",
    "aria-label": "Name of the sample",
  });
  const dialog = el(
    "dialog",
    { class: "small", close: () => dialog.remove() },
    el(
      "form",
      {
        method: "dialog",
        submit: () => void save(input.value),
      },
      el("h2", {}, "Save as sample"),
      el("p", {}, "It becomes a file in the template's samples folder. Lower-case letters, digits, - and _."),
      input,
      el(
        "div",
        { class: "buttons" },
        el("button", { class: "primary", value: "save" }, "Save"),
        el("button", { type: "button", class: "quiet", click: () => dialog.close() }, "Cancel"),
      ),
    ),
  );
  document.body.append(dialog);
  dialog.showModal();
}
