import { join } from "node:path";
import { OperatorError } from "../core/errors.ts";
import { BUILT_IN } from "./built-in.ts";
import { examine } from "./examine.ts";
import { type Fault, faultLine } from "./fault.ts";
import type { Fields } from "./fields.ts";
import { digestOf, readTemplateFolder, type TemplateFiles } from "./files.ts";
import type { TemplateManifest } from "./manifest.ts";
import type { Markup, Side } from "./markup.ts";
import { mentionsField } from "./style.ts";

/** One side of a card, as a page shows it. */
interface TemplateSide {
  html: string;
  css: string;
  /** The references in its HTML. */
  markup: Pick<Markup, "pictures" | "platePictures" | "zones" | "layers" | "paths" | "hasFoil">;
}

/** A template in memory, with all a page needs to show it. */
export interface LoadedTemplate extends TemplateSide {
  manifest: TemplateManifest;
  /** The card's other side; null for a template without one. */
  back: TemplateSide | null;
  /** All that a card is made of. */
  files: TemplateFiles;
  /**
   * SHA-256 over the files' names and bytes in lower-case hex: the same for the same look, wherever the files
   * are.
   */
  digest: string;
}

/** A template that cannot be used, with every fault. The message gives the first by file and position. */
class TemplateFaults extends OperatorError {
  constructor(
    readonly faults: readonly Fault[],
    place: (name: string) => string,
  ) {
    const errors = faults.filter(({ severity }) => severity === "error");
    const shown = errors.slice(0, SHOWN_FAULTS).map((fault) => faultLine(fault, place));
    const more = errors.length > SHOWN_FAULTS ? ` And ${errors.length - SHOWN_FAULTS} more.` : "";
    super(shown.join(" ") + more);
  }
}

/** Nobody reads more in one message; `cardpress template check` lists all. */
const SHOWN_FAULTS = 6;

/**
 * Loads a template from a folder, or a built-in one by name. Throws an OperatorError that names the file, the
 * position and the remedy.
 */
export async function loadTemplate(dirOrName: string): Promise<LoadedTemplate> {
  const files = BUILT_IN.get(dirOrName) ?? (await readTemplateFolder(dirOrName));
  return templateOf(files, (name) => join(dirOrName, name));
}

/** Builds a template from files. `place` locates a file in messages. Throws TemplateFaults. */
export function templateOf(files: TemplateFiles, place = (name: string) => name): LoadedTemplate {
  const text = (name: string) => new TextDecoder().decode(files.get(name));
  const { manifest, markup, back, faults } = examine(files);
  if (manifest === null || faults.some(({ severity }) => severity === "error"))
    throw new TemplateFaults(faults, place);
  return {
    manifest,
    ...sideOf("card", markup, text),
    back: back && sideOf("back", back, text),
    files,
    digest: digestOf(files),
  };
}

/** Whether a side of the template says what is to be foiled in print. */
export const hasFoil = ({ markup, back }: Pick<LoadedTemplate, "markup" | "back">): boolean =>
  markup.hasFoil || back?.markup.hasFoil === true;

/** The fields of a card's form: without its back those of the front, and all that are required. */
export function shownFields({ manifest, markup, css }: LoadedTemplate, withBack: boolean): Fields {
  const { fields = {} } = manifest;
  if (withBack) return fields;
  const isOfFront = (name: string) => markup.paths.has(`fields.${name}`) || mentionsField(css, name);
  const asked = Object.entries(fields).filter(([name, { required }]) => required || isOfFront(name));
  return Object.fromEntries(asked);
}

function sideOf(side: Side, markup: Markup, text: (name: string) => string): TemplateSide {
  const { pictures, platePictures, zones, layers, paths, hasFoil } = markup;
  return {
    html: text(`${side}.html`),
    css: text(`${side}.css`),
    markup: { pictures, platePictures, zones, layers, paths, hasFoil },
  };
}

/**
 * The card's other side as a template of its own, so that a page shows it like any. Throws an OperatorError
 * for a template without one.
 */
export function backOf(template: LoadedTemplate): LoadedTemplate {
  const { manifest, back, digest } = template;
  if (!back) throw new OperatorError(`The template ${manifest.name} has no back.html.`);
  return { ...template, ...back, back: null, digest: `${digest}-back` };
}
