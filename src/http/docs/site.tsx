/** @jsxImportSource preact */

import changelog from "../../../CHANGELOG.md" with { type: "text" };
import packageJson from "../../../package.json" with { type: "json" };
import { basePathOf } from "../../core/base-path.ts";
import { PHOTO_REFUSALS } from "../../core/photo-refusals.ts";
import { THEMES } from "../../render/card/scenes/themes.ts";
import { VERSION } from "../../version.ts";
import { type Asset, textAsset } from "../../web/assets.ts";
import { Markup } from "../../web/markup.ts";
import { openApiDocument, type PublicFacts } from "../openapi/document.ts";
import { changelogPage } from "./changelog.tsx";
import {
  ALL_CODES,
  errorIndexPage,
  errorIndexText,
  errorPage,
  errorText,
  missingPage,
} from "./error-pages.tsx";
import { GUIDES } from "./guides.ts";
import { type PageContent, renderPage } from "./layout.tsx";
import { fullText, textIndex } from "./llms.ts";
import { renderMarkdown } from "./markdown.tsx";
import { withPictures } from "./pictures.tsx";
import { referencePage } from "./reference.tsx";
import { referenceText } from "./reference-text.ts";
import { sampleFences } from "./samples.ts";
import { type SearchEntry, sectionsOf } from "./search-index.ts";

export interface DocsSite {
  /** The file at a path such as /docs/quickstart, or undefined. */
  find(path: string): Asset | undefined;
  /** The page for addresses that do not exist. */
  missing(path: string): Asset;
}

/**
 * Renders the whole documentation once (about 0.5 s of CPU in a new process), with this service's addresses
 * in every example.
 */
export function docsSite(facts: PublicFacts): DocsSite {
  const files = new Map<string, Asset>();
  const basePath = basePathOf(facts.baseUrl);
  const markup = (content: PageContent) =>
    renderPage(content, basePath)
      .replaceAll("{{base_url}}", Bun.escapeHTML(facts.baseUrl))
      .replaceAll("{{base_path}}", basePath);
  const document = openApiDocument(facts);
  const guides = GUIDES.map((guide) => ({ ...guide, text: filled(guide.text, facts) }));
  const pages: PageContent[] = [
    ...guides.map(({ path, text, description }) => {
      const rendered = renderMarkdown(text);
      return { ...rendered, path, description, body: <Markup text={withPictures(path, rendered.body)} /> };
    }),
    errorIndexPage(),
    ...ALL_CODES.map((code) => errorPage(code, facts.baseUrl)),
    referencePage(document),
    changelogPage(),
  ];
  const found: SearchEntry[] = [];
  for (const content of pages) {
    const text = markup(content);
    files.set(content.path, textAsset(HTML, text));
    found.push(...sectionsOf(content, text));
  }
  files.set("/docs/search.json", textAsset(JSON_TYPE, JSON.stringify(found)));
  files.set("/docs/openapi.json", textAsset(JSON_TYPE, JSON.stringify(document, null, 2)));
  for (const { path, text } of guides) files.set(textPath(path), textAsset(MARKDOWN, plain(text, facts)));
  const markdown = (path: string, text: string) =>
    files.set(textPath(path), textAsset(MARKDOWN, plain(text, facts)));
  markdown("/docs/errors", errorIndexText());
  for (const code of ALL_CODES) markdown(`/docs/errors/${code}`, errorText(code, facts.baseUrl));
  markdown("/docs/reference", referenceText(document, { withRequests: true }));
  markdown("/docs/changelog", changelog);
  const texts = guides.map(({ path, text, description }) => ({
    address: facts.baseUrl + textPath(path),
    text: plain(text, facts),
    description,
  }));
  files.set("/llms.txt", textAsset(PLAIN, textIndex(texts, facts.baseUrl)));
  files.set("/docs/llms-full.txt", textAsset(PLAIN, fullText(texts, document, facts.baseUrl)));
  return {
    find: (path) => files.get(path),
    missing: (path) => textAsset(HTML, markup(missingPage(path))),
  };
}

const HTML = "text/html; charset=utf-8";
const JSON_TYPE = "application/json; charset=utf-8";
const MARKDOWN = "text/markdown; charset=utf-8";
const PLAIN = "text/plain; charset=utf-8";

/** A guide's text with the placeholders in braces filled in for this service. */
function filled(text: string, { presets: [preset = "", ...others] }: PublicFacts): string {
  const listed = [preset, ...others].map((name) => `\`${name}\``).join(" ");
  return text
    .replace(/\{\{samples (\w+)\}\}/g, (_, name) => sampleFences(name))
    .replace("{{themes}}", KNOWN_THEMES)
    .replace("{{presets}}", listed)
    .replaceAll("{{preset}}", preset)
    .replaceAll("{{repository}}", packageJson.repository)
    .replaceAll("{{version}}", VERSION);
}

const KNOWN_THEMES = THEMES.map((theme) => `\`${theme}\``).join(" ");

/** The address of a guide's Markdown, for programs. */
function textPath(path: string): string {
  return `${path === "/docs" ? "/docs/overview" : path}.md`;
}

/** A guide as plain text, without what only a page can show. */
function plain(text: string, { baseUrl }: PublicFacts): string {
  const refusals = Object.entries(PHOTO_REFUSALS).map(
    ([reason, message]) => `- \`test_fail_${reason}\`: ${message}`,
  );
  return text
    .replace("{{photo_refusals}}", refusals.join("\n"))
    .replaceAll("{{base_url}}", baseUrl)
    .replace(/\{\{\w+\}\}\n*/g, "")
    .replace(/^(```\w+) .*$/gm, "$1")
    .replaceAll("](/", `](${baseUrl}/`);
}
