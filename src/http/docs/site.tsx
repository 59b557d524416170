/** @jsxImportSource preact */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { renderToString } from "preact-render-to-string";
import { SAMPLE_PHOTO_PATH } from "../../core/sample-photo.ts";
import { THEMES } from "../../core/themes.ts";
import { SAMPLE_PHOTO } from "../../sources/sample-photo.ts";
import { Markup } from "../../web/markup.ts";
import { openApiDocument, type PublicAddresses } from "../openapi/document.ts";
import { FILE_ASSETS, TEXT_ASSETS } from "./assets.ts";
import { ALL_CODES, errorIndexPage, errorPage, missingPage } from "./error-pages.tsx";
import { GUIDES, NAVIGATION } from "./guides.ts";
import { type PageContent, renderPage, type Shell } from "./layout.tsx";
import { renderMarkdown } from "./markdown.tsx";
import { referencePage } from "./reference.tsx";

export interface DocsFile {
  body: string | Blob;
  contentType: string;
  etag: string;
  /** Assets carry their version in the address and never change. */
  immutable: boolean;
}

export interface DocsSite {
  /** The file at a path such as /docs/quickstart, or undefined. */
  find(path: string): DocsFile | undefined;
  /** The page that says that there is none. */
  missing(path: string): DocsFile;
}

/** Renders the whole documentation once (about 50 ms), with this service's own addresses in every example. */
export function docsSite(addresses: PublicAddresses): DocsSite {
  const files = new Map<string, DocsFile>();
  for (const [name, { body, contentType }] of Object.entries(TEXT_ASSETS)) {
    files.set(`/docs/assets/${name}`, file(body, contentType, true));
  }
  for (const [name, { path, contentType }] of Object.entries(FILE_ASSETS)) {
    files.set(`/docs/assets/${name}`, {
      body: Bun.file(path),
      contentType,
      etag: `"${name}"`,
      immutable: true,
    });
  }
  files.set(SAMPLE_PHOTO_PATH, {
    body: Bun.file(SAMPLE_PHOTO.path),
    contentType: SAMPLE_PHOTO.contentType,
    etag: `"${version(readFileSync(SAMPLE_PHOTO.path))}"`,
    // Its address is the same for good, so what is there may change.
    immutable: false,
  });
  const asset = (name: string) => `/docs/assets/${name}?v=${version(TEXT_ASSETS[name]?.body ?? "")}`;
  const shell: Shell = { asset, nav: NAVIGATION };
  const page = (content: PageContent): DocsFile => {
    const markup = renderPage(shell, content).replaceAll("{{base_url}}", Bun.escapeHTML(addresses.baseUrl));
    return file(markup, "text/html; charset=utf-8");
  };

  const document = openApiDocument(addresses);
  files.set("/docs/openapi.json", file(JSON.stringify(document, null, 2), "application/json; charset=utf-8"));
  const pages = [
    ...GUIDES.map(({ path, text, description }) => {
      const rendered = renderMarkdown(text.replace("{{themes}}", KNOWN_THEMES));
      return {
        ...rendered,
        path,
        description,
        body: <Markup text={path === "/docs" ? opening(rendered.body) : rendered.body} />,
      };
    }),
    errorIndexPage(),
    ...ALL_CODES.map((code) => errorPage(code, addresses.baseUrl)),
    referencePage(document),
  ];
  for (const content of pages) files.set(content.path, page(content));
  return {
    find: (path) => files.get(path),
    missing: (path) => page(missingPage(path)),
  };
}

const KNOWN_THEMES = THEMES.map((theme) => `\`${theme}\``).join(" ");

function file(body: string, contentType: string, immutable = false): DocsFile {
  return { body, contentType, immutable, etag: `"${version(body)}"` };
}

function version(body: string | Uint8Array): string {
  return createHash("sha256").update(body).digest("hex").slice(0, 16);
}

/** The overview's text with its picture and its big links in place. */
function opening(text: string): string {
  return text
    .replace(/^<h1>.*?<\/p>/s, (title) => renderToString(<Hero title={title} />))
    .replace("<p>{{lifecycle}}</p>", renderToString(<Lifecycle />))
    .replace("<p>{{start}}</p>", renderToString(<StartCards />));
}

function Hero({ title }: { title: string }) {
  return (
    <div class="hero">
      <div>
        <Markup text={title} />
      </div>
      <img
        src="/docs/assets/card.webp"
        width="240"
        height="300"
        alt="A finished card: a smiling player before a galaxy, rated 93, ST, number 9, Eileen Collins"
      />
    </div>
  );
}

function Lifecycle() {
  return (
    <ol class="lifecycle" aria-label="The way of a card">
      <li>
        <strong>POST</strong>
        <code>/v1/images</code>
        <span>photo checked, credit reserved</span>
      </li>
      <li>
        <strong>processing</strong>
        <code>202</code>
        <span>found, cut out, set, pictured</span>
      </li>
      <li>
        <strong>completed</strong>
        <code>image_url</code>
        <span>
          one credit used; or <em>failed</em>, and the credit is back
        </span>
      </li>
    </ol>
  );
}

const START = [
  ["/docs/quickstart", "Quickstart", "Your first card in four steps, with curl or TypeScript."],
  ["/docs/testing", "Testing", "Test keys are free, quick, and choose how an image ends."],
  ["/docs/photos", "Photos that work well", "The photo decides how good a card can be."],
  ["/docs/reference", "API reference", "Every address, field, status and header."],
] as const;

function StartCards() {
  return (
    <div class="cards">
      {START.map(([path, title, text]) => (
        <a key={path} href={path}>
          <strong>{title}</strong>
          <span>{text}</span>
        </a>
      ))}
    </div>
  );
}
