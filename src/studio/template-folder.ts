import { readdir, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { MAX_TEMPLATE_CODE_CHARS } from "../core/limits.ts";
import { examine, misnamed } from "../templates/examine.ts";
import type { Fault as FileFault } from "../templates/fault.ts";
import { exampleFields, type Fields } from "../templates/fields.ts";
import { digestOf, readTemplateFolder, TemplateFileError, type TemplateFiles } from "../templates/files.ts";
import { compositionsOf, type TemplateManifest, titleOf } from "../templates/manifest.ts";
import { showsSet } from "./cases.ts";
import { lastCommit } from "./git.ts";
import type { Fault, FieldHint, SampleFile, TemplateState } from "./messages.ts";
import { readSamples, type SampleText } from "./sample-files.ts";
import { sampleCard } from "./samples.ts";

/** A folder as it is now. */
export interface FolderNow {
  state: TemplateState;
  /** The last manifest that could be read; null if there never was one. */
  manifest: TemplateManifest | null;
  /** Whether either side says anything of a set. */
  showsSet: boolean;
  /** null when the files cannot make a card. */
  digest: string | null;
}

/** Lines shown before and after a fault. */
const FRAME_LINES = 2;

/** The templates at a path: the folder itself, or the folders in it. */
export async function findTemplates(root: string): Promise<Map<string, string>> {
  const isTemplate = async (dir: string) =>
    (await stat(join(dir, "template.json")).catch(() => null))?.isFile() ?? false;
  if (await isTemplate(root)) return new Map([[basename(root), root]]);
  const found = new Map<string, string>();
  for (const entry of await readdir(root, { withFileTypes: true }).catch(() => [])) {
    const dir = join(root, entry.name);
    if (!entry.name.startsWith(".") && entry.isDirectory() && (await isTemplate(dir)))
      found.set(entry.name, dir);
  }
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * Reads a template's folder with its samples and accepted pictures, and reports what is wrong with it.
 * @param before the last state, whose manifest stays in use while the file is broken
 */
export async function readFolderNow(
  dir: string,
  before: FolderNow | undefined,
  revision: number,
): Promise<FolderNow> {
  const [read, samples, goldens, inGit] = await Promise.all([
    orFault(dir, readTemplateFolder(dir)),
    orFault(dir, readSamples(dir)),
    readdir(join(dir, "golden")).catch(() => []),
    // Asked only once, because starting git takes longer than reading the folder.
    before ? before.state.inGit : lastCommit(dir).then((commit) => commit !== null),
  ]);
  const files = read.value;
  const examined = files && examine(files);
  const errors = (examined?.faults ?? []).filter(({ severity }) => severity === "error");
  const named = examined?.manifest ? misnamed(examined.manifest, basename(dir)) : [];
  const faults = [
    ...read.faults,
    ...samples.faults,
    ...[...errors, ...named].map((fault) => withFrame(fault, files)),
  ];
  const manifest = examined?.manifest ?? before?.manifest ?? null;
  const digest = files && faults.length === 0 ? digestOf(files) : null;
  return {
    manifest,
    showsSet: examined ? showsSet(examined) : false,
    digest,
    state: {
      name: basename(dir),
      title: manifest ? titleOf(manifest) : basename(dir),
      version: manifest?.version ?? "",
      description: manifest?.description ?? "",
      folder: dir,
      revision,
      digest,
      sizes: manifest?.sizes ?? {},
      fields: fieldHints(manifest?.fields ?? {}),
      compositions: manifest ? compositionsOf(manifest) : [],
      samples: (samples.value ?? []).map((sample) => validated(sample, manifest)),
      goldens: goldens.filter((name) => name.endsWith(".webp")).map((name) => name.slice(0, -".webp".length)),
      hasBack: examined ? examined.back !== null : (before?.state.hasBack ?? false),
      inGit,
      faults,
    },
  };
}

/** What was read, or the fault of the file that could not be. */
async function orFault<T>(dir: string, reading: Promise<T>): Promise<{ value: T | null; faults: Fault[] }> {
  try {
    return { value: await reading, faults: [] };
  } catch (error) {
    if (!(error instanceof TemplateFileError)) throw error;
    const { file, fault } = error;
    const place = file ?? basename(dir);
    return { value: null, faults: [{ file: place, line: null, column: null, message: fault, frame: [] }] };
  }
}

/** A fault with the lines around it. */
export function withFrame({ file, line, column, message }: FileFault, files: TemplateFiles | null): Fault {
  const bytes = files?.get(file);
  const lines = bytes ? new TextDecoder().decode(bytes).split("\n") : [];
  const first = Math.max(1, line - FRAME_LINES);
  const isText = /\.(html|css|json|svg)$/.test(file);
  const frame = isText
    ? lines
        .slice(first - 1, line + FRAME_LINES)
        .map((text, i) => ({ line: first + i, text: text.slice(0, 400), isFault: first + i === line }))
    : [];
  return { file, line, column, message, frame };
}

function validated(sample: SampleText, manifest: TemplateManifest | null): SampleFile {
  if (sample.problem !== null) return sample;
  try {
    const body = JSON.parse(sample.text);
    if (manifest) sampleCard(body, manifest, { width: 1024, height: 1024, format: "png" });
    return { ...sample, problem: null };
  } catch (error) {
    return { ...sample, problem: (error as Error).message };
  }
}

function fieldHints(fields: Fields): FieldHint[] {
  return Object.entries(fields).map(([path, field]) => ({
    path,
    label: field.title ?? path.replaceAll("_", " "),
    type: field.type,
    isRequired: field.required ?? false,
    ...("min" in field && field.min !== undefined ? { min: field.min } : {}),
    ...("max" in field ? { max: field.max } : {}),
    ...(field.type === "qr" ? { max: MAX_TEMPLATE_CODE_CHARS } : {}),
    ...(field.type === "choice" ? { options: field.options } : {}),
    ...(field.type === "list" ? { of: fieldHints(field.of), entry: exampleFields(field.of) } : {}),
  }));
}
