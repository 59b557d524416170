/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { RELEASE } from "../../version.ts";
import { Frame, Nav } from "../../web/frame.tsx";
import { Icon } from "../../web/icons.tsx";
import { Document, documentText } from "../../web/page.tsx";
import { DOCS_ASSETS } from "./assets.ts";
import { NAVIGATION } from "./guides.ts";
import type { Heading } from "./markdown.tsx";

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
export function renderPage(page: PageContent, basePath: string): string {
  return documentText(<Page page={page} />, basePath);
}

function Page({ page }: { page: PageContent }) {
  const { path, title, description, body, wide = false, headings = [] } = page;
  return (
    <Document
      title={path === "/docs" ? "cardpress documentation" : `${title} – cardpress`}
      description={description}
      section="docs"
      style={DOCS_ASSETS.url("docs.css")}
      scripts={[DOCS_ASSETS.url("docs.js"), DOCS_ASSETS.url("search.js"), DOCS_ASSETS.url("try-it.js")]}
    >
      <Frame
        home="/docs"
        place={<span class="place">docs</span>}
        tools={
          <>
            <button type="button" class="search-button" data-opens="search">
              <Icon name="search" />
              <span>Search</span>
              <kbd>/</kbd>
            </button>
            <a class="console-link" href="/console">
              Console
            </a>
          </>
        }
        sidebar={<Navigation current={path} />}
        sidebarLabel="Documentation"
        wide={wide}
      >
        <div class={wide ? "reading reading-wide" : "reading"}>
          <div class="text">
            <article class="prose">{body}</article>
            {!wide && <Neighbours current={path} />}
            <footer class="foot">
              cardpress {RELEASE} · <a href="/docs/openapi.json">OpenAPI document</a>
            </footer>
          </div>
          <Contents headings={headings} />
        </div>
      </Frame>
      <SearchDialog />
    </Document>
  );
}

/** Filled by the page's own script from /docs/search.json. */
function SearchDialog() {
  return (
    <dialog id="search" class="search-dialog" aria-label="Search the documentation">
      <form method="dialog">
        <Icon name="search" />
        <input
          type="search"
          aria-label="Search the documentation"
          placeholder="Search: webhook signature, 429, background_theme"
          autoComplete="off"
          spellcheck={false}
        />
        <button type="submit" class="button button-small">
          Close
        </button>
      </form>
      <p class="search-state" role="status" />
      <ul class="search-results" />
    </dialog>
  );
}

function Contents({ headings }: { headings: Heading[] }) {
  if (headings.length < 2) return null;
  return (
    <nav class="toc" aria-label="On this page">
      <p class="nav-label">On this page</p>
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

/** @param current the path of the page being shown */
function Navigation({ current }: { current: string }) {
  return (
    <div class="sidebar-inner">
      {NAVIGATION.map(({ title, items }) => (
        <Nav key={title} label={title} items={items} current={items.find(({ href }) => href === current)} />
      ))}
    </div>
  );
}

/** Links to the guides before and after this one. */
function Neighbours({ current }: { current: string }) {
  const all = NAVIGATION.flatMap(({ items }) => items);
  const at = all.findIndex(({ href }) => href === current);
  if (at < 0) return null;
  const [before, after] = [all[at - 1], all[at + 1]];
  return (
    <nav class="neighbours" aria-label="Neighbouring pages">
      {before && (
        <a href={before.href}>
          <small>Before</small>
          {before.label}
        </a>
      )}
      {after && (
        <a class="after" href={after.href}>
          <small>Next</small>
          {after.label}
        </a>
      )}
    </nav>
  );
}
