/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { renderToString } from "preact-render-to-string";
import { VERSION } from "../../version.ts";
import type { Heading } from "./markdown.tsx";

export interface NavGroup {
  title: string;
  items: { path: string; title: string }[];
}

export interface Shell {
  /** The address of a file under /docs/assets with its version. */
  asset: (name: string) => string;
  nav: NavGroup[];
}

export interface PageContent {
  path: string;
  title: string;
  /** One sentence for search engines and previews. */
  description: string;
  body: ComponentChildren;
  headings?: Heading[];
  /** The reference is laid out in two columns and brings its own table of contents. */
  wide?: boolean;
}

/** One whole page. */
export function renderPage(shell: Shell, page: PageContent): string {
  return `<!doctype html>${renderToString(<Page shell={shell} page={page} />)}`;
}

function Page({ shell, page }: { shell: Shell; page: PageContent }) {
  const { asset, nav } = shell;
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{page.path === "/docs" ? "cardpress documentation" : `${page.title} – cardpress`}</title>
        <meta name="description" content={page.description} />
        <link rel="stylesheet" href={asset("docs.css")} />
        <link rel="icon" href={asset("icon.svg")} type="image/svg+xml" />
        <script src={asset("theme.js")} />
        <script src={asset("docs.js")} defer />
      </head>
      <body>
        <a class="skip" href="#content">
          Skip to content
        </a>
        <Top />
        <div class={page.wide ? "frame wide" : "frame"}>
          <Navigation nav={nav} current={page.path} />
          <main id="content" tabIndex={-1}>
            <article class="prose">{page.body}</article>
            {!page.wide && <Neighbours nav={nav} current={page.path} />}
            <footer class="foot">
              cardpress {VERSION} · <a href="/docs/openapi.json">OpenAPI document</a>
            </footer>
          </main>
          <Contents headings={page.headings ?? []} />
        </div>
      </body>
    </html>
  );
}

function Top() {
  return (
    <header class="top">
      <a class="brand" href="/docs">
        <svg width="22" height="26" viewBox="0 0 22 26" aria-hidden="true">
          <path
            d="M3 0h16a3 3 0 0 1 3 3v14.5a3 3 0 0 1-1.3 2.5L11 26l-9.7-6A3 3 0 0 1 0 17.5V3a3 3 0 0 1 3-3z"
            fill="currentColor"
          />
          <circle cx="11" cy="8.5" r="3.6" class="knock" />
          <path d="M4 19.5c.6-4.300 3.300-6.300 7-6.300s6.400 2 7 6.300L11 23.600z" class="knock" />
        </svg>
        <span>cardpress</span>
        <span class="docs-word">docs</span>
      </a>
      <nav class="top-links" aria-label="Main">
        <a href="/docs/quickstart">Quickstart</a>
        <a href="/docs/reference">API reference</a>
        <a href="/docs/errors">Errors</a>
        <a class="console-link" href="/console">
          Console
        </a>
      </nav>
    </header>
  );
}

function Contents({ headings }: { headings: Heading[] }) {
  if (headings.length < 2) return null;
  return (
    <nav class="toc" aria-label="On this page">
      <p>On this page</p>
      <ul>
        {headings.map(({ id, text }) => (
          <li key={id}>
            <a href={`#${id}`}>{text}</a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

interface Place {
  nav: NavGroup[];
  /** The path of the page that is shown. */
  current: string;
}

function Navigation({ nav, current }: Place) {
  // Open in the wide layout by style alone; on a phone it is a menu that folds.
  return (
    <nav class="side" aria-label="Documentation">
      <input type="checkbox" id="menu" />
      <label for="menu">Menu</label>
      <div class="side-items">
        {nav.map(({ title, items }) => (
          <>
            <p>{title}</p>
            <ul>
              {items.map((item) => (
                <li key={item.path}>
                  <a href={item.path} aria-current={item.path === current ? "page" : undefined}>
                    {item.title}
                  </a>
                </li>
              ))}
            </ul>
          </>
        ))}
      </div>
    </nav>
  );
}

/** Links to the guides before and after this one. */
function Neighbours({ nav, current }: Place) {
  const all = nav.flatMap(({ items }) => items);
  const at = all.findIndex(({ path }) => path === current);
  if (at < 0) return null;
  const [before, after] = [all[at - 1], all[at + 1]];
  return (
    <nav class="neighbours" aria-label="Neighbouring pages">
      {before && (
        <a href={before.path}>
          <small>Before</small>
          {before.title}
        </a>
      )}
      {after && (
        <a class="after" href={after.path}>
          <small>Next</small>
          {after.title}
        </a>
      )}
    </nav>
  );
}
