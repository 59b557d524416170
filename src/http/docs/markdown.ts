import highlighter from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import http from "highlight.js/lib/languages/http";
import json from "highlight.js/lib/languages/json";
import typescript from "highlight.js/lib/languages/typescript";
import { Marked, type Token, type Tokens } from "marked";
import { type Html, html, raw } from "./html.ts";

highlighter.registerLanguage("json", json);
highlighter.registerLanguage("sh", bash);
highlighter.registerLanguage("ts", typescript);
highlighter.registerLanguage("http", http);

const LANGUAGE_NAMES: Record<string, string> = { json: "JSON", sh: "Shell", ts: "TypeScript", http: "HTTP" };
const CALLOUTS: Record<string, string> = { NOTE: "Note", TIP: "Tip", WARNING: "Careful" };

/** Shorter code, such as a header's name, is never broken at its hyphens; longer code must fit a phone. */
const MAX_WHOLE_CODE_CHARS = 24;

export interface Heading {
  id: string;
  text: string;
}

export interface Rendered {
  title: string;
  body: Html;
  /** Second-level headings, for the page's table of contents. */
  headings: Heading[];
}

/**
 * Renders one of our own texts. `link` turns a path such as /docs/errors into an address of this service. Besides
 * GitHub's Markdown: neighbouring fences with `tab=Name` become tabs, `title=name` names a fence, `> [!NOTE]` is a callout.
 */
export function renderMarkdown(text: string, link: (href: string) => string): Rendered {
  const headings: Heading[] = [];
  let title = "";
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text: source }) {
        const inner = raw(this.parser.parseInline(tokens));
        const plain = source.replaceAll(/[`*]|\[|\]\([^)]*\)/g, "");
        if (depth === 1) {
          title = plain;
          return html`<h1>${inner}</h1>`.text;
        }
        const id = slug(plain);
        if (depth === 2) headings.push({ id, text: plain });
        return html`${raw(`<h${depth} id="${id}">`)}<a class="anchor" href="#${id}">${inner}</a>${raw(`</h${depth}>`)}`
          .text;
      },
      codespan: ({ text: source }) =>
        html`${raw(source.length <= MAX_WHOLE_CODE_CHARS ? '<code class="whole">' : "<code>")}${source}</code>`
          .text,
      code: ({ text: source, lang }) => codeBlock(source, lang ?? "").text,
      link({ href, tokens }) {
        return html`<a href="${link(href)}">${raw(this.parser.parseInline(tokens))}</a>`.text;
      },
      blockquote({ tokens, text: source }) {
        const kind = /^\[!([A-Z]+)\]/.exec(source)?.[1] ?? "";
        const inner = this.parser.parse(tokens).replace(/\[![A-Z]+\]\s*/, "");
        if (!CALLOUTS[kind]) return html`<blockquote>${raw(inner)}</blockquote>`.text;
        return html`<aside class="callout ${kind.toLowerCase()}"><strong>${CALLOUTS[kind]}</strong>${raw(inner)}</aside>`
          .text;
      },
    },
  });
  const tokens = marked.lexer(text);
  let section = "";
  const chunks = groupTabs(tokens).map((group, at) => {
    const [first] = group;
    if (first?.type === "heading") section = first.text;
    return group.length === 1
      ? wrapTables(marked.parser(group), section)
      : tabs(group as Tokens.Code[], `tabs-${at}`).text;
  });
  return { title, body: raw(chunks.join("")), headings };
}

/** A code sample with its name and a button to copy it. `info` is a fence's info string, such as "ts title=a.ts". */
export function codeBlock(source: string, info: string): Html {
  const { language, title } = fenceInfo(info);
  const name = title ?? LANGUAGE_NAMES[language] ?? language;
  return html`<figure class="code"><figcaption><span>${name}</span><button type="button" class="copy" hidden>Copy</button></figcaption><pre tabindex="0"><code>${highlight(source, language)}</code></pre></figure>`;
}

export function highlight(source: string, language: string): Html {
  if (!highlighter.getLanguage(language)) return html`${source}`;
  return raw(highlighter.highlight(source, { language }).value);
}

/** As GitHub makes them: "4. Ask for the result" -> "4-ask-for-the-result". */
export function slug(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(/\s+/g, "-");
}

function fenceInfo(info: string): { language: string; tab?: string | undefined; title?: string | undefined } {
  const [language = "", ...rest] = info.split(" ");
  const setting = (name: string) => rest.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1);
  return { language, tab: setting("tab"), title: setting("title") };
}

const isTab = (token: Token): token is Tokens.Code =>
  token.type === "code" && fenceInfo(token.lang ?? "").tab !== undefined;

/** Every token in a group of its own, except that neighbouring tabs share one. */
function groupTabs(tokens: Token[]): Token[][] {
  const groups: Token[][] = [];
  for (const token of tokens) {
    if (token.type === "space") continue;
    const last = groups.at(-1);
    if (isTab(token) && last?.[0] && isTab(last[0])) last.push(token);
    else groups.push([token]);
  }
  return groups;
}

/** Tabs made of radio buttons: they work without scripts and with the arrow keys. */
function tabs(samples: Tokens.Code[], name: string): Html {
  const inputs = samples.map((sample, i) => {
    const label = fenceInfo(sample.lang ?? "").tab ?? "";
    return html`<input type="radio" name="${name}" id="${name}-${i}" data-tab="${label}" ${i === 0 && raw("checked")}><label for="${name}-${i}">${label}</label>`;
  });
  const panels = samples.map((sample) => codeBlock(sample.text, sample.lang ?? ""));
  return html`<div class="tabs" role="group" aria-label="Code sample">${inputs}${panels}</div>`;
}

/** Wide tables scroll by themselves, so that the page never does; the keyboard reaches them as what their section is about. */
function wrapTables(markup: string, section: string): string {
  const opening = html`<div class="table" tabindex="0" role="group" aria-label="${section}"><table>`.text;
  return markup.replaceAll("<table>", opening).replaceAll("</table>", "</table></div>");
}
