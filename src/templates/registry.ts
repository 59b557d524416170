import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { OperatorError } from "../core/errors.ts";
import { BUILT_IN } from "./built-in.ts";
import { folderStamp } from "./files.ts";
import { type LoadedTemplate, loadTemplate } from "./load.ts";
import { TEMPLATE_NAME } from "./manifest.ts";

/** Every template there is: the built-in ones and those of the operator's folder, which go before a built-in of the same name. */
export interface TemplateRegistry {
  /** Those that partners may ask for, as the operator lists them. Never empty; the first is what examples show. */
  readonly listed: readonly string[];
  /**
   * A template as its files are now. Where edited files make none, the last ones that did go on: half an edit must not
   * cost anybody's card. Throws an OperatorError where there is none, or none that ever made a template.
   */
  current(name: string): Promise<LoadedTemplate>;
  /** Whether there is such a template, whatever its files hold. */
  has(name: string): Promise<boolean>;
  /** Every one there is, by name, listed or not, and those that cannot be used with the reason. */
  all(): Promise<FoundTemplate[]>;
  /** The listed ones. Throws an OperatorError that names every one that cannot be used, with file, place and remedy. */
  check(): Promise<LoadedTemplate[]>;
}

export interface FoundTemplate {
  name: string;
  isListed: boolean;
  /** Its folder; null for a built-in one. */
  folder: string | null;
  /** The files as they are now; null where they cannot be used. */
  template: LoadedTemplate | null;
  problem: string | null;
}

export interface RegistryOptions {
  /** The operator's folder of templates, one folder each; without it only the built-in ones are there. */
  templatesDir: string | null | undefined;
  /** The names of those that partners may ask for. */
  presets: readonly string[];
  /** Told once for every state of the files that makes no template while an earlier one goes on. */
  onProblem?: (problem: string) => void;
}

interface Kept {
  folder: string | null;
  /** Of the files when they were last looked at. */
  stamp: string;
  template: LoadedTemplate;
}

/** Opens the templates. Reads nothing until asked. */
export function templateRegistry(options: RegistryOptions): TemplateRegistry {
  const { templatesDir: dir = null, presets: listed, onProblem = () => {} } = options;
  const lastGood = new Map<string, Kept>();

  const folderOf = async (name: string): Promise<string | null> => {
    if (dir === null || !TEMPLATE_NAME.test(name)) return null;
    return (await isFolder(join(dir, name))) ? join(dir, name) : null;
  };

  const current = async (name: string): Promise<LoadedTemplate> => {
    const kept = lastGood.get(name);
    // One that was a folder stays one: while it is being replaced, the built-in of the same name must not show.
    const folder = kept?.folder ?? (await folderOf(name));
    const stamp = folder === null ? "built in" : await folderStamp(folder);
    if (kept?.folder === folder && kept.stamp === stamp) return kept.template;
    try {
      const template = await load(name, folder);
      lastGood.set(name, { folder, stamp, template });
      return template;
    } catch (error) {
      if (!kept) throw error;
      onProblem((error as Error).message);
      lastGood.set(name, { ...kept, folder, stamp });
      return kept.template;
    }
  };

  const load = async (name: string, folder: string | null): Promise<LoadedTemplate> => {
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

  const names = async (): Promise<string[]> =>
    [...new Set([...BUILT_IN.keys(), ...(await foldersIn(dir))])].sort();

  const find = async (name: string): Promise<FoundTemplate> => {
    const folder = await folderOf(name);
    const found = { name, folder, isListed: listed.includes(name) };
    return load(name, folder).then(
      (template) => ({ ...found, template, problem: null }),
      (error: Error) => ({ ...found, template: null, problem: error.message }),
    );
  };

  return {
    listed,
    current,
    has: async (name) => BUILT_IN.has(name) || (await folderOf(name)) !== null,
    all: async () => Promise.all((await names()).map(find)),
    check: async () => {
      if (dir !== null && !(await isFolder(dir)))
        throw new OperatorError(
          `CARDPRESS_TEMPLATES_DIR is ${dir}, which is no folder that can be read. Correct it, or unset it.`,
        );
      const ends = await Promise.allSettled(listed.map(current));
      const problems = ends.flatMap((end) => (end.status === "rejected" ? [end.reason.message] : []));
      if (problems.length > 0)
        throw new OperatorError(`CARDPRESS_PRESETS lists what cannot be used. ${problems.join(" ")}`);
      return ends.flatMap((end) => (end.status === "fulfilled" ? [end.value] : []));
    },
  };
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
