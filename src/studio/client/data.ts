import { byId, copy, el, toast } from "./dom.ts";
import { form, type Path } from "./form.ts";
import { server } from "./server.ts";
import { readState, sampleBody, sampleText, set, studio, template, view } from "./state.ts";

type Json = Record<string | number, unknown>;

/** How long typing must pause before the picture is redrawn, in milliseconds. */
const TYPING_MS = 120;

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
    newForm(),
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

/** What the form was made for, or last changed to: with anything else it is made anew. */
let formOf = "";

function formKey(): string {
  return JSON.stringify([view.template, view.sample, template()?.fields, sampleBody()]);
}

function newForm(): HTMLElement {
  formOf = formKey();
  return form(put);
}

/**
 * Makes the form anew where fields or data are others than those it shows; the focus stays in the same field.
 */
function refreshForm(): void {
  const shown = document.getElementById("data-form");
  if (!shown || formOf === formKey()) return;
  const { path } = (document.activeElement as HTMLElement | null)?.dataset ?? {};
  shown.replaceWith(newForm());
  if (path) document.querySelector<HTMLElement>(`#data-form [data-path="${CSS.escape(path)}"]`)?.focus();
}

/** Sets one value of the data by its path, and updates everything that shows it. */
function put(path: Path, value: unknown, isOther = false): void {
  const body = structuredClone(sampleBody()) as Json;
  let at = body;
  for (const key of path.slice(0, -1)) {
    if (typeof at[key] !== "object" || at[key] === null) at[key] = {};
    at = at[key] as Json;
  }
  const last = path.at(-1) ?? "";
  if (value === undefined) delete at[last];
  else at[last] = value;
  const text = `${JSON.stringify(body, null, 2)}\n`;
  const editor = document.getElementById("json") as HTMLTextAreaElement | null;
  if (editor) editor.value = text;
  // The input that was changed shows the value already, and what is half typed in it must stay.
  if (!isOther) formOf = JSON.stringify([view.template, view.sample, template()?.fields, body]);
  edit(text);
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

/** Updates form and buttons to match the data; leaves the editor and its cursor alone. */
export function refreshData(): void {
  document.getElementById("data-buttons")?.replaceWith(buttons());
  refreshForm();
  const editor = document.getElementById("json") as HTMLTextAreaElement | null;
  if (editor && document.activeElement !== editor && editor.value !== sampleText()) {
    editor.value = sampleText();
    byId("json-problem").textContent = jsonProblem(editor.value);
  }
}

async function save(name: string): Promise<void> {
  try {
    const { name: saved } = await server.saveSample(view.template, name, sampleText(), studio.photo?.id);
    // First the list of samples with the new one in it: a sample that is not known yet would be shown empty.
    await readState();
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
