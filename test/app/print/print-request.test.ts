import { describe, expect, test } from "bun:test";
import { FOIL_NAME, type PrintRequest, printWishes } from "../../../src/app/print/print-request.ts";
import { PRINT_SIZE_NAMES, PRINT_SIZES } from "../../../src/core/print-sizes.ts";
import { PRINTER_NAMES, printerOf } from "../../../src/core/printers.ts";
import { pressProfile } from "./press-profile.ts";

const press = {
  profile: pressProfile(([l]) => [0, 0, 0, 1 - l / 100]),
  use: () => Promise.reject(new Error("not needed")),
};
const fieldsOf = (asked: PrintRequest, here: Partial<Parameters<typeof printWishes>[1]> = {}) =>
  printWishes(asked, { press, size: undefined, ...here }).details.map(({ field }) => field);

test("a printer's rules decide what the caller leaves open", () => {
  const wishesOf = (asked: PrintRequest) => printWishes(asked, { press, size: undefined }).wishes;
  expect(wishesOf({ printer: "drivethru" })).toEqual({
    sheet: undefined,
    marks: false,
    order: "back_first",
    colour: "cmyk",
    standard: "pdfx_1a",
    inkLimit: 240,
    foil: undefined,
  });
  expect(wishesOf({ printer: "meinspiel" })).toMatchObject({ standard: "pdfx_4", inkLimit: 300 });
  expect(wishesOf({ printer: "pps" })).toMatchObject({ standard: "pdfx_4", inkLimit: 250, marks: false });
  expect(wishesOf({ printer: "home" })).toMatchObject({ sheet: "a4", marks: true, colour: "rgb" });
  const perforated = { printer: "home", marks: false, order: "back_first" } as const;
  expect(wishesOf(perforated)).toMatchObject({ sheet: "a4", marks: false, order: "back_first" });
  expect(fieldsOf(perforated)).toEqual([]);
  expect(wishesOf({ printer: "home", sheet: "letter" })).toMatchObject({ sheet: "letter" });
  expect(wishesOf({})).toMatchObject({ sheet: undefined, marks: false, colour: "rgb", inkLimit: 300 });
  // Less ink than allowed, and the other side first where the printer does not say.
  const own = { printer: "meinspiel", ink_limit: 260, order: "back_first" } as const;
  expect(wishesOf(own)).toMatchObject({ inkLimit: 260, order: "back_first" });
  expect(fieldsOf(own)).toEqual([]);
});

test.each([
  [{ printer: "drivethru", order: "front_first" }, "order", "must be `back_first` or left out"],
  [{ printer: "drivethru", marks: true }, "marks", "must be `false` or left out"],
  [{ printer: "drivethru", ink_limit: 300 }, "ink_limit", "must be 240 or less"],
  [{ printer: "drivethru", standard: "pdfx_4" }, "standard", "must be `pdfx_1a` or left out"],
  [{ printer: "pps", sheet: "a4" }, "sheet", "must be left out"],
  [{ printer: "pps", colour: "rgb" }, "colour", "must be `cmyk` or left out"],
  [{ printer: "home", colour: "cmyk" }, "colour", "must be `rgb` or left out"],
] as const)("%j contradicts the printer's rules by its %s", (asked, field, message) => {
  const { details } = printWishes(asked, { press, size: undefined });
  expect(details).toEqual([{ field, message: expect.stringContaining(message) }]);
  const { source } = printerOf(asked.printer);
  if (source) expect(details[0]?.message).toContain(source.url);
});

test("the printer is blamed for what came with it: a size it does not take, inks where there is no press", () => {
  const [wrong] = printWishes({ printer: "meinspiel" }, { press, size: "63x88" }).details;
  expect(wrong?.field).toBe("printer");
  expect(wrong?.message).toContain(
    "cards of 63 x 88 mm: what MeinSpiel publishes is about cards of 59 x 91 mm",
  );
  expect(fieldsOf({ printer: "meinspiel" }, { size: "59x91" })).toEqual([]);
  expect(fieldsOf({ printer: "pps" }, { size: "63x88" })).toEqual([]);
  expect(fieldsOf({ printer: "meinspiel" }, { press: undefined })).toEqual(["printer"]);
  expect(fieldsOf({ colour: "cmyk" }, { press: undefined })).toEqual(["colour"]);
  const profile = press.profile.slice();
  profile[8] = 4;
  expect(fieldsOf({ printer: "drivethru" }, { press: { ...press, profile } })).toEqual(["printer"]);
  expect(fieldsOf({ printer: "meinspiel" }, { press: { ...press, profile } })).toEqual([]);
});

describe.each(PRINTER_NAMES)("%s", (name) => {
  const printer = printerOf(name);

  test("says where its rules are from, and asks for what a file of ours can be", () => {
    if (name !== "home") {
      expect(printer.source?.url).toStartWith("https://");
      expect(printer.source?.read).toMatch(/^\d{4}-\d\d-\d\d$/);
    }
    expect(printer.colour === "cmyk").toBe(printer.standard !== undefined && printer.inkLimit !== undefined);
    const sizes = printer.size ? [printer.size] : PRINT_SIZE_NAMES;
    for (const size of sizes) {
      expect(fieldsOf({ printer: name }, { size })).toEqual([]);
      // Half of the short side would be free of text otherwise.
      expect(printer.safe * 4).toBeLessThan(PRINT_SIZES[size].trim.width);
    }
  });
});

test("foil has a name that is none of another plate's, and that forms can check", () => {
  expect(["All", "none", "Black", "cyan"].map((foil) => fieldsOf({ foil }))).toEqual(Array(4).fill(["foil"]));
  expect(["Foil", "Gold foil", "PANTONE_871-C", "Allover"].map((foil) => fieldsOf({ foil }))).toEqual(
    Array(4).fill([]),
  );
  // Browsers compile the patterns of inputs with `v`.
  expect(new RegExp(FOIL_NAME, "v").test("PANTONE_871-C")).toBe(true);
});
