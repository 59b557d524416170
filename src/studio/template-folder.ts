import { readdir, readFile, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { OperatorError } from "../core/errors.ts";
import { MAX_TEMPLATE_CODE_CHARS } from "../core/limits.ts";
import { examine } from "../templates/examine.ts";
import type { Fault as FileFault } from "../templates/fault.ts";
import { exampleFields, type Fields } from "../templates/fields.ts";
import { digestOf, readTemplateFolder, type TemplateFiles } from "../templates/files.ts";
import { compositionsOf, type TemplateManifest, titleOf } from "../templates/manifest.ts";
import { showsSet } from "./cases.ts";
import { lastCommit } from "./git.ts";
import type { Fault, FieldHint, SampleFile, TemplateState } from "./messages.ts";
import { readSamples, sampleCard } from "./samples.ts";

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
    readFiles(dir),
    readSamples(dir),
    readdir(join(dir, "golden")).catch(() => []),
    // Asked only once, because starting git takes longer than reading the folder.
    before ? before.state.inGit : lastCommit(dir).then((commit) => commit !== null),
  ]);
  const examined = read.files && examine(read.files);
  const errors = (examined?.faults ?? []).filter(({ severity }) => severity === "error");
  const named =
    examined?.manifest && examined.manifest.name !== basename(dir) ? [misnamed(examined.manifest, dir)] : [];
  const faults = [...read.faults, ...[...errors, ...named].map((fault) => withFrame(fault, read.files))];
  const manifest = examined?.manifest ?? before?.manifest ?? null;
  const digest = read.files && faults.length === 0 ? digestOf(read.files) : null;
  return {
    manifest,
    showsSet: ["card.html", "back.html"].some((name) =>
      showsSet(new TextDecoder().decode(read.files?.get(name))),
    ),
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
      samples: samples.map((sample) => validated(sample, manifest)),
      goldens: goldens.filter((name) => name.endsWith(".webp")).map((name) => name.slice(0, -".webp".length)),
      hasBack: examined ? examined.back !== null : (before?.state.hasBack ?? false),
      inGit,
      faults,
    },
  };
}

async function readFiles(dir: string): Promise<{ files: TemplateFiles | null; faults: Fault[] }> {
  try {
    return { files: await readTemplateFolder(dir), faults: [] };
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    const file = error.message.slice(dir.length + 1).split(" ", 1)[0] ?? "";
    const message = error.message.replaceAll(`${dir}/`, "");
    return { files: null, faults: [{ file, line: null, column: null, message, frame: [] }] };
  }
}

function misnamed({ name }: TemplateManifest, dir: string): FileFault {
  return {
    file: "template.json",
    line: 1,
    column: 1,
    severity: "error",
    code: "name",
    message: `/name: is "${name}", its folder "${basename(dir)}". Call both the same.`,
  };
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

function validated(sample: { name: string; text: string }, manifest: TemplateManifest | null): SampleFile {
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

/** Reads a file of the samples folder; throws an OperatorError that names it. */
export async function readSampleFile(dir: string, name: string): Promise<Buffer> {
  return readFile(join(dir, "samples", name)).catch(() => {
    throw new OperatorError(
      `samples/${name} is named in the sample and is not there. Put the file into the samples folder.`,
    );
  });
}
