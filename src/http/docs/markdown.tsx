/** @jsxImportSource preact */
import { Marked, type Token, type Tokens } from "marked";
import type { VNode } from "preact";
import { renderToString } from "preact-render-to-string";
import { Code } from "../../web/code.tsx";
import { Markup } from "../../web/markup.ts";

const LANGUAGE_NAMES: Record<string, string> = {
  json: "JSON",
  sh: "Shell",
  ts: "TypeScript",
  http: "HTTP",
  python: "Python",
  php: "PHP",
  go: "Go",
};
const CALLOUTS: Record<string, string> = { NOTE: "Note", TIP: "Tip", WARNING: "Careful" };

/**
 * Code up to this length, such as a header's name, is never broken at its hyphens; longer code must wrap on a
 * phone.
 */
const MAX_WHOLE_CODE_CHARS = 24;

export interface Heading {
  id: string;
  text: string;
}

export interface Rendered {
  title: string;
  /** HTML. */
  body: string;
  /** Second-level headings, for the page's table of contents. */
  headings: Heading[];
}

/**
 * Renders one of the project's own texts. In addition to GitHub's Markdown, neighbouring fences with
 * `tab=Name` become tabs, `title=name` names a fence, and `> [!NOTE]` is a callout.
 */
export function renderMarkdown(text: string): Rendered {
  const headings: Heading[] = [];
  let title = "";
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text: source }) {
        const inner = <Markup text={this.parser.parseInline(tokens)} />;
        const plain = source.replaceAll(/[`*]|\[|\]\([^)]*\)/g, "");
        if (depth === 1) {
          title = plain;
          return renderToString(<h1>{inner}</h1>);
        }
        const id = slug(plain);
        if (depth === 2) headings.push({ id, text: plain });
        const Heading = `h${depth}` as "h2";
        return renderToString(
          <Heading id={id}>
            <a class="anchor" href={`#${id}`}>
              {inner}
            </a>
          </Heading>,
        );
      },
      codespan: ({ text: source }) =>
        renderToString(
          <code class={source.length <= MAX_WHOLE_CODE_CHARS ? "whole" : undefined}>{source}</code>,
        ),
      code: ({ text: source, lang }) => renderToString(<CodeBlock source={source} info={lang ?? ""} />),
      link({ href, tokens }) {
        return renderToString(
          <a href={href}>
            <Markup text={this.parser.parseInline(tokens)} />
          </a>,
        );
      },
      blockquote({ tokens, text: source }) {
        const kind = /^\[!([A-Z]+)\]/.exec(source)?.[1] ?? "";
        const inner = <Markup text={this.parser.parse(tokens).replace(/\[![A-Z]+\]\s*/, "")} />;
        if (!CALLOUTS[kind]) return renderToString(<blockquote>{inner}</blockquote>);
        return renderToString(
          <aside class={`callout ${kind.toLowerCase()}`}>
            <strong>{CALLOUTS[kind]}</strong>
            {inner}
          </aside>,
        );
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
      : renderToString(<Tabs samples={group as Tokens.Code[]} name={`tabs-${at}`} />);
  });
  return { title, body: chunks.join(""), headings };
}

/** One of the project's own texts in a page, without its title and table of contents. */
export function Markdown({ text }: { text: string }) {
  return <Markup text={renderMarkdown(text).body} />;
}

/** A code sample with its title. `info` is a fence's info string, such as "ts title=a.ts". */
export function CodeBlock({ source, info }: { source: string; info: string }) {
  const { language, title } = fenceInfo(info);
  return <Code text={source} label={title ?? LANGUAGE_NAMES[language] ?? language} language={language} />;
}

/** Heading anchors as GitHub makes them: "4. Ask for the result" -> "4-ask-for-the-result". */
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

/** Puts every token in a group of its own, except that neighbouring tabs share one. */
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

/** Tabs made of radio buttons, which work without scripts and with the arrow keys. */
export function Tabs({
  samples,
  name,
}: {
  samples: { text: string; lang?: string | undefined }[];
  name: string;
}): VNode {
  return (
    // biome-ignore lint/a11y/useSemanticElements: browsers lay a fieldset out by rules of its own
    <div class="tabs" role="group" aria-label="Code sample">
      {samples.map(({ lang }, i) => {
        const label = fenceInfo(lang ?? "").tab ?? "";
        return (
          <>
            <input type="radio" name={name} id={`${name}-${i}`} data-tab={label} checked={i === 0} />
            <label for={`${name}-${i}`}>{label}</label>
          </>
        );
      })}
      {samples.map(({ text, lang }) => (
        <CodeBlock key={lang} source={text} info={lang ?? ""} />
      ))}
    </div>
  );
}

/** Lets wide tables scroll instead of the page; keyboard users reach them under the name of their section. */
function wrapTables(markup: string, section: string): string {
  const opening = `<div class="table" tabindex="0" role="group" aria-label="${Bun.escapeHTML(section)}"><table>`;
  return markup.replaceAll("<table>", opening).replaceAll("</table>", "</table></div>");
}
