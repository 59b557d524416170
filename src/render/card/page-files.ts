import { readPageScripts } from "../../system/page-scripts.ts" with { type: "macro" };
import { CONTENT_TYPES, endingOf, OWN_FOLDERS } from "../../templates/files.ts";
import type { LoadedTemplate } from "../../templates/load.ts";
import type { PageFile } from "../browser/browser.ts";
import { FONT_LIBRARY_CSS, fontLibraryFile } from "../fonts/fonts.ts";
import { PAGE_MODULES } from "../photo/page-modules.ts";

/** Scripts and anything external are refused even if a template requests them. */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self'; img-src 'self' data: blob:; base-uri 'none'; form-action 'none'";

/**
 * Rules for every template: hidden elements stay hidden, zones are invisible boxes, and plates keep to
 * themselves. Where a picture must have no holes, what lies beside the card is dark unless the template says
 * otherwise, however weakly: a printer's knife that wanders would show the paper, or black.
 */
const BASE_CSS = `[hidden] { display: none !important }
[data-zone] { position: absolute; visibility: hidden; pointer-events: none }
[data-plate] { contain: strict !important }
:where(body:has([data-backdrop="shown"])) { min-height: 100vh; background: var(--darkTo) }
`;

const CARD_SCRIPTS: Record<string, string> = readPageScripts("render/card/page");

/** By address, as the folders lie in `src/render`: the scripts import some of the photo page's. */
const SCRIPTS = new Map<string, string>([
  ...Object.entries(CARD_SCRIPTS).map(([name, text]) => [`/card/page/${name}`, text] as const),
  ...Object.entries(PAGE_MODULES).map(([name, text]) => [`/photo/page/${name}`, text] as const),
]);

/** Those that a card's page starts with; they import the others. */
const HEAD = `<link rel="stylesheet" href="/library.css">${["fill", "canvas", "film", "layers"]
  .map((name) => `<script type="module" src="/card/page/${name}.ts"></script>`)
  .join("")}`;

const css = (body: string): PageFile => ({ body, contentType: "text/css; charset=utf-8" });

/** The template's fixed files and the bundled library's. Nothing else in its folder can be requested. */
export function templateFile(template: LoadedTemplate, path: string): PageFile | undefined {
  if (path === "/") return pageFile(template.html);
  // Either side names its own sheet, and its page has no other.
  if (path === "/card.css" || path === "/back.css") return css(template.css);
  // preview.css is for people who open card.html as a file; a real card sets all of it.
  if (path === "/preview.css") return css("");
  if (path === "/library.css") return css(BASE_CSS + FONT_LIBRARY_CSS);
  const script = SCRIPTS.get(path);
  if (script !== undefined) return { body: script, contentType: "text/javascript; charset=utf-8" };
  if (path.startsWith("/library/")) return fontLibraryFile(path);
  return ownFile(template, path);
}

function pageFile(html: string): PageFile {
  return {
    body: /<\/head>/i.test(html) ? html.replace(/<\/head>/i, `${HEAD}</head>`) : HEAD + html,
    contentType: "text/html; charset=utf-8",
    headers: { "Content-Security-Policy": PAGE_POLICY },
  };
}

/**
 * A picture or font of the template, served with the type its name implies and nothing else, so that it never
 * runs.
 */
function ownFile({ files }: LoadedTemplate, path: string): PageFile | undefined {
  if (!OWN_FOLDERS.some((folder) => path.startsWith(`/${folder}/`))) return undefined;
  let name: string;
  try {
    name = decodeURIComponent(path.slice(1));
  } catch {
    return undefined;
  }
  const body = files.get(name);
  const contentType = CONTENT_TYPES[endingOf(name)];
  return body && contentType
    ? { body, contentType, headers: { "X-Content-Type-Options": "nosniff" } }
    : undefined;
}
