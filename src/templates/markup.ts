import { type DefaultTreeAdapterMap, type ParserError, parse } from "parse5";
import { LAYERS, type LayerName } from "../core/layers.ts";
import { didYouMean, type Fault, faultAt } from "./fault.ts";
import { type KnownPaths, ZONES, type ZoneName } from "./paths.ts";
import { checkReference, type References } from "./references.ts";

type Node = DefaultTreeAdapterMap["childNode"];
type Element = DefaultTreeAdapterMap["element"];

/** The two sides of a card. */
export type Side = "card" | "back";

/** What the markup of a side refers to. */
export interface Markup {
  pictures: ReadonlySet<string>;
  /** Those of them that lie in an element with `data-plate`. */
  platePictures: ReadonlySet<string>;
  zones: ReadonlySet<ZoneName>;
  /** The layers that it marks by `data-layer`. */
  layers: ReadonlySet<LayerName>;
  /** The paths it shows or tests; inside lists, without the list's own prefix. */
  paths: ReadonlySet<string>;
  /** Whether an element is marked by `data-foil`. */
  hasFoil: boolean;
  faults: Fault[];
}

/**
 * Elements that run, load or link elsewhere: a card has no use for them, and the renderer refuses their
 * requests.
 */
const FOREIGN = new Set(
  "iframe frame frameset object embed applet portal base form video audio source track noscript".split(" "),
);

/** The data attributes of the previous format. */
const OLD_ATTRIBUTES: Record<string, string> = {
  "data-slot": 'data-text, such as data-text="player.name"',
  "data-shadow": 'data-picture="shadow"',
  "data-light": 'data-picture="light"',
};

/** Elements that HTML lets stand without an end tag, void ones among them. */
const END_TAG_OPTIONAL = new Set(
  "html head body p li dt dd option optgroup thead tbody tfoot tr td th rt rp colgroup area base br col embed hr img input link meta source track wbr".split(
    " ",
  ),
);

const FIT = /^[1-6] lines?$/;

interface Reading {
  side: Side;
  html: string;
  known: KnownPaths;
  references: References;
  pictures: Set<string>;
  platePictures: Set<string>;
  zones: Set<ZoneName>;
  layers: Set<LayerName>;
  paths: Set<string>;
  hasFoil: boolean;
  cards: number;
  faults: Fault[];
}

/** Parses card.html or back.html; `references` collects and checks the files it names. */
export function readMarkup(
  html: string,
  known: KnownPaths,
  references: References,
  side: Side = "card",
): Markup {
  const file = `${side}.html`;
  const faults: Fault[] = [];
  const document = parse(html, {
    sourceCodeLocationInfo: true,
    onParseError: (error) => faults.push(syntaxFault(file, html, error)),
  });
  const reading: Reading = {
    side,
    html,
    known,
    references,
    pictures: new Set(),
    platePictures: new Set(),
    zones: new Set(),
    layers: new Set(),
    paths: new Set(),
    hasFoil: false,
    cards: 0,
    faults,
  };
  for (const node of document.childNodes) visit(reading, node, null);
  if (reading.cards !== 1)
    faults.push(
      faultAt(
        file,
        html,
        Math.max(0, html.search(/<body/i)),
        "card",
        `has ${reading.cards} elements with class="card". Put everything into one <main class="card">.`,
      ),
    );
  const { pictures, platePictures, zones, layers, paths, hasFoil } = reading;
  return { pictures, platePictures, zones, layers, paths, hasFoil, faults };
}

function syntaxFault(file: string, html: string, { code, startOffset }: ParserError): Fault {
  const words = code.replaceAll("-", " ");
  return faultAt(file, html, startOffset, "html_syntax", `${words}. Correct the HTML here.`, "warning");
}

const childrenOf = (element: Element): Element[] =>
  element.childNodes.filter((node): node is Element => "tagName" in node);

/** @param list the path of the list whose pattern this lies in */
function visit(reading: Reading, node: Node, list: string | null): void {
  if (!("tagName" in node)) return;
  checkElement(reading, node);
  const attributes = new Map(node.attrs.map(({ name, value }) => [name, value]));
  if ((attributes.get("class") ?? "").split(/\s+/).includes("card")) reading.cards++;
  for (const [name, value] of attributes) checkAttribute(reading, node, name, value, list);
  const each = attributes.get("data-each");
  const children = childrenOf(node);
  // Only the first child of a list is its pattern; others are for people who open the file directly.
  if (each !== undefined && children[0]) visit(reading, children[0], each);
  for (const child of each === undefined ? node.childNodes : children.slice(1))
    if (each === undefined) visit(reading, child, list);
    else if ("tagName" in child) checkElement(reading, child);
}

function fault(
  reading: Reading,
  element: Element,
  attribute: string | null,
  code: string,
  message: string,
  severity: Fault["severity"] = "error",
): void {
  const location = element.sourceCodeLocation;
  const place = (attribute && location?.attrs?.[attribute]) || location;
  const at = place?.startOffset ?? 0;
  reading.faults.push(faultAt(`${reading.side}.html`, reading.html, at, code, message, severity));
}

function checkElement(reading: Reading, element: Element): void {
  const { tagName: tag } = element;
  const sheet = `${reading.side}.css`;
  const { startTag, endTag } = element.sourceCodeLocation ?? {};
  // In SVG and MathML `<path/>` is self-closing.
  const isSlashed = startTag && reading.html.slice(0, startTag.endOffset).endsWith("/>");
  if (startTag && !endTag && !isSlashed && !END_TAG_OPTIONAL.has(tag))
    fault(reading, element, null, "html_syntax", `<${tag}> is never closed. Close it.`, "warning");
  const attribute = (name: string) => element.attrs.find((each) => each.name === name)?.value;
  if (tag === "script") fault(reading, element, null, "script", "scripts do not run on a card. Remove it.");
  if (tag === "style") fault(reading, element, null, "style", `styles belong in ${sheet}. Move them there.`);
  if (FOREIGN.has(tag))
    fault(reading, element, null, "element", `<${tag}> has no place on a card. Remove it.`);
  if (tag === "meta" && attribute("http-equiv") !== undefined)
    fault(reading, element, "http-equiv", "element", "a card sets no headers and leads nowhere. Remove it.");
  if (tag === "link" && ![sheet, "preview.css"].includes(attribute("href") ?? ""))
    fault(
      reading,
      element,
      "href",
      "style",
      `of style sheets only ${sheet} and preview.css are read. Move its rules into ${sheet}.`,
    );
  if (attribute("data-zone") !== undefined && element.childNodes.length > 0)
    fault(reading, element, "data-zone", "zone", "a zone is an empty box. Take its content out.");
}

function checkAttribute(
  reading: Reading,
  element: Element,
  name: string,
  value: string,
  list: string | null,
): void {
  const report = (code: string, message: string, severity?: Fault["severity"]) =>
    fault(reading, element, name, code, message, severity);
  if (/^on/.test(name)) report("script", `scripts do not run on a card. Remove ${name}.`);
  if (name in OLD_ATTRIBUTES) report("attribute", `${name} is ${OLD_ATTRIBUTES[name]} now. Rename it.`);
  CHECKS[name]?.({ reading, element, name, value, list, report });
}

interface Attribute {
  reading: Reading;
  element: Element;
  name: string;
  value: string;
  /** The path of the list whose pattern contains this. */
  list: string | null;
  report: (code: string, message: string, severity?: Fault["severity"]) => void;
}

const checkAddress = ({ reading, element, name, value, report }: Attribute) => {
  // Style sheets are checked as elements, and a sample picture shows only when the file is opened directly.
  if (element.tagName === "link" || (name === "src" && has(element, "data-picture"))) return;
  checkReference(reading.references, value, report);
};

const CHECKS: Record<string, (attribute: Attribute) => void> = {
  "data-text": checkPath,
  "data-if": checkPath,
  "data-unless": checkPath,
  "data-each": checkList,
  "data-picture": checkPicture,
  "data-canvas": checkCanvas,
  "data-plate": checkPlate,
  "data-zone": checkZone,
  "data-layer": checkLayer,
  "data-foil": ({ reading }) => {
    reading.hasFoil = true;
  },
  "data-fit": checkFit,
  src: checkAddress,
  href: checkAddress,
  "xlink:href": checkAddress,
  poster: checkAddress,
  background: checkAddress,
  srcset: ({ report }) => report("reference", "a card has one size at a time. Use src."),
  style: ({ reading, value, report }) => {
    for (const [, url = ""] of value.matchAll(/url\(\s*["']?([^"')]*)/gi))
      checkReference(reading.references, url, report);
  },
};

const has = (element: Element, attribute: string) => element.attrs.some(({ name }) => name === attribute);

function checkPath({ reading, element, name, value: path, list, report }: Attribute): void {
  const { known } = reading;
  const columns = Object.keys((list !== null && known.lists.get(list)) || {});
  const all = name === "data-text" ? known.texts : known.conditions;
  if (!columns.includes(path) && !all.has(path)) {
    const hint = known.lists.has(path)
      ? "It is a list: use data-each."
      : known.pictures.has(path)
        ? `It is a picture: use <img data-picture="${path}">.`
        : `${didYouMean(path, [...columns, ...all])}There are ${[...columns, ...all].join(", ")}.`;
    report("unknown_path", `there is no "${path}" to show. ${hint}`);
  }
  reading.paths.add(path);
  if (path.startsWith("player.") && plateOf(element))
    report(
      "plate",
      `a plate shows nothing of the player, or it is drawn for every card. Take "${path}" out.`,
    );
  if (name === "data-text" && childrenOf(element).length > 0)
    report(
      "text",
      "the text takes the place of all that is inside. Put data-text on an element of its own.",
      "warning",
    );
}

function checkList({ reading, element, value: path, list, report }: Attribute): void {
  const lists = [...reading.known.lists.keys()];
  if (list !== null) report("list", "a list cannot lie in another. Move it out.");
  if (!reading.known.lists.has(path)) {
    const all = lists.length === 0 ? "template.json declares none." : `There are ${lists.join(", ")}.`;
    report("unknown_path", `there is no list "${path}". ${didYouMean(path, lists)}${all}`);
  }
  if (childrenOf(element).length === 0)
    report("list", "the first element inside is the pattern of each entry. Add one.");
  reading.paths.add(path);
}

function checkPicture({ reading, element, value, list, report }: Attribute): void {
  if (element.tagName !== "img") report("picture", "only an <img> can show a picture. Use one.");
  if (list !== null) report("picture", "a picture cannot lie in a list. Move it out.");
  // A code is drawn into the one element that it has.
  const taken = value.startsWith("fields.") ? reading.pictures : new Set<string>();
  takeOnce(taken, [...reading.known.pictures], value, "picture", report);
  if (reading.known.pictures.has(value)) reading.pictures.add(value);
  if (value.startsWith("fields.")) reading.paths.add(value);
  if (!plateOf(element)) return;
  const name = reading.known.pictures.has(value) ? value : undefined;
  if (name) reading.platePictures.add(name);
  if (name && name !== "scene" && name !== "badge")
    report(
      "plate",
      `a plate shows nothing of the player, or it is drawn for every card. Take the ${name} out.`,
    );
}

function checkCanvas({ element, report }: Attribute): void {
  const isBackdrop = element.attrs.some(({ name, value }) => name === "data-picture" && value === "backdrop");
  if (!isBackdrop) report("canvas", "only the backdrop is shown as a canvas. Take data-canvas off.");
  if (has(element, "width") || has(element, "height"))
    report("canvas", "a canvas takes its size from card.css. Take width and height off.");
}

/** The element with `data-plate` that contains this one. */
function plateOf(element: Element): Element | undefined {
  for (let at = element.parentNode; at && "attrs" in at; at = at.parentNode)
    if (has(at as Element, "data-plate")) return at as Element;
  return undefined;
}

function checkPlate({ element, list, report }: Attribute): void {
  if (element.tagName !== "div") report("plate", "only a <div> can be a plate. Use one.");
  if (list !== null) report("plate", "a plate cannot lie in a list. Move it out.");
  if (plateOf(element)) report("plate", "a plate cannot lie in another. Take data-plate off one of them.");
}

function checkZone({ reading, value, list, report }: Attribute): void {
  if (list !== null) report("zone", "a zone is one box, so it cannot lie in a list. Move it out.");
  takeOnce(reading.zones, ZONES, value, "zone", report);
}

function checkLayer({ reading, value, report }: Attribute): void {
  if (reading.side === "back") report("layer", "only a card's front has layers. Take data-layer off.");
  const name = LAYERS.find((each) => each === value);
  if (name) reading.layers.add(name);
  else
    report(
      "unknown_layer",
      `there is no layer "${value}". ${didYouMean(value, LAYERS)}There are ${LAYERS.join(", ")}.`,
    );
}

function takeOnce<T extends string>(
  taken: Set<T>,
  all: readonly T[],
  value: string,
  what: string,
  report: Attribute["report"],
): void {
  const name = all.find((each) => each === value);
  if (name === undefined) {
    const hint = `${didYouMean(value, all)}There are ${all.join(", ")}.`;
    report(`unknown_${what}`, `there is no ${what} "${value}". ${hint}`);
  } else if (taken.has(name)) report(what, `there is already a ${what} "${value}". Keep one of them.`);
  else taken.add(name);
}

function checkFit({ element, value, report }: Attribute): void {
  if (!FIT.test(value))
    report("fit", `is "${value}", but says how many lines a text may take: "1 line" to "6 lines".`);
  const texts = element.childNodes.filter((node) => "value" in node && node.value.trim() !== "");
  const isOwn = has(element, "data-text");
  if (!isOwn && (childrenOf(element).length !== 1 || texts.length > 0))
    report("fit", "the box holds one element with the text, or has data-text itself. Change it to that.");
}
