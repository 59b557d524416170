/** @jsxImportSource preact */
import { OWN_RELEASE } from "../../release.ts";
import { Markup } from "../../web/markup.ts";
import type { PageContent } from "./layout.tsx";
import { renderMarkdown } from "./markdown.tsx";

/** /docs/changelog: the project's changelog, as of this version. */
export function changelogPage(): PageContent {
  const { title, body, headings } = renderMarkdown(OWN_RELEASE.changelog);
  const description = "What changed for partners, operators and designers, by release.";
  return { path: "/docs/changelog", title, body: <Markup text={body} />, headings, description };
}
