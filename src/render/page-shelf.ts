import { join } from "node:path";
import type { Browser } from "puppeteer-core";
import { type CardPage, openCardPage } from "./page.ts";
import { loadTemplate, templateStamp } from "./template.ts";

/** A warm page and the template it shows. */
export interface TemplatePage {
  page: CardPage;
  /** The template's digest. */
  template: string;
}

/** The warm pages of one browser, one for each template that was asked for. */
export interface PageShelf {
  /** The page of a template as its files are now. */
  get(preset: string): Promise<TemplatePage>;
  /** After a failure: the next one asked for is a new one. */
  drop(preset: string): void;
}

interface Kept extends TemplatePage {
  stamp: string;
}

/**
 * Keeps pages for as long as their templates' files stay as they are. Where edited files make no card, the page of those
 * before goes on, and `onProblem` is told once: half an edit must not cost anybody's card.
 */
export function pageShelf(
  browser: Browser,
  templatesDir: string | null,
  onProblem: (problem: string) => void,
): PageShelf {
  const shelf = new Map<string, Kept>();
  const put = (preset: string, kept: Kept) => {
    const before = shelf.get(preset);
    if (before && before.page !== kept.page) void before.page.close().catch(() => {});
    shelf.set(preset, kept);
    return kept;
  };
  const drop = (preset: string) => {
    const kept = shelf.get(preset);
    shelf.delete(preset);
    void kept?.page.close().catch(() => {});
  };
  return {
    drop,
    get: async (preset) => {
      const source = templatesDir === null ? preset : join(templatesDir, preset);
      if (shelf.get(preset)?.page.hasCrashed()) drop(preset);
      const stamp = await templateStamp(source);
      const kept = shelf.get(preset);
      if (kept?.stamp === stamp) return kept;
      try {
        const template = await loadTemplate(source);
        // Saved, but not changed.
        if (kept?.template === template.digest) return put(preset, { ...kept, stamp });
        const page = await openCardPage(browser, template);
        return put(preset, { page, template: template.digest, stamp });
      } catch (error) {
        if (!kept || kept.page.hasCrashed()) throw error;
        onProblem((error as Error).message);
        return put(preset, { ...kept, stamp });
      }
    },
  };
}
