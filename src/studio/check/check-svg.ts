import { type DefaultTreeAdapterTypes, parse, parseFragment } from "parse5";
import postcss from "postcss";
import { type Fault, faultAt } from "../../templates/fault.ts";
import { endingOf, type TemplateFiles } from "../../templates/files.ts";
import { FONT_FAMILIES } from "../../templates/font-families.ts";
import type { Side } from "../../templates/markup.ts";

type Node = DefaultTreeAdapterTypes.Node;
type Element = DefaultTreeAdapterTypes.Element;

/** Pictures given in an address itself. */
const DATA_SVG = /data:image\/svg\+xml([^,"'()]*),([^"')]*)/gi;

const MESSAGE =
  "sets text in a font of this machine, which is another one on the next: a picture sees no font of the page. Turn the text into outlines, or embed its font in the picture as a data: address.";

/**
 * Text that a picture or drawing sets in a font of the machine, which nothing else of the template would
 * tell.
 */
export function checkSvg(files: TemplateFiles): Fault[] {
  const faults: Fault[] = [];
  const text = (name: string) => new TextDecoder().decode(files.get(name));
  for (const file of files.keys()) {
    if (endingOf(file) !== "svg") continue;
    const at = systemText(text(file));
    if (at !== null) faults.push(faultAt(file, text(file), at, "svg_font", MESSAGE));
  }
  for (const file of ["card.html", "card.css", "back.html", "back.css"])
    for (const match of text(file).matchAll(DATA_SVG))
      if (systemText(decoded(match[1] ?? "", match[2] ?? "")) !== null)
        faults.push(faultAt(file, text(file), match.index, "svg_font", `a picture here ${MESSAGE}`));
  const sides = ["card", "back"] as const;
  return [
    ...faults,
    ...sides.flatMap((side) => ownDrawings(side, text(`${side}.html`), text(`${side}.css`))),
  ];
}

/** The content of a data: address; empty when it is damaged, which the page tells. */
function decoded(parameters: string, data: string): string {
  try {
    return parameters.includes(";base64") ? atob(data.replaceAll(/\s/g, "")) : decodeURIComponent(data);
  } catch {
    return "";
  }
}

/** Where an SVG file first sets text in a font that it does not bring itself. */
function systemText(svg: string): number | null {
  // Not as XML: an SVG with faults that browsers overlook is looked at all the same.
  const root = parseFragment(svg, { sourceCodeLocationInfo: true });
  const sheets = textOf(root, (element) => element.tagName === "style");
  const embedded = embeddedFamilies(sheets);
  let found: number | null = null;
  const look = (node: Node, families: string | null) => {
    if (found !== null) return;
    const own = "tagName" in node ? (familiesOf(node) ?? families) : families;
    if ("tagName" in node && isSetText(node) && !isEmbedded(own ?? ruleFamilies(sheets), embedded))
      found = node.sourceCodeLocation?.startOffset ?? 0;
    if ("childNodes" in node) for (const child of node.childNodes) look(child, own);
  };
  look(root, null);
  return found;
}

/** An SVG inside a page sees the fonts of that page; what it names beside them is a font of the machine. */
function ownDrawings(side: Side, html: string, css: string): Fault[] {
  const faults: Fault[] = [];
  const known = new Set([...embeddedFamilies(css), ...[...FONT_FAMILIES].map((name) => name.toLowerCase())]);
  const look = (node: Node) => {
    const own = "tagName" in node ? familiesOf(node) : null;
    if ("tagName" in node && own !== null && !isEmbedded(own, known)) {
      const at = node.sourceCodeLocation?.startOffset ?? 0;
      const message = `the font "${firstOf(own)}" is neither bundled nor defined by an @font-face rule in ${side}.css. Name one that is.`;
      faults.push(faultAt(`${side}.html`, html, at, "svg_font", message));
    }
    if ("childNodes" in node) for (const child of node.childNodes) look(child);
  };
  look(parse(html, { sourceCodeLocationInfo: true }));
  return faults;
}

const isSetText = (element: Element) =>
  ["text", "tspan", "textPath"].includes(element.tagName) &&
  element.childNodes.some((child) => "value" in child && child.value.trim() !== "");

/** The families of an element's own attributes. */
function familiesOf(element: Element): string | null {
  const attribute = (name: string) => element.attrs.find((each) => each.name === name)?.value;
  const styled = /(?:^|;)\s*font-family\s*:\s*([^;]+)/i.exec(attribute("style") ?? "")?.[1];
  return styled ?? attribute("font-family") ?? null;
}

const firstOf = (families: string) => (families.split(",", 1)[0] ?? "").trim().replace(/^["']|["']$/g, "");

/** Inherited and referenced families are judged where they are set. */
const isEmbedded = (families: string, embedded: ReadonlySet<string>) =>
  /^\s*(var\(|inherit)/.test(families) || embedded.has(firstOf(families).toLowerCase());

function textOf(node: Node, isWanted: (element: Element) => boolean): string {
  if (!("childNodes" in node)) return "";
  const own =
    "tagName" in node && isWanted(node)
      ? node.childNodes.map((child) => ("value" in child ? child.value : "")).join("")
      : "";
  return own + node.childNodes.map((child) => textOf(child, isWanted)).join("");
}

function rulesOf(css: string): postcss.Root {
  try {
    return postcss.parse(css);
  } catch {
    return postcss.root();
  }
}

/** The families for which a sheet brings a file of its own, in lower case. */
function embeddedFamilies(css: string): Set<string> {
  const found = new Set<string>();
  rulesOf(css).walkAtRules("font-face", (rule) => {
    let [family, source] = ["", ""];
    rule.walkDecls(({ prop, value }) => {
      if (prop === "font-family") family = firstOf(value).toLowerCase();
      if (prop === "src") source = value;
    });
    if (source.includes("url(")) found.add(family);
  });
  return found;
}

/** The families that a sheet's rules name: without attributes on the text they are what it is set in. */
function ruleFamilies(css: string): string {
  const families: string[] = [];
  rulesOf(css).walkDecls(/^font(-family)?$/i, ({ prop, value, parent }) => {
    if (parent?.type === "rule") families.push(prop === "font" ? fontShorthand(value) : value);
  });
  return families[0] ?? "";
}

/** What follows the size in `font: bold 12px/1.2 Family, more`. */
const fontShorthand = (value: string) => value.replace(/^.*?\d[\w.%]*(\s*\/\s*[\w.%]+)?\s+/, "");
