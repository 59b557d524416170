import { type Fault, faultAt, sortFaults } from "./fault.ts";
import type { Field } from "./fields.ts";
import { BACK_FILES, endingOf, type TemplateFiles } from "./files.ts";
import { readManifest, type TemplateManifest } from "./manifest.ts";
import { type Markup, readMarkup, type Side } from "./markup.ts";
import { knownPaths } from "./paths.ts";
import type { References } from "./references.ts";
import { mentionsField, readStyle } from "./style.ts";

/** What a template's files contain, and everything wrong with them. */
export interface Examined {
  /** null where template.json has an error. */
  manifest: TemplateManifest | null;
  markup: Markup;
  /** That of the other side; null for a template without one. */
  back: Markup | null;
  /** In the order of files and positions. With an error among them the template makes no card. */
  faults: Fault[];
}

/** Examines a template's files without drawing anything. */
export function examine(files: TemplateFiles): Examined {
  const text = (name: string) => new TextDecoder().decode(files.get(name));
  const { manifest, faults } = readManifest(text("template.json"));
  const references: References = { files: new Set(files.keys()), used: new Set() };
  // Without a manifest the fields are unknown, so nothing in card.html can be judged against them.
  const known = knownPaths(manifest ?? {});
  const hasBack = BACK_FILES.some((name) => files.has(name));
  const sides: readonly Side[] = hasBack ? ["card", "back"] : ["card"];
  const [markup, back = null] = sides.map((side) =>
    readMarkup(text(`${side}.html`), known, references, side),
  );
  const markups = [markup as Markup, ...(back ? [back] : [])];
  const ofMarkup = markups
    .flatMap((one) => one.faults)
    .filter(({ code }) => manifest !== null || code !== "unknown_path");
  const styles = sides.flatMap((side) => readStyle(text(`${side}.css`), references, side));
  const all = [...faults, ...(hasBack ? halfBacks(files) : []), ...ofMarkup, ...styles];
  all.push(...insidePictures(files), ...unused(files, references));
  const paths = new Set(markups.flatMap((one) => [...one.paths]));
  const css = sides.map((side) => text(`${side}.css`)).join("\n");
  if (manifest) all.push(...hiddenFields(manifest, paths, css, text("template.json")));
  return { manifest, markup: markup as Markup, back, faults: sortFaults(all) };
}

/** A template that is not called like its folder, by whose name partners ask for it. */
export function misnamed({ name }: TemplateManifest, folder: string): Fault[] {
  if (name === folder) return [];
  const message = `/name: is "${name}", its folder "${folder}". Call both the same.`;
  return [{ file: "template.json", line: 1, column: 1, severity: "error", code: "name", message }];
}

/** Of the two files of a back the one that is missing. */
function halfBacks(files: TemplateFiles): Fault[] {
  return BACK_FILES.filter((name) => !files.has(name)).map((file) => ({
    file,
    line: 1,
    column: 1,
    severity: "error" as const,
    code: "missing_file",
    message: `does not exist. A card's other side has ${BACK_FILES.join(" and ")}: add it, or remove the other.`,
  }));
}

/** An SVG picture that would load another file. */
function insidePictures(files: TemplateFiles): Fault[] {
  const faults: Fault[] = [];
  for (const [file, bytes] of files) {
    if (endingOf(file) !== "svg") continue;
    const text = new TextDecoder().decode(bytes);
    const at = text.search(
      /<script|(?:href|src)\s*=\s*["']\s*(?:https?:)?\/\/|@import|url\(\s*["']?\s*(?:https?:)?\/\//i,
    );
    if (at < 0) continue;
    const message =
      "a picture runs no scripts and loads nothing from elsewhere. Take it out, and embed what it shows.";
    faults.push(faultAt(file, text, at, "network", message));
  }
  return faults;
}

function unused(files: TemplateFiles, { used }: References): Fault[] {
  return [...files.keys()]
    .filter((name) => name.includes("/") && !used.has(name))
    .map((file) => ({
      file,
      line: 1,
      column: 1,
      severity: "warning",
      code: "unused",
      message: "no page or style sheet names this file. Remove it, or use it.",
    }));
}

/** How a field of each type is shown. */
const SHOWN_BY: Record<Field["type"], (name: string, kebab: string) => string> = {
  text: (name) => `data-text="fields.${name}" to card.html`,
  integer: (name) => `data-text="fields.${name}" to card.html`,
  number: (name) => `data-text="fields.${name}" to card.html`,
  choice: (_, kebab) => `a rule for .card[data-field-${kebab}] to card.css`,
  boolean: (_, kebab) => `a rule for .card[data-field-${kebab}] to card.css`,
  color: (_, kebab) => `var(--field-${kebab}) to card.css`,
  list: (name) => `data-each="fields.${name}" to card.html`,
  qr: (name) => `<img data-picture="fields.${name}"> to card.html`,
  image: (name) => `<img data-picture="fields.${name}"> to card.html`,
};

/** Fields that partners may send, and that neither side shows. */
function hiddenFields(
  { fields = {} }: TemplateManifest,
  paths: ReadonlySet<string>,
  css: string,
  json: string,
): Fault[] {
  return Object.entries(fields)
    .filter(([name]) => !paths.has(`fields.${name}`) && !mentionsField(css, name))
    .map(([name, { type }]) => {
      const remedy = SHOWN_BY[type](name, name.replaceAll("_", "-"));
      const at = Math.max(0, json.indexOf(`"${name}"`));
      const message = `/fields/${name}: no card shows it. Add ${remedy}, or remove the field.`;
      return faultAt("template.json", json, at, "hidden_field", message, "warning");
    });
}
