import type { Browser } from "puppeteer-core";
import { MAX_WARM_PAGES } from "../../core/limits.ts";
import { backOf, type LoadedTemplate } from "../../templates/load.ts";
import { unpackTemplate } from "../../templates/pinned.ts";
import type { TemplateRegistry } from "../../templates/registry.ts";
import { type CardPage, openCardPage } from "./page.ts";

/** A warm page and the template it shows. */
export interface TemplatePage {
  page: CardPage;
  template: LoadedTemplate;
}

/** A template as it was at some point: its digest, and the path of a file that contains it. */
export interface PinnedTemplate {
  digest: string;
  path: string;
}

/** The warm pages of one browser, one per recently requested template. */
export interface PageCache {
  /**
   * The page of a template: as pinned, or as its files are now. When a pinned version is no longer available,
   * the card is made with the current files, since a newer design is better than no card.
   */
  get(preset: string, pinned?: PinnedTemplate): Promise<TemplatePage>;
  /** The page of the other side of a template that `get` gave. Throws for a template without one. */
  back(template: LoadedTemplate): Promise<TemplatePage>;
  /** To be called after a failure, with the template's digest: the next request gets a new page. */
  drop(digest: string): void;
}

/**
 * Keeps pages by template digest. When edited files cannot be opened as a page, the previous page stays in
 * use and `onProblem` is called once: a half-finished edit must not cost anybody a card.
 */
export function pageCache(
  browser: Browser,
  templates: TemplateRegistry,
  onProblem: (problem: string) => void,
): PageCache {
  // By digest, least recently used first.
  const cache = new Map<string, TemplatePage>();
  // For each preset the digest last shown, and the digest of edited files that failed to open.
  const lastShown = new Map<string, { digest: string; refused?: string }>();

  const drop = (digest: string) => {
    void cache
      .get(digest)
      ?.page.close()
      .catch(() => {});
    cache.delete(digest);
  };
  const warm = (digest: string): TemplatePage | undefined => {
    if (cache.get(digest)?.page.hasCrashed()) drop(digest);
    const kept = cache.get(digest);
    if (kept) {
      cache.delete(digest);
      cache.set(digest, kept);
    }
    return kept;
  };
  const open = async (template: LoadedTemplate): Promise<TemplatePage> => {
    const known = warm(template.digest);
    if (known) return known;
    const opened = { page: await openCardPage(browser, template), template };
    cache.set(template.digest, opened);
    const [eldest] = cache.keys();
    if (eldest !== undefined && cache.size > MAX_WARM_PAGES) drop(eldest);
    return opened;
  };
  const asItIs = async (preset: string): Promise<TemplatePage> => {
    const template = await templates.current(preset);
    const last = lastShown.get(preset);
    const before = last && last.digest !== template.digest ? warm(last.digest) : undefined;
    if (before && last?.refused === template.digest) return before;
    try {
      const opened = await open(template);
      lastShown.set(preset, { digest: template.digest });
      return opened;
    } catch (error) {
      if (!before || !last) throw error;
      onProblem(`The template ${preset} as it was edited makes no card: ${(error as Error).message}`);
      lastShown.set(preset, { ...last, refused: template.digest });
      return before;
    }
  };
  const asPinned = async (preset: string, { digest, path }: PinnedTemplate): Promise<TemplatePage> => {
    const current = await templates.current(preset).catch(() => null);
    if (current?.digest === digest) return open(current);
    return open(await unpackTemplate(await Bun.file(path).bytes(), digest));
  };
  return {
    drop,
    back: (template) => open(backOf(template)),
    get: async (preset, pinned) => {
      if (pinned === undefined) return asItIs(preset);
      const known = warm(pinned.digest);
      if (known) return known;
      return asPinned(preset, pinned).catch((error) => {
        onProblem(
          `The template ${preset} as of digest ${pinned.digest} is no longer available: ${error.message}`,
        );
        return asItIs(preset);
      });
    },
  };
}
