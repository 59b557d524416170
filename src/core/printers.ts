import type { PrintSizeName } from "./print-sizes.ts";

/** What a printer has published of the files it takes, as far as a print file can obey it. */
export interface Printer {
  /** For people. */
  name: string;
  /** The size that its page is about; undefined: it takes any, or its page is about others than ours. */
  size?: PrintSizeName;
  /** Sheets it prints on, the usual one first; none: each side is a page of its own. */
  sheets: readonly ("a4" | "letter")[];
  marks: boolean;
  /** Undefined: it does not say. */
  order?: "front_first" | "back_first";
  colour: "rgb" | "cmyk";
  /** Only with `cmyk`. */
  standard?: "pdfx_4" | "pdfx_1a";
  /** The most ink in one place, as the sum of the four in percent. Only with `cmyk`. */
  inkLimit?: number;
  /**
   * So many millimetres inside the cut stay free of text, which the partner must see to. Where the printer
   * does not say, 3.
   */
  safe: number;
  /** Where that is published, and when it was read; null: it is our own advice. */
  source: { url: string; read: string } | null;
}

/** Printers by the names partners use. */
const PRINTERS = {
  drivethru: {
    name: "DriveThruCards",
    size: "2.5x3.5in",
    sheets: [],
    marks: false,
    order: "back_first",
    colour: "cmyk",
    standard: "pdfx_1a",
    inkLimit: 240,
    safe: 3.175,
    source: {
      url: "https://help.drivethrupartners.com/hc/de/articles/12780748203543-Spezifikationen-f%C3%BCr-gedruckte-Karten",
      read: "2026-11-26",
    },
  },
  meinspiel: {
    name: "MeinSpiel",
    size: "59x91",
    sheets: [],
    marks: false,
    colour: "cmyk",
    standard: "pdfx_4",
    inkLimit: 300,
    safe: 4,
    // The sizes are at https://www.meinspiel.de/format-59x91-mm/.
    source: { url: "https://www.meinspiel.de/datencheck-und-upload/", read: "2026-11-26" },
  },
  pps: {
    name: "PPS",
    sheets: [],
    marks: false,
    colour: "cmyk",
    standard: "pdfx_4",
    inkLimit: 250,
    safe: 3,
    // It is about plastic cards of 85.6 x 54 mm, which are none of our sizes: those are to be agreed upon.
    source: { url: "https://www.pps-print.de/en/usefullinformation/artwork/", read: "2026-11-26" },
  },
  home: {
    name: "A printer at home or in the office",
    sheets: ["a4", "letter"],
    marks: true,
    order: "front_first",
    colour: "rgb",
    safe: 3,
    source: null,
  },
} as const satisfies Record<string, Printer>;

export type PrinterName = keyof typeof PRINTERS;

export const PRINTER_NAMES = Object.keys(PRINTERS) as PrinterName[];

export const printerOf = (name: PrinterName): Printer => PRINTERS[name];
