/** @jsxImportSource preact */
import { OWN_RELEASE } from "../../release.ts";
import { Markup } from "../../web/markup.ts";
import type { PageContent } from "./layout.tsx";
import { renderMarkdown } from "./markdown.tsx";

/** Where what is done next will be listed: nothing to read in a release. */
const NOTHING_UNRELEASED = /^## Unreleased\n+(?=## )/m;

/** /docs/changelog: the project's changelog, as of this version. */
export function changelogPage(changelog = OWN_RELEASE.changelog): PageContent {
  const { title, body, headings } = renderMarkdown(changelog.replace(NOTHING_UNRELEASED, ""));
  const description = "What changed for partners, operators and designers, by release.";
  return { path: "/docs/changelog", title, body: <Markup text={body} />, headings, description };
}
