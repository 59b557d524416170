import postcss, { type Declaration } from "postcss";
import type { PreviewPool } from "../../render/pool.ts";
import { didYouMean, type Fault } from "../../templates/fault.ts";
import type { TemplateFiles } from "../../templates/files.ts";

const SHEETS = ["card.css", "back.css"];

/** Custom properties that the renderer reads as fractions. */
const FRACTIONS = new Set(["--fit-smallest", "--fit-one-line"]);

/** Declarations inside these are descriptors, for which CSS.supports has no answer. */
const DESCRIPTORS = /^(font-face|property|counter-style|page|font-feature-values|view-transition)$/i;

/** What Chromium does not recognise in the sheet of either side: misspelt properties and values. */
export async function checkStyles(files: TemplateFiles, pool: PreviewPool): Promise<Fault[]> {
  const faults: Fault[] = [];
  for (const file of SHEETS) {
    const found = await faultsOf(new TextDecoder().decode(files.get(file)), pool);
    faults.push(...found.map((fault) => ({ ...fault, file })));
  }
  return faults;
}

type Found = Omit<Fault, "file">;

async function faultsOf(css: string, pool: PreviewPool): Promise<Found[]> {
  const found = declarationsOf(css);
  const faults = found.flatMap(fractionFault);
  const asked = found.filter(({ prop }) => !prop.startsWith("--"));
  const known = await supported(
    pool,
    asked.map(({ prop, value }) => ({ property: prop, value: value.replace(/\s*!important$/, "") })),
  );
  const wrong = asked.filter((_, i) => !known[i]);
  // A property that accepts `inherit` exists, so then the value is at fault.
  const properties = await supported(
    pool,
    wrong.map(({ prop }) => ({ property: prop, value: "inherit" })),
  );
  wrong.forEach((declaration, i) => {
    const { prop, value } = declaration;
    const message = properties[i]
      ? `Chromium does not know the value "${value}" of ${prop}, and leaves the declaration out. Correct it.`
      : `Chromium knows no property "${prop}". ${didYouMean(prop, COMMON)}Correct its spelling, or remove it.`;
    faults.push({
      ...placeOf(declaration),
      severity: "error",
      code: properties[i] ? "css_value" : "css_property",
      message,
    });
  });
  return faults;
}

async function supported(
  pool: PreviewPool,
  declarations: { property: string; value: string }[],
): Promise<boolean[]> {
  if (declarations.length === 0) return [];
  const renderer = await pool.acquire();
  try {
    return await renderer.supports({ jobId: "supports", declarations });
  } finally {
    renderer.release();
  }
}

function declarationsOf(css: string): Declaration[] {
  const found: Declaration[] = [];
  try {
    postcss.parse(css).walkDecls((declaration) => {
      const { parent } = declaration;
      const isDescriptor = parent?.type === "atrule" && DESCRIPTORS.test((parent as postcss.AtRule).name);
      if (!isDescriptor) found.push(declaration);
    });
  } catch {
    // A style sheet that cannot be parsed is reported elsewhere, with its position.
  }
  return found;
}

function fractionFault(declaration: Declaration): Found[] {
  const { prop, value } = declaration;
  if (!FRACTIONS.has(prop) || (/^[\d.]+$/.test(value) && Number(value) > 0 && Number(value) <= 1)) return [];
  const message = `${prop} is a part of --fit-largest, a number above 0 and up to 1, as in 0.4. It is "${value}".`;
  return [{ ...placeOf(declaration), severity: "error", code: "fit", message }];
}

function placeOf({ source }: Declaration) {
  return { line: source?.start?.line ?? 1, column: source?.start?.column ?? 1 };
}

/** The properties used most on cards: candidates for what a misspelt one was meant to be. */
const COMMON =
  "align-content align-items align-self animation aspect-ratio backdrop-filter background background-clip background-color background-image background-position background-repeat background-size border border-bottom border-color border-image border-left border-radius border-right border-top border-width bottom box-shadow box-sizing clip-path color column-gap columns container-type content display filter flex flex-basis flex-direction flex-grow flex-shrink flex-wrap font font-family font-feature-settings font-kerning font-size font-stretch font-style font-variant-numeric font-weight gap grid grid-area grid-column grid-row grid-template-areas grid-template-columns grid-template-rows height inset justify-content justify-items justify-self left letter-spacing line-height list-style margin margin-bottom margin-left margin-right margin-top mask mask-image max-height max-width min-height min-width mix-blend-mode object-fit object-position opacity order outline overflow padding padding-bottom padding-left padding-right padding-top perspective place-content place-items pointer-events position right rotate row-gap scale text-align text-box text-decoration text-fit text-indent text-orientation text-overflow text-shadow text-transform text-wrap top transform transform-origin translate vertical-align visibility white-space width word-break word-spacing writing-mode z-index".split(
    " ",
  );
