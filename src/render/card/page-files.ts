import { CONTENT_TYPES, endingOf, OWN_FOLDERS } from "../../templates/files.ts";
import type { LoadedTemplate } from "../../templates/load.ts";
import type { PageFile } from "../browser/browser.ts";
import { FONT_LIBRARY_CSS, fontLibraryFile } from "../fonts/fonts.ts";
import { PAGE_MODULES } from "../photo/page-modules.ts";
// @ts-expect-error TypeScript sees the module; the import gives its text, which runs in the page.
import backdropSource from "./backdrop.js" with { type: "text" };
// @ts-expect-error As above.
import badgeSource from "./badge.js" with { type: "text" };
// @ts-expect-error As above.
import bindSource from "./bind.js" with { type: "text" };
// @ts-expect-error As above.
import boundedSource from "./bounded.js" with { type: "text" };
// @ts-expect-error As above.
import canvasSource from "./canvas.js" with { type: "text" };
// @ts-expect-error As above.
import codesSource from "./codes.js" with { type: "text" };
// @ts-expect-error As above.
import decodeSource from "./decode.js" with { type: "text" };
// @ts-expect-error As above.
import distancesSource from "./distances.js" with { type: "text" };
// @ts-expect-error As above.
import drawnSource from "./drawn.js" with { type: "text" };
// @ts-expect-error As above.
import fillSource from "./fill.js" with { type: "text" };
// @ts-expect-error As above.
import filmSource from "./film.js" with { type: "text" };
// @ts-expect-error As above.
import fitSource from "./fit.js" with { type: "text" };
// @ts-expect-error As above.
import grainSource from "./grain.js" with { type: "text" };
// @ts-expect-error As above.
import layersSource from "./layers.js" with { type: "text" };
// @ts-expect-error As above.
import lightSource from "./light.js" with { type: "text" };
// @ts-expect-error As above.
import movingSource from "./moving.js" with { type: "text" };
// @ts-expect-error As above.
import namedPicturesSource from "./named-pictures.js" with { type: "text" };
// @ts-expect-error As above.
import outlineSource from "./outline.js" with { type: "text" };
// @ts-expect-error As above.
import photoWindowSource from "./photo-window.js" with { type: "text" };
// @ts-expect-error As above.
import pixelsSource from "./pixels.js" with { type: "text" };
// @ts-expect-error As above.
import platesSource from "./plates.js" with { type: "text" };
// @ts-expect-error As above.
import recentSource from "./recent.js" with { type: "text" };
// @ts-expect-error As above.
import sidesSource from "./sides.js" with { type: "text" };
// @ts-expect-error As above.
import standInSource from "./stand-in.js" with { type: "text" };
// @ts-expect-error As above.
import straysSource from "./strays.js" with { type: "text" };
// @ts-expect-error As above.
import studioLightSource from "./studio-light.js" with { type: "text" };
// @ts-expect-error As above.
import watermarkSource from "./watermark.js" with { type: "text" };

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

const SCRIPTS: Record<string, string> = {
  "/backdrop.js": backdropSource,
  "/badge.js": badgeSource,
  "/bind.js": bindSource,
  "/bounded.js": boundedSource,
  "/canvas.js": canvasSource,
  "/codes.js": codesSource,
  "/decode.js": decodeSource,
  "/distances.js": distancesSource,
  "/drawn.js": drawnSource,
  "/fill.js": fillSource,
  "/film.js": filmSource,
  "/fit.js": fitSource,
  "/grain.js": grainSource,
  "/layers.js": layersSource,
  "/light.js": lightSource,
  "/moving.js": movingSource,
  "/named-pictures.js": namedPicturesSource,
  "/outline.js": outlineSource,
  "/photo-window.js": photoWindowSource,
  "/pixels.js": pixelsSource,
  "/plates.js": platesSource,
  "/recent.js": recentSource,
  "/sides.js": sidesSource,
  "/stand-in.js": standInSource,
  "/studio-light.js": studioLightSource,
  "/strays.js": straysSource,
  "/watermark.js": watermarkSource,
  // Of the page in which players are cut out.
  ...Object.fromEntries(
    Object.entries(PAGE_MODULES).map(([name, script]) => [`/photo/page/${name}`, script]),
  ),
};

const css = (body: string): PageFile => ({ body, contentType: "text/css; charset=utf-8" });

/** The template's fixed files and the bundled library's. Nothing else in its folder can be requested. */
export function templateFile(template: LoadedTemplate, path: string): PageFile | undefined {
  if (path === "/") return pageFile(template.html);
  // Either side names its own sheet, and its page has no other.
  if (path === "/card.css" || path === "/back.css") return css(template.css);
  // preview.css is for people who open card.html as a file; a real card sets all of it.
  if (path === "/preview.css") return css("");
  if (path === "/library.css") return css(BASE_CSS + FONT_LIBRARY_CSS);
  const script = SCRIPTS[path];
  if (script !== undefined) return { body: script, contentType: "text/javascript; charset=utf-8" };
  if (path.startsWith("/library/")) return fontLibraryFile(path);
  return ownFile(template, path);
}

function pageFile(html: string): PageFile {
  const head = `<link rel="stylesheet" href="/library.css"><script type="module" src="/fill.js"></script><script type="module" src="/canvas.js"></script><script type="module" src="/film.js"></script><script type="module" src="/layers.js"></script>`;
  return {
    body: /<\/head>/i.test(html) ? html.replace(/<\/head>/i, `${head}</head>`) : head + html,
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
