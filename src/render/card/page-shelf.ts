import type { Browser } from "puppeteer-core";
import { MAX_WARM_PAGES } from "../../core/limits.ts";
import type { LoadedTemplate } from "../../templates/load.ts";
import type { TemplateRegistry } from "../../templates/registry.ts";
import { type CardPage, openCardPage } from "./page.ts";

/** A warm page and the template it shows. */
export interface TemplatePage {
  page: CardPage;
  template: LoadedTemplate;
}

/** The warm pages of one browser, one for each template that was asked for lately. */
export interface PageShelf {
  /** The page of a template as its files are now. */
  get(preset: string): Promise<TemplatePage>;
  /** After a failure: the next one asked for is a new one. */
  drop(preset: string): void;
}

interface Kept extends TemplatePage {
  /** The digest of edited files that no page could be opened with. */
  refused?: string;
}

/**
 * Keeps pages for as long as the templates' digests stay. Where edited files make no page, the page of those before goes
 * on, and `onProblem` is told once: half an edit must not cost anybody's card.
 */
export function pageShelf(
  browser: Browser,
  templates: TemplateRegistry,
  onProblem: (problem: string) => void,
): PageShelf {
  // In the order of their last use, the latest at the end.
  const shelf = new Map<string, Kept>();
  const put = (preset: string, kept: Kept) => {
    const before = shelf.get(preset);
    if (before && before.page !== kept.page) close(before);
    shelf.delete(preset);
    shelf.set(preset, kept);
    const [eldest] = shelf.keys();
    if (eldest !== undefined && shelf.size > MAX_WARM_PAGES) drop(eldest);
    return kept;
  };
  const drop = (preset: string) => {
    close(shelf.get(preset));
    shelf.delete(preset);
  };
  return {
    drop,
    get: async (preset) => {
      const template = await templates.current(preset);
      if (shelf.get(preset)?.page.hasCrashed()) drop(preset);
      const kept = shelf.get(preset);
      const { digest } = template;
      if (kept && (kept.template.digest === digest || kept.refused === digest)) return put(preset, kept);
      try {
        return put(preset, { page: await openCardPage(browser, template), template });
      } catch (error) {
        if (!kept || kept.page.hasCrashed()) throw error;
        onProblem(`The template ${preset} as it was edited makes no card: ${(error as Error).message}`);
        return put(preset, { ...kept, refused: digest });
      }
    },
  };
}

function close(kept: Kept | undefined): void {
  void kept?.page.close().catch(() => {});
}
