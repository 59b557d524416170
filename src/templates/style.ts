import postcss, { type ChildNode, CssSyntaxError, type Declaration } from "postcss";
import { didYouMean, type Fault } from "./fault.ts";
import { FONT_FAMILIES } from "./font-families.ts";
import type { Side } from "./markup.ts";
import { checkReference, type References } from "./references.ts";

/** Generic families that every browser maps to some font, which differs from machine to machine. */
const GENERIC = new Set(
  "serif sans-serif monospace cursive fantasy system-ui ui-serif ui-sans-serif ui-monospace ui-rounded math emoji inherit initial unset revert revert-layer".split(
    " ",
  ),
);

const URLS = /url\(\s*(?:"([^"]*)"|'([^']*)'|([^"')\s][^)]*?))\s*\)/gi;

/** Whether a sheet mentions a field, as a custom property, an attribute or a word of `data-has`. */
export function mentionsField(css: string, name: string): boolean {
  // Not followed by more: `field-club` is not mentioned by `--field-club-name`.
  return new RegExp(`field-${name.replaceAll("_", "-")}(?![\\w-])`).test(css);
}

/** Parses card.css or back.css; `references` collects and checks the files it names. */
export function readStyle(css: string, references: References, side: Side = "card"): Fault[] {
  const file = `${side}.css`;
  const faults: Fault[] = [];
  let root: postcss.Root;
  try {
    root = postcss.parse(css);
  } catch (error) {
    if (!(error instanceof CssSyntaxError)) throw error;
    const { line = 1, column = 1, reason } = error;
    const message = `${reason.charAt(0).toLowerCase()}${reason.slice(1)}. Look for a missing brace, quotation mark or semicolon.`;
    return [{ file, line, column, severity: "error", code: "css_syntax", message }];
  }
  const own = ownFamilies(root);
  root.walk((node) => {
    const report = (code: string, message: string) =>
      faults.push({ file, ...placeOf(node), severity: "error", code, message });
    if (node.type === "atrule" && node.name.toLowerCase() === "import")
      report("style", `only ${file} itself is read. Move the other sheet's rules into it.`);
    if (node.type !== "decl") return;
    for (const [, double, single, bare] of node.value.matchAll(URLS))
      checkReference(references, double ?? single ?? bare ?? "", report);
    for (const [, name = ""] of node.value.matchAll(/image-set\(\s*["']([^"']+)["']/gi))
      checkReference(references, name, report);
    checkFamilies(node, own, report);
  });
  return faults;
}

function placeOf(node: ChildNode) {
  const { line = 1, column = 1 } = node.source?.start ?? {};
  return { line, column };
}

function ownFamilies(root: postcss.Root): Set<string> {
  const own = new Set<string>();
  root.walkAtRules("font-face", (rule) => {
    rule.walkDecls("font-family", ({ value }) => {
      own.add(unquoted(value));
    });
  });
  return own;
}

const unquoted = (name: string) => name.trim().replace(/^["']|["']$/g, "");

/** Named families must be bundled or the template's own: a system font would differ on the next machine. */
function checkFamilies(
  { prop, value, parent }: Declaration,
  own: ReadonlySet<string>,
  report: (code: string, message: string) => void,
): void {
  const name = prop.toLowerCase();
  if (name !== "font-family" && name !== "font") return;
  if (parent?.type === "atrule" && "name" in parent && parent.name === "font-face") return;
  const quoted = [...value.matchAll(/["']([^"']+)["']/g)].map(([, family = ""]) => family);
  const bare =
    name === "font"
      ? []
      : value
          .split(",")
          .map((part) => part.trim())
          .filter((part) => part !== "" && !/["'()]/.test(part) && !GENERIC.has(part.toLowerCase()));
  for (const family of [...quoted, ...bare]) {
    if (own.has(family) || FONT_FAMILIES.has(family)) continue;
    const hint = didYouMean(family, [...own, ...FONT_FAMILIES]);
    report(
      "font",
      `the font "${family}" is neither bundled nor defined by an @font-face rule here. ${hint}Add the rule and the file under fonts/, or name a bundled family.`,
    );
  }
}
