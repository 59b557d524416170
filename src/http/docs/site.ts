import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { PHOTO_REFUSALS } from "../../core/photo-refusals.ts";
import { SAMPLE_PHOTO_PATH } from "../../core/sample-photo.ts";
import { THEMES } from "../../core/themes.ts";
import { SAMPLE_PHOTO } from "../../sources/sample-photo.ts";
import { openApiDocument, type PublicFacts } from "../openapi/document.ts";
import { FILE_ASSETS, TEXT_ASSETS } from "./assets.ts";
import { ALL_CODES, errorIndexPage, errorPage, missingPage } from "./error-pages.ts";
import { GUIDES, NAVIGATION } from "./guides.ts";
import { type Html, html, raw } from "./html.ts";
import { type PageContent, renderPage, type Shell } from "./layout.ts";
import { renderMarkdown } from "./markdown.ts";
import { referencePage } from "./reference.ts";

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
export function docsSite(facts: PublicFacts): DocsSite {
  const prefix = new URL(facts.baseUrl).pathname.replace(/\/$/, "");
  const link = (path: string) => (path.startsWith("/") ? prefix + path : path);
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
  const asset = (name: string) =>
    `${link(`/docs/assets/${name}`)}?v=${version(TEXT_ASSETS[name]?.body ?? "")}`;
  const shell: Shell = { link, asset, nav: NAVIGATION };
  const page = (content: PageContent): DocsFile => {
    const markup = renderPage(shell, content).replaceAll("{{base_url}}", Bun.escapeHTML(facts.baseUrl));
    return file(markup, "text/html; charset=utf-8");
  };

  const document = openApiDocument(facts);
  files.set("/docs/openapi.json", file(JSON.stringify(document, null, 2), "application/json; charset=utf-8"));
  const pages = [
    ...GUIDES.map(({ path, text, description }) => {
      const rendered = renderMarkdown(filled(text, facts), link);
      return {
        ...rendered,
        path,
        description,
        body: withPictures(path, rendered.body, link),
      };
    }),
    errorIndexPage(link),
    ...ALL_CODES.map((code) => errorPage(code, facts.baseUrl, link)),
    referencePage(document, link),
  ];
  for (const content of pages) files.set(content.path, page(content));
  return {
    find: (path) => files.get(path),
    missing: (path) => page(missingPage(path, link)),
  };
}

/** A guide's text with what this service has in place of the braces. */
function filled(text: string, { presets: [preset = "", ...others] }: PublicFacts): string {
  const listed = [preset, ...others].map((name) => `\`${name}\``).join(" ");
  return text
    .replace("{{themes}}", KNOWN_THEMES)
    .replace("{{presets}}", listed)
    .replaceAll("{{preset}}", preset);
}

const KNOWN_THEMES = THEMES.map((theme) => `\`${theme}\``).join(" ");

function file(body: string, contentType: string, immutable = false): DocsFile {
  return { body, contentType, immutable, etag: `"${version(body)}"` };
}

function version(body: string | Uint8Array): string {
  return createHash("sha256").update(body).digest("hex").slice(0, 16);
}

/** What Markdown has no words for, in place of the texts' marks. */
function withPictures(path: string, body: Html, link: (path: string) => string): Html {
  if (path === "/docs") return opening(body, link);
  const refusals = html`<dl class="refusals">${Object.entries(PHOTO_REFUSALS).map(
    ([reason, message]) => html`<dt><code>test_fail_${reason}</code></dt><dd>${message}</dd>`,
  )}</dl>`;
  return raw(
    body.text
      .replace("<p>{{photo_examples}}</p>", photoExamples(link).text)
      .replace("<p>{{photo_refusals}}</p>", refusals.text),
  );
}

/** Example photos, of those in test/photos that are free of any claim. */
function photoExamples(link: (path: string) => string): Html {
  const examples = [
    [
      "waist-up",
      true,
      "One player from the waist up, facing the camera, evenly lit",
      "A woman in an orange suit",
    ],
    ["whole-body", true, "The whole player, in action, with room around", "A man stretching on a beach"],
    ["several", false, "Several people, and nobody stands out", "Rows of men side by side"],
    ["small", false, "Too far away", "Tiny people on a wide road"],
    ["cut", false, "The face is cut off", "Half of a face at the photo's edge"],
    ["sideways", false, "Lying on the side: turn it before you send it", "The woman turned by a quarter"],
    ["blurred", false, "Too blurred, or a small copy of a photo", "The woman as a few blurred spots"],
  ] as const;
  return html`<div class="photos">${examples.map(
    ([name, isGood, caption, alt]) =>
      html`<figure class="${isGood ? "good" : "bad"}"><img src="${link(`/docs/assets/photo-${name}.webp`)}" width="240" height="300" loading="lazy" alt="${alt}"><figcaption><strong>${isGood ? "Good" : "Bad"}</strong> ${caption}</figcaption></figure>`,
  )}</div>`;
}

/** The overview's text with its picture and its big links in place. */
function opening(body: Html, link: (path: string) => string): Html {
  const card = html`<img src="${link("/docs/assets/card.webp")}" width="240" height="300" alt="A finished card: a smiling player before a galaxy, rated 93, ST, number 9, Eileen Collins">`;
  const text = body.text
    .replace(/^<h1>.*?<\/p>/s, (title) => html`<div class="hero"><div>${raw(title)}</div>${card}</div>`.text)
    .replace("<p>{{lifecycle}}</p>", LIFECYCLE.text)
    .replace("<p>{{start}}</p>", startCards(link).text);
  return raw(text);
}

const LIFECYCLE = html`<ol class="lifecycle" aria-label="The way of a card"><li><strong>POST</strong><code>/v1/images</code><span>photo checked, credit reserved</span></li><li><strong>processing</strong><code>202</code><span>found, cut out, set, pictured</span></li><li><strong>completed</strong><code>image_url</code><span>one credit used; or <em>failed</em>, and the credit is back</span></li></ol>`;

function startCards(link: (path: string) => string): Html {
  const cards = [
    ["/docs/quickstart", "Quickstart", "Your first card in four steps, with curl or TypeScript."],
    ["/docs/testing", "Testing", "Test keys are free, quick, and choose how an image ends."],
    ["/docs/photos", "Photos that work well", "The photo decides how good a card can be."],
    ["/docs/reference", "API reference", "Every address, field, status and header."],
  ];
  return html`<div class="cards">${cards.map(
    ([path = "", title, text]) =>
      html`<a href="${link(path)}"><strong>${title}</strong><span>${text}</span></a>`,
  )}</div>`;
}
