import type { PageContent } from "./layout.tsx";

/** A section of a page, as the search finds it. */
export interface SearchEntry {
  /** With its anchor, such as `/docs/webhooks#events`. */
  path: string;
  page: string;
  /** Empty for what stands above a page's first section. */
  heading: string;
  text: string;
}

/** What of a section is searched: longer ones are lists whose first words tell what they are. */
const MAX_SECTION_CHARS = 2_000;

/** The sections of a page by its markup, so that the search finds the very words that are on it. */
export function sectionsOf({ path, title }: PageContent, markup: string): SearchEntry[] {
  const article = /<article[^>]*>(.*?)<\/article>/s.exec(markup)?.[1] ?? "";
  // Code would be found by every word of JSON; the words about it are enough.
  const words = article.replace(/<figure class="code">.*?<\/figure>/gs, " ");
  const [opening = "", ...sections] = words.split(/(?=<h[23] id=")/);
  return [
    { path, page: title, heading: "", text: textOf(opening.replace(/<h1>.*?<\/h1>/s, "")) },
    ...sections.map((section) => {
      const [whole = "", id = "", heading = ""] = /^<h[23] id="([^"]*)">(.*?)<\/h[23]>/s.exec(section) ?? [];
      return {
        path: `${path}#${id}`,
        page: title,
        heading: textOf(heading),
        text: textOf(section.slice(whole.length)),
      };
    }),
  ];
}

/** Markup's text, its white space as single blanks. */
function textOf(markup: string): string {
  return markup
    .replace(/<[^>]+>/g, " ")
    .replace(/&(?:lt|gt|quot|amp|#39);/g, (entity) => ENTITIES[entity] ?? entity)
    .replace(/\s+/g, " ")
    .replace(/ ([.,:;)])/g, "$1")
    .trim()
    .slice(0, MAX_SECTION_CHARS);
}

const ENTITIES: Record<string, string> = {
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&amp;": "&",
  "&#39;": "'",
};
