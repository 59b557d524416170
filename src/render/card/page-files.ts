import type { LoadedTemplate } from "../../templates/load.ts";
import type { PageFile } from "../browser/browser.ts";
import { FONT_LIBRARY_CSS, fontLibraryFile } from "../fonts/fonts.ts";
// @ts-expect-error TypeScript sees the module; the import gives its text, which runs in the page.
import fillSource from "./fill.js" with { type: "text" };
// @ts-expect-error As above.
import fitSource from "./fit.js" with { type: "text" };
// @ts-expect-error As above.
import lightSource from "./light.js" with { type: "text" };

/** Scripts and everything from elsewhere are refused even if a template asks for them. */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self'; img-src 'self' data: blob:";

const FONT_TYPES: Record<string, string> = {
  woff2: "font/woff2",
  woff: "font/woff",
  ttf: "font/ttf",
  otf: "font/otf",
};

/** The template's fixed files and the library's. */
export function templateFile(template: LoadedTemplate, path: string): PageFile | undefined {
  if (path === "/") {
    const head = `<link rel="stylesheet" href="/library.css"><script type="module" src="/fill.js"></script>`;
    const html = /<\/head>/i.test(template.html)
      ? template.html.replace(/<\/head>/i, `${head}</head>`)
      : head + template.html;
    return {
      body: html,
      contentType: "text/html; charset=utf-8",
      headers: { "Content-Security-Policy": PAGE_POLICY },
    };
  }
  if (path === "/card.css") return { body: template.css, contentType: "text/css; charset=utf-8" };
  if (path === "/library.css") return { body: FONT_LIBRARY_CSS, contentType: "text/css; charset=utf-8" };
  if (path === "/fill.js") return { body: fillSource, contentType: "text/javascript; charset=utf-8" };
  if (path === "/light.js") return { body: lightSource, contentType: "text/javascript; charset=utf-8" };
  if (path === "/fit.js") return { body: fitSource, contentType: "text/javascript; charset=utf-8" };
  if (path.startsWith("/library/")) return fontLibraryFile(path);
  const font = path.startsWith("/fonts/") ? template.fonts.get(path.slice("/fonts/".length)) : undefined;
  return font && { body: font, contentType: FONT_TYPES[path.split(".").pop() ?? ""] ?? "font/woff2" };
}
