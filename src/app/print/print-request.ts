import { type Static, Type } from "@sinclair/typebox";
import type { ErrorDetail } from "../../core/errors.ts";
import { type PrintSizeName, printSizeLabel } from "../../core/print-sizes.ts";
import { PRINTER_NAMES, type Printer, type PrinterName, printerOf } from "../../core/printers.ts";
import { StringEnum } from "../../core/string-enum.ts";
import { IN_WORDS } from "../../core/validate.ts";
import type { Press } from "./cmyk-process.ts";
import { SHEETS, type Sheet } from "./imposition.ts";
import type { PdfxStandard } from "./pdf.ts";
import { INK_LIMIT, isVersion2 } from "./print-profile.ts";

export const PDFX_STANDARDS = ["pdfx_4", "pdfx_1a"] as const satisfies PdfxStandard[];

/**
 * What a spot colour may be called: nothing that PDF or a plate's file name would have to escape. Browsers
 * check it too, with the flag `v`, which wants the hyphen escaped.
 */
export const FOIL_NAME = "^[A-Za-z0-9][A-Za-z0-9 _\\-]{0,30}$";
/** No spot colours in PDF: every plate, no plate, and those of the four inks (ISO 32000-1, 8.6.6.4). */
const NO_SPOTS = /^(?:all|none|cyan|magenta|yellow|black)$/i;

/** What a partner may ask of a print file. */
export const PrintRequest = Type.Object(
  {
    printer: Type.Optional(
      StringEnum(PRINTER_NAMES, {
        description:
          "By the rules this printer has published: they decide `marks`, `order`, `colour`, `standard` and `ink_limit`, and a wish of yours that contradicts them is refused. `home`: sheets with marks, of A4, unless you say otherwise.",
      }),
    ),
    sheet: Type.Optional(
      StringEnum(Object.keys(SHEETS) as Sheet[], {
        description:
          "Cards edge to edge on sheets of this size, for a printer at home or in the office. Left out, every side of a card is a page of its own with its bleed, as printers of cards take them.",
      }),
    ),
    marks: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          "Crop marks. Most printers of cards want none, and neither does paper that is perforated for cards.",
      }),
    ),
    order: Type.Optional(
      StringEnum(["front_first", "back_first"], {
        default: "front_first",
        description: "Which side of a card comes first, where it has a back.",
      }),
    ),
    incomplete: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          "Leave out cards of a batch without a picture. Otherwise a batch with such cards is refused, so that none is missing unnoticed.",
      }),
    ),
    colour: Type.Optional(
      StringEnum(["rgb", "cmyk"], {
        default: "rgb",
        description:
          "`cmyk`: a PDF/X file in the inks of the press that the service's operator set up; refused where there is none.",
      }),
    ),
    standard: Type.Optional(
      StringEnum(PDFX_STANDARDS, {
        default: "pdfx_4",
        description:
          "`pdfx_1a`: PDF/X-1a:2003 in place of PDF/X-4, for printers that insist on the older standard. Only with `colour` `cmyk`.",
      }),
    ),
    ink_limit: Type.Optional(
      Type.Integer({
        minimum: INK_LIMIT.min,
        maximum: INK_LIMIT.max,
        default: INK_LIMIT.usual,
        description:
          "The most ink in one place that the printer allows, as the sum of the four in percent. Has no effect in `rgb`.",
      }),
    ),
    foil: Type.Optional(
      Type.String({
        pattern: FOIL_NAME,
        [IN_WORDS]:
          "the printer's name for its spot colour: 1 to 31 letters, digits, spaces, hyphens and underscores, of which the first is a letter or a digit",
        description:
          "Adds the plate of foil of cards whose template has one, as a spot colour of this name, which is the printer's to say, such as `Foil`, and neither an ink's nor `All` or `None`. It overprints, so that the inks below stay.",
        examples: ["Foil"],
      }),
    ),
  },
  { $id: "PrintRequest", additionalProperties: false },
);
export type PrintRequest = Static<typeof PrintRequest>;

/** A request with all that it left open decided. */
export interface PrintWishes {
  /** Undefined: a page for each side. */
  sheet: Sheet | undefined;
  marks: boolean;
  order: "front_first" | "back_first";
  colour: "rgb" | "cmyk";
  standard: PdfxStandard;
  inkLimit: number;
  /** The name of the spot colour; undefined: none. */
  foil: string | undefined;
}

/**
 * What a request comes to, and what of it cannot be done: here, or by the rules of the printer it names.
 * @param size of all cards, where they have the same
 */
export function printWishes(
  asked: PrintRequest,
  { press, size }: { press: Press | undefined; size: PrintSizeName | undefined },
): { wishes: PrintWishes; details: ErrorDetail[] } {
  const printer = asked.printer && printerOf(asked.printer);
  const wishes: PrintWishes = {
    sheet: asked.sheet ?? printer?.sheets[0],
    marks: asked.marks ?? printer?.marks ?? false,
    order: asked.order ?? printer?.order ?? "front_first",
    colour: asked.colour ?? printer?.colour ?? "rgb",
    standard: asked.standard ?? printer?.standard ?? "pdfx_4",
    inkLimit: asked.ink_limit ?? printer?.inkLimit ?? INK_LIMIT.usual,
    foil: asked.foil,
  };
  const details = printer ? contradictions(asked, wishes, printer, size) : [];
  if (wishes.colour === "cmyk" && !press) details.push(noPress(asked.printer));
  if (wishes.colour === "rgb" && asked.standard !== undefined) details.push(ONLY_IN_CMYK);
  if (asked.foil !== undefined && NO_SPOTS.test(asked.foil)) details.push(noSpot(asked.foil));
  if (wishes.standard === "pdfx_1a" && press && !isVersion2(press.profile))
    details.push(newerProfile(asked.printer));
  return { wishes, details };
}

/** What the request wants otherwise than the printer it names. */
function contradictions(
  asked: PrintRequest,
  wishes: PrintWishes,
  printer: Printer,
  size: PrintSizeName | undefined,
): ErrorDetail[] {
  const rules = `${printer.name} ${printer.source ? `asks for it (${printer.source.url})` : "needs it"}`;
  const details: ErrorDetail[] = [];
  if (asked.sheet && !printer.sheets.includes(asked.sheet))
    details.push({
      field: "sheet",
      message: `must be left out with this \`printer\`: each side of a card is a page of its own, as ${rules}.`,
    });
  for (const field of ["marks", "order", "colour", "standard"] as const) {
    const rule = printer[field];
    if (rule === undefined || asked[field] === undefined || asked[field] === rule) continue;
    // Where nobody publishes rules they are our advice; colours alone a printer at home cannot choose.
    if (!printer.source && (field === "marks" || field === "order")) continue;
    details.push({ field, message: `must be \`${rule}\` or left out with this \`printer\`: ${rules}.` });
  }
  if (printer.inkLimit !== undefined && wishes.inkLimit > printer.inkLimit)
    details.push({
      field: "ink_limit",
      message: `must be ${printer.inkLimit} or less, or left out, with this \`printer\`: ${rules}.`,
    });
  if (printer.size && size && printer.size !== size)
    details.push({
      field: "printer",
      message: `must be another for cards of ${printSizeLabel(size)}: what ${printer.name} publishes is about cards of ${printSizeLabel(printer.size)} (${printer.source?.url}). Make the cards of that size, or ask the printer and name its wishes one by one.`,
    });
  return details;
}

/** The field to blame for a colour that the caller chose, or that came with the printer. */
const chosenBy = (printer: PrinterName | undefined, field: string) => (printer ? "printer" : field);

const noPress = (printer: PrinterName | undefined): ErrorDetail => ({
  field: chosenBy(printer, "colour"),
  message: `${printer ? "must be one that takes sRGB, such as `home`" : "must be `rgb`"}: this service knows no press. Its operator sets one up by the profile in CARDPRESS_PRINT_PROFILE.`,
});

const ONLY_IN_CMYK: ErrorDetail = {
  field: "standard",
  message: "must be left out, or asked for together with `colour` `cmyk`: files in sRGB are plain PDF.",
};

const noSpot = (foil: string): ErrorDetail => ({
  field: "foil",
  message: `must be another name, such as \`Foil\`: by ${foil} printers understand plates of the inks.`,
});

/** PDF 1.4 knows profiles up to ICC.1:1999; those of version 4 came with PDF 1.5. */
const newerProfile = (printer: PrinterName | undefined): ErrorDetail => ({
  field: chosenBy(printer, "standard"),
  message: `must be ${printer ? "one that takes PDF/X-4" : "`pdfx_4`"}: the profile of this service's press is of ICC version 4, which PDF/X-1a does not know. Its operator can name one of version 2 in CARDPRESS_PRINT_PROFILE.`,
});
