import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { OperatorError } from "../core/errors.ts";
import { BUILT_IN } from "./built-in.ts";
import { misnamed } from "./examine.ts";
import { folderStamp } from "./files.ts";
import { type LoadedTemplate, loadTemplate } from "./load.ts";
import { TEMPLATE_NAME } from "./manifest.ts";
import { unpackTemplate } from "./pinned.ts";

/**
 * All templates: the built-in ones, the published ones, and those in the operator's folder, which take
 * precedence over others of the same name.
 */
export interface TemplateRegistry {
  /**
   * The templates partners may request: in the operator's order, then those published. Never empty; the first
   * is used in examples. Returns the same array while nothing changes.
   */
  listed(): Promise<readonly string[]>;
  /**
   * Those of them that the operator lists: known without asking anybody, unlike what may have been published
   * since.
   */
  readonly configured: readonly string[];
  /**
   * A template from its current files. While edited files are invalid the last valid ones stay in use: a
   * half-finished edit must not cost anybody's card. Throws an OperatorError when there is none, or none was
   * ever valid.
   */
  current(name: string): Promise<LoadedTemplate>;
  /** Whether such a template exists, valid or not. */
  has(name: string): Promise<boolean>;
  /** All templates by name, listed or not; unusable ones with the reason. */
  all(): Promise<FoundTemplate[]>;
  /**
   * The operator's listed templates. Throws an OperatorError that names every unusable one with file,
   * position and remedy.
   */
  check(): Promise<LoadedTemplate[]>;
}

export interface FoundTemplate {
  name: string;
  isListed: boolean;
  /** Its folder; null for a built-in or published one. */
  folder: string | null;
  isPublished: boolean;
  /** The current files; null when they are unusable. */
  template: LoadedTemplate | null;
  problem: string | null;
}

/** The published version behind a name. */
export interface PublishedTemplate {
  name: string;
  digest: string;
  isListed: boolean;
}

/** Storage of published templates. */
export interface PublishedTemplates {
  all(): Promise<readonly PublishedTemplate[]>;
  /** The archive for a digest; null when it is lost. */
  archive(digest: string): Promise<Uint8Array | null>;
}

export interface RegistryOptions {
  /** The operator's folder of templates, one folder each; without it only the built-in ones exist. */
  templatesDir: string | null | undefined;
  /** The names partners may request. */
  presets: readonly string[];
  /** Absent where nothing can have been published. */
  published?: PublishedTemplates;
  /** Called once for each invalid state of the files while an earlier version stays in use. */
  onProblem?: (problem: string) => void;
}

const NONE_PUBLISHED: PublishedTemplates = { all: async () => [], archive: async () => null };

interface Kept {
  folder: string | null;
  /** The fingerprint of the files when last checked, or the digest of a published template. */
  stamp: string;
  template: LoadedTemplate;
}

/** Opens the registry. Reads nothing until asked. */
export function templateRegistry(options: RegistryOptions): TemplateRegistry {
  const { templatesDir: dir = null, presets, published = NONE_PUBLISHED, onProblem = () => {} } = options;
  const lastGood = new Map<string, Kept>();
  const listed = listing(presets, published);

  const current = async (name: string): Promise<LoadedTemplate> => {
    const kept = lastGood.get(name);
    // Once a folder, always a folder: while it is being replaced, another template of the same name must not
    // show.
    const folder = kept?.folder ?? (await folderOf(dir, name));
    const digest = folder === null ? await publishedAs(published, name) : undefined;
    const stamp = folder === null ? (digest ?? "built in") : await folderStamp(folder);
    if (kept?.folder === folder && kept.stamp === stamp) return kept.template;
    try {
      const template = await load(name, folder, digest);
      lastGood.set(name, { folder, stamp, template });
      return template;
    } catch (error) {
      if (!kept) throw error;
      onProblem((error as Error).message);
      lastGood.set(name, { ...kept, folder, stamp });
      return kept.template;
    }
  };

  const load = async (
    name: string,
    folder: string | null,
    digest: string | undefined,
  ): Promise<LoadedTemplate> => {
    if (digest !== undefined) return loadPublished(published, name, digest);
    if (folder === null && !BUILT_IN.has(name)) throw await unknown(name);
    const template = await loadTemplate(folder ?? name);
    const [fault] = misnamed(template.manifest, name);
    if (fault)
      throw new OperatorError(`${join(folder ?? name, fault.file)} cannot be used. ${fault.message}`);
    return template;
  };

  const unknown = async (name: string): Promise<OperatorError> => {
    const own = dir === null ? "CARDPRESS_TEMPLATES_DIR, which is not set" : dir;
    return new OperatorError(
      `There is no template "${name}". There are ${(await names()).join(", ")}; others are folders in ${own}.`,
    );
  };

  const names = async (): Promise<string[]> => {
    const ofPublished = (await published.all()).map(({ name }) => name);
    return [...new Set([...BUILT_IN.keys(), ...ofPublished, ...(await foldersIn(dir))])].sort();
  };

  const find = async (name: string): Promise<FoundTemplate> => {
    const folder = await folderOf(dir, name);
    const digest = folder === null ? await publishedAs(published, name) : undefined;
    const found = {
      name,
      folder,
      isPublished: digest !== undefined,
      isListed: (await listed()).includes(name),
    };
    return load(name, folder, digest).then(
      (template) => ({ ...found, template, problem: null }),
      (error: Error) => ({ ...found, template: null, problem: error.message }),
    );
  };

  return {
    listed,
    configured: presets,
    current,
    has: async (name) =>
      BUILT_IN.has(name) ||
      (await folderOf(dir, name)) !== null ||
      (await publishedAs(published, name)) !== undefined,
    all: async () => Promise.all((await names()).map(find)),
    check: () => checkListed(dir, presets, current),
  };
}

async function checkListed(
  dir: string | null,
  presets: readonly string[],
  current: TemplateRegistry["current"],
): Promise<LoadedTemplate[]> {
  if (dir !== null && !(await isFolder(dir)))
    throw new OperatorError(
      `CARDPRESS_TEMPLATES_DIR is ${dir}, which is not a readable folder. Correct it, or unset it.`,
    );
  const ends = await Promise.allSettled(presets.map(current));
  const problems = ends.flatMap((end) => (end.status === "rejected" ? [end.reason.message] : []));
  if (problems.length > 0)
    throw new OperatorError(`CARDPRESS_PRESETS lists what cannot be used. ${problems.join(" ")}`);
  return ends.flatMap((end) => (end.status === "fulfilled" ? [end.value] : []));
}

/** The names that can be requested; the same array while nothing changes. */
function listing(presets: readonly string[], published: PublishedTemplates): TemplateRegistry["listed"] {
  let last = presets;
  return async () => {
    const more = (await published.all()).filter(({ isListed }) => isListed).map(({ name }) => name);
    const now = [...new Set([...presets, ...more])];
    if (now.join() !== last.join()) last = now.join() === presets.join() ? presets : now;
    return last;
  };
}

/** The digest published under a name; a built-in template always takes precedence. */
async function publishedAs(published: PublishedTemplates, name: string): Promise<string | undefined> {
  if (BUILT_IN.has(name)) return undefined;
  return (await published.all()).find((each) => each.name === name)?.digest;
}

async function loadPublished(
  published: PublishedTemplates,
  name: string,
  digest: string,
): Promise<LoadedTemplate> {
  const bytes = await published.archive(digest);
  if (bytes === null)
    throw new OperatorError(
      `The files of the published template "${name}" are gone. Publish its folder again: cardpress template publish DIR.`,
    );
  return unpackTemplate(bytes, digest);
}

async function folderOf(dir: string | null, name: string): Promise<string | null> {
  if (dir === null || !TEMPLATE_NAME.test(name)) return null;
  return (await isFolder(join(dir, name))) ? join(dir, name) : null;
}

/** The visible folders of `dir`. */
async function foldersIn(dir: string | null): Promise<string[]> {
  if (dir === null) return [];
  const names = (await readdir(dir).catch(() => [])).filter((name) => !name.startsWith("."));
  const areFolders = await Promise.all(names.map((name) => isFolder(join(dir, name))));
  return names.filter((_, at) => areFolders[at]);
}

/** Links to folders are as good as folders. */
async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isDirectory() ?? false;
}
