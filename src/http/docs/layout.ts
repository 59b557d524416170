import { VERSION } from "../../version.ts";
import { type Html, html } from "./html.ts";
import type { Heading } from "./markdown.ts";

export interface NavGroup {
  title: string;
  items: { path: string; title: string }[];
}

export interface Shell {
  /** Turns a path such as /docs/errors into an address of this service. */
  link: (path: string) => string;
  /** The name of a file under /docs/assets with its version. */
  asset: (name: string) => string;
  nav: NavGroup[];
}

export interface PageContent {
  path: string;
  title: string;
  /** One sentence for search engines and previews. */
  description: string;
  body: Html;
  headings?: Heading[];
  /** The reference is laid out in two columns and brings its own table of contents. */
  wide?: boolean;
}

/** One whole page. */
export function renderPage(shell: Shell, page: PageContent): string {
  const { link, asset } = shell;
  const headings = page.headings ?? [];
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${page.path === "/docs" ? "cardpress documentation" : `${page.title} – cardpress`}</title>
<meta name="description" content="${page.description}">
<link rel="stylesheet" href="${asset("docs.css")}">
<link rel="icon" href="${asset("icon.svg")}" type="image/svg+xml">
<script src="${asset("theme.js")}"></script>
<script src="${asset("docs.js")}" defer></script>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header class="top">
<a class="brand" href="${link("/docs")}"><svg width="22" height="26" viewBox="0 0 22 26" aria-hidden="true"><path d="M3 0h16a3 3 0 0 1 3 3v14.5a3 3 0 0 1-1.3 2.5L11 26l-9.7-6A3 3 0 0 1 0 17.5V3a3 3 0 0 1 3-3z" fill="currentColor"/><circle cx="11" cy="8.5" r="3.6" class="knock"/><path d="M4 19.5c.6-4.300 3.300-6.300 7-6.300s6.400 2 7 6.300L11 23.600z" class="knock"/></svg><span>cardpress</span><span class="docs-word">docs</span></a>
<nav class="top-links" aria-label="Main"><a href="${link("/docs/quickstart")}">Quickstart</a><a href="${link("/docs/reference")}">API reference</a><a href="${link("/docs/errors")}">Errors</a><a class="console-link" href="${link("/console")}">Console</a></nav>
</header>
<div class="frame${page.wide ? " wide" : ""}">
${navigation(shell, page.path)}
<main id="content" tabindex="-1"><article class="prose">${page.body}</article>
${page.wide ? null : neighbours(shell, page.path)}
<footer class="foot">cardpress ${VERSION} · <a href="${link("/docs/openapi.json")}">OpenAPI document</a></footer></main>
${
  headings.length < 2
    ? null
    : html`<nav class="toc" aria-label="On this page"><p>On this page</p><ul>${headings.map(({ id, text }) => html`<li><a href="#${id}">${text}</a></li>`)}</ul></nav>`
}
</div>
</body>
</html>
`.text;
}

function navigation({ link, nav }: Shell, current: string): Html {
  const groups = nav.map(
    ({ title, items }) =>
      html`<p>${title}</p><ul>${items.map(
        (item) =>
          html`<li><a href="${link(item.path)}"${item.path === current && html` aria-current="page"`}>${item.title}</a></li>`,
      )}</ul>`,
  );
  // Open in the wide layout by style alone; on a phone it is a menu that folds.
  return html`<nav class="side" aria-label="Documentation"><input type="checkbox" id="menu"><label for="menu">Menu</label><div class="side-items">${groups}</div></nav>`;
}

/** Links to the guides before and after this one. */
function neighbours({ link, nav }: Shell, current: string): Html | null {
  const all = nav.flatMap(({ items }) => items);
  const at = all.findIndex(({ path }) => path === current);
  if (at < 0) return null;
  const [before, after] = [all[at - 1], all[at + 1]];
  return html`<nav class="neighbours" aria-label="Neighbouring pages">${
    before && html`<a href="${link(before.path)}"><small>Before</small>${before.title}</a>`
  }${after && html`<a class="after" href="${link(after.path)}"><small>Next</small>${after.title}</a>`}</nav>`;
}
