/** @jsxImportSource preact */
import { renderToString } from "preact-render-to-string";
import { SAMPLE_PHOTO_PATH } from "../../core/sample-photo.ts";
import { THEMES } from "../../core/themes.ts";
import { SAMPLE_PHOTO } from "../../sources/sample-photo.ts";
import { type Asset, fileAsset, textAsset } from "../../web/assets.ts";
import { Markup } from "../../web/markup.ts";
import { openApiDocument, type PublicAddresses } from "../openapi/document.ts";
import { ASSETS } from "./assets.ts";
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
  for (const [name, asset] of Object.entries(ASSETS)) {
    files.set(`/docs/assets/${name}`, served(asset, { immutable: true }));
  }
  // Its address is the same for good, so what is there may change.
  files.set(SAMPLE_PHOTO_PATH, served(fileAsset(SAMPLE_PHOTO.contentType, SAMPLE_PHOTO.path)));
  const asset = (name: string) => `/docs/assets/${name}?v=${ASSETS[name]?.version}`;
  const shell: Shell = { asset, nav: NAVIGATION };
  const page = (content: PageContent): DocsFile => {
    const markup = renderPage(shell, content).replaceAll("{{base_url}}", Bun.escapeHTML(addresses.baseUrl));
    return served(textAsset("text/html; charset=utf-8", markup));
  };

  const document = openApiDocument(addresses);
  files.set(
    "/docs/openapi.json",
    served(textAsset("application/json; charset=utf-8", JSON.stringify(document, null, 2))),
  );
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

function served({ version, ...asset }: Asset, { immutable = false } = {}): DocsFile {
  return { ...asset, immutable, etag: `"${version}"` };
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
