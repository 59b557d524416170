import type { PageContent } from "./layout.tsx";

/** A section of a page, as an entry of the search index. */
export interface SearchEntry {
  /** Including the anchor, such as `/docs/webhooks#events`. */
  path: string;
  page: string;
  /** Empty for the text above a page's first section. */
  heading: string;
  text: string;
}

/** How much of a section is searchable: longer ones are lists whose first words say what they are. */
const MAX_SECTION_CHARS = 2_000;

/** The sections of a page, taken from its HTML so that the search finds exactly the words on it. */
export function sectionsOf({ path, title }: PageContent, markup: string): SearchEntry[] {
  const article = /<article[^>]*>(.*?)<\/article>/s.exec(markup)?.[1] ?? "";
  // Every word of JSON would lead to code samples; the text around them is enough.
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

/** The text of markup, with white space collapsed. */
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
