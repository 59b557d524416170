import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { OperatorError } from "../core/errors.ts";
import { BUILT_IN } from "./built-in.ts";
import { folderStamp } from "./files.ts";
import { type LoadedTemplate, loadTemplate } from "./load.ts";
import { TEMPLATE_NAME } from "./manifest.ts";
import { unpackTemplate } from "./pinned.ts";

/**
 * Every template there is: the built-in ones, those that were published, and those of the operator's folder, which go
 * before others of the same name.
 */
export interface TemplateRegistry {
  /**
   * Those that partners may ask for: as the operator lists them, then those published for it. Never empty; the first is
   * what examples show. The same array for as long as nothing changes.
   */
  listed(): Promise<readonly string[]>;
  /**
   * A template as its files are now. Where edited files make none, the last ones that did go on: half an edit must not
   * cost anybody's card. Throws an OperatorError where there is none, or none that ever made a template.
   */
  current(name: string): Promise<LoadedTemplate>;
  /** Whether there is such a template, whatever its files hold. */
  has(name: string): Promise<boolean>;
  /** Every one there is, by name, listed or not, and those that cannot be used with the reason. */
  all(): Promise<FoundTemplate[]>;
  /** Those that the operator lists. Throws an OperatorError that names every one that cannot be used, with file, place and remedy. */
  check(): Promise<LoadedTemplate[]>;
}

export interface FoundTemplate {
  name: string;
  isListed: boolean;
  /** Its folder; null for one that is built in or published. */
  folder: string | null;
  isPublished: boolean;
  /** The files as they are now; null where they cannot be used. */
  template: LoadedTemplate | null;
  problem: string | null;
}

/** What a name stands for since it was last published. */
export interface PublishedTemplate {
  name: string;
  digest: string;
  isListed: boolean;
}

/** Where published templates are kept. */
export interface PublishedTemplates {
  all(): Promise<readonly PublishedTemplate[]>;
  /** The files of a digest as one archive; null where they are lost. */
  archive(digest: string): Promise<Uint8Array | null>;
}

export interface RegistryOptions {
  /** The operator's folder of templates, one folder each; without it only the built-in ones are there. */
  templatesDir: string | null | undefined;
  /** The names of those that partners may ask for. */
  presets: readonly string[];
  /** None are where nobody could have published any. */
  published?: PublishedTemplates;
  /** Told once for every state of the files that makes no template while an earlier one goes on. */
  onProblem?: (problem: string) => void;
}

const NONE_PUBLISHED: PublishedTemplates = { all: async () => [], archive: async () => null };

interface Kept {
  folder: string | null;
  /** Of the files when they were last looked at, or the digest of what is published. */
  stamp: string;
  template: LoadedTemplate;
}

/** Opens the templates. Reads nothing until asked. */
export function templateRegistry(options: RegistryOptions): TemplateRegistry {
  const { templatesDir: dir = null, presets, published = NONE_PUBLISHED, onProblem = () => {} } = options;
  const lastGood = new Map<string, Kept>();
  const listed = listing(presets, published);

  const current = async (name: string): Promise<LoadedTemplate> => {
    const kept = lastGood.get(name);
    // One that was a folder stays one: while it is being replaced, another of the same name must not show.
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
    if (template.manifest.name !== name)
      throw new OperatorError(
        `${join(folder ?? name, "template.json")} cannot be used. /name: is "${template.manifest.name}", its folder "${name}". Call both the same.`,
      );
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
      `CARDPRESS_TEMPLATES_DIR is ${dir}, which is no folder that can be read. Correct it, or unset it.`,
    );
  const ends = await Promise.allSettled(presets.map(current));
  const problems = ends.flatMap((end) => (end.status === "rejected" ? [end.reason.message] : []));
  if (problems.length > 0)
    throw new OperatorError(`CARDPRESS_PRESETS lists what cannot be used. ${problems.join(" ")}`);
  return ends.flatMap((end) => (end.status === "fulfilled" ? [end.value] : []));
}

/** The names that can be asked for; the same array for as long as nothing changes. */
function listing(presets: readonly string[], published: PublishedTemplates): TemplateRegistry["listed"] {
  let last = presets;
  return async () => {
    const more = (await published.all()).filter(({ isListed }) => isListed).map(({ name }) => name);
    const now = [...new Set([...presets, ...more])];
    if (now.join() !== last.join()) last = now.join() === presets.join() ? presets : now;
    return last;
  };
}

/** The digest that is published under a name; none goes before a built-in template. */
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

/** The folders of `dir` that are not hidden. */
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
