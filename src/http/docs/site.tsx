/** @jsxImportSource preact */
import { Fragment } from "preact";
import { renderToString } from "preact-render-to-string";
import { PHOTO_REFUSALS } from "../../core/photo-refusals.ts";
import { SAMPLE_PHOTO_PATH } from "../../core/sample-photo.ts";
import { THEMES } from "../../render/card/themes.ts";
import { SAMPLE_PHOTO } from "../../sources/sample-photo.ts";
import { type Asset, fileAsset, textAsset } from "../../web/assets.ts";
import { Markup } from "../../web/markup.ts";
import { openApiDocument, type PublicFacts } from "../openapi/document.ts";
import { DOCS_ASSETS } from "./assets.ts";
import { ALL_CODES, errorIndexPage, errorPage, missingPage } from "./error-pages.tsx";
import { GUIDES } from "./guides.ts";
import { type PageContent, renderPage } from "./layout.tsx";
import { renderMarkdown } from "./markdown.tsx";
import { referencePage } from "./reference.tsx";
import { sampleFences } from "./samples.ts";

export interface DocsSite {
  /** The file at a path such as /docs/quickstart, or undefined. */
  find(path: string): Asset | undefined;
  /** The page that says that there is none. */
  missing(path: string): Asset;
}

/** Renders the whole documentation once (about 50 ms), with this service's own addresses in every example. */
export function docsSite(facts: PublicFacts): DocsSite {
  const files = new Map<string, Asset>();
  // Its address is the same for good, so what is there may change.
  files.set(SAMPLE_PHOTO_PATH, fileAsset(SAMPLE_PHOTO.contentType, SAMPLE_PHOTO.path));
  const page = (content: PageContent): Asset => {
    const markup = renderPage(content).replaceAll("{{base_url}}", Bun.escapeHTML(facts.baseUrl));
    return textAsset("text/html; charset=utf-8", markup);
  };

  const document = openApiDocument(facts);
  files.set(
    "/docs/openapi.json",
    textAsset("application/json; charset=utf-8", JSON.stringify(document, null, 2)),
  );
  const pages = [
    ...GUIDES.map(({ path, text, description }) => {
      const rendered = renderMarkdown(filled(text, facts));
      return {
        ...rendered,
        path,
        description,
        body: <Markup text={withPictures(path, rendered.body)} />,
      };
    }),
    errorIndexPage(),
    ...ALL_CODES.map((code) => errorPage(code, facts.baseUrl)),
    referencePage(document),
  ];
  for (const content of pages) files.set(content.path, page(content));
  return {
    find: (path) => files.get(path),
    missing: (path) => page(missingPage(path)),
  };
}

/** A guide's text with what this service has in place of the braces. */
function filled(text: string, { presets: [preset = "", ...others] }: PublicFacts): string {
  const listed = [preset, ...others].map((name) => `\`${name}\``).join(" ");
  return text
    .replace(/\{\{samples (\w+)\}\}/g, (_, name) => sampleFences(name))
    .replace("{{themes}}", KNOWN_THEMES)
    .replace("{{presets}}", listed)
    .replaceAll("{{preset}}", preset);
}

const KNOWN_THEMES = THEMES.map((theme) => `\`${theme}\``).join(" ");

/** What Markdown has no words for, in place of the texts' marks. */
function withPictures(path: string, text: string): string {
  if (path === "/docs") return opening(text);
  return text
    .replace("<p>{{photo_examples}}</p>", renderToString(<PhotoExamples />))
    .replace("<p>{{photo_refusals}}</p>", renderToString(<PhotoRefusals />));
}

function PhotoRefusals() {
  return (
    <dl class="refusals">
      {Object.entries(PHOTO_REFUSALS).map(([reason, message]) => (
        <Fragment key={reason}>
          <dt>
            <code>test_fail_{reason}</code>
          </dt>
          <dd>{message}</dd>
        </Fragment>
      ))}
    </dl>
  );
}

/** Of the photos in test/photos, those that are free of any claim. */
const PHOTO_EXAMPLES = [
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

function PhotoExamples() {
  return (
    <div class="photos">
      {PHOTO_EXAMPLES.map(([name, isGood, caption, alt]) => (
        <figure key={name} class={isGood ? "good" : "bad"}>
          <img
            src={DOCS_ASSETS.url(`photo-${name}.webp`)}
            width="240"
            height="300"
            loading="lazy"
            alt={alt}
          />
          <figcaption>
            <strong>{isGood ? "Good" : "Bad"}</strong> {caption}
          </figcaption>
        </figure>
      ))}
    </div>
  );
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
        src={DOCS_ASSETS.url("card.webp")}
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
  [
    "/docs/quickstart",
    "Quickstart",
    "Your first card in three steps, in curl, TypeScript, Python, PHP or Go.",
  ],
  ["/docs/testing", "Testing", "Test keys are free, quick, and choose how an image ends."],
  ["/docs/photos", "Photos that work well", "The photo decides how good a card can be."],
  ["/docs/reference", "API reference", "Every address, field, status and header."],
] as const;

function StartCards() {
  return (
    <div class="starts">
      {START.map(([path, title, text]) => (
        <a key={path} href={path}>
          <strong>{title}</strong>
          <span>{text}</span>
        </a>
      ))}
    </div>
  );
}
