/** @jsxImportSource preact */
import type { ComponentChildren, JSX } from "preact";
import { renderToString } from "preact-render-to-string";
import { pageUnderBasePath } from "../core/base-path.ts";
import { KIT } from "./kit.ts";

export interface DocumentProps {
  /** The full title of the window. */
  title: string;
  /** One sentence for search engines and previews. */
  description?: string;
  /** A class for styles of one section. */
  section: "console" | "docs" | "studio";
  /** URLs of the section's own style sheet and scripts; scripts are deferred. */
  style: string;
  scripts: string[];
  /** Addresses of scripts that are modules. */
  modules?: string[] | undefined;
  /** Additional head elements. */
  head?: ComponentChildren;
  children: ComponentChildren;
}

/** A whole document: the common head, and the given body. */
export function Document(props: DocumentProps) {
  const { title, description, section, style, scripts, modules = [], head, children } = props;
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        {head}
        <title>{title}</title>
        {description && <meta name="description" content={description} />}
        <link rel="icon" href={KIT.url("icon.svg")} type="image/svg+xml" />
        <link rel="stylesheet" href={KIT.url("kit.css")} />
        <link rel="stylesheet" href={style} />
        <script src={KIT.url("theme.js")} />
        <script src={KIT.url("kit.js")} defer />
        {scripts.map((address) => (
          <script key={address} src={address} defer />
        ))}
        {modules.map((address) => (
          <script key={address} src={address} type="module" />
        ))}
      </head>
      <body class={section}>
        {children}
        <div id="toast" class="toast" role="status" />
      </body>
    </html>
  );
}

/** Renders a document to text, with its addresses under the service's base path. */
export function documentText(document: JSX.Element, basePath: string): string {
  return `<!doctype html>${fragmentText(document, basePath)}`;
}

/** The same for a part of one, which a page asks for. */
export function fragmentText(part: JSX.Element, basePath: string): string {
  return pageUnderBasePath(renderToString(part), basePath);
}
