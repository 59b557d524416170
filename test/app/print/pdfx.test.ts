import { afterAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { encodeCmykJpeg } from "../../../src/app/print/cmyk-jpeg.ts";
import { facePage } from "../../../src/app/print/imposition.ts";
import { type Page, type PdfxStandard, pdfOf } from "../../../src/app/print/pdf.ts";
import { PRINT_SIZES } from "../../../src/core/print-sizes.ts";
import { testFolder } from "../../harness.ts";
import { pressProfile } from "./press-profile.ts";

// No free program checks the whole of PDF/X. So qpdf parses the file, and each clause that can be met or
// broken by what is in it is checked on qpdf's objects: ISO 15930-4:2003 for PDF/X-1a, ISO 15930-7:2010 for
// PDF/X-4.

const PROFILE = pressProfile(([l]) => [0, 0, 0, 1 - l / 100], { name: "Black alone" });
const [WIDTH, HEIGHT] = [60, 90];
const folder = testFolder();
afterAll(() => folder.remove());

/** A deck of two pages in CMYK, one with marks. */
async function written(standard: PdfxStandard): Promise<string> {
  const inks = new Uint8Array(WIDTH * HEIGHT * 4).fill(100);
  const bytes = encodeCmykJpeg(inks, WIDTH, HEIGHT, 95);
  const face = { bytes, colour: "cmyk" as const, width: WIDTH, height: HEIGHT };
  async function* pages(): AsyncGenerator<Page> {
    for (const marks of [false, true]) yield facePage(face, PRINT_SIZES["63x88"], { marks });
  }
  const file = pdfOf(pages(), {
    title: "Łódź (A)",
    producer: "cardpress",
    createdAt: Date.UTC(2026, 1, 3, 4, 5, 6),
    id: "0123456789abcdef0123456789abcdef",
    intent: { profile: PROFILE, name: "Black alone", standard },
  });
  const path = join(folder.dir, `${standard}.pdf`);
  await Bun.write(path, Buffer.concat(await Array.fromAsync(file)));
  return path;
}

type Value = string | number | boolean | null | Value[] | { [key: string]: Value };
type Dictionary = { [key: string]: Value };

/** The file as qpdf understands it. */
function parsed(path: string) {
  const { stdout, stderr } = Bun.spawnSync(["qpdf", "--json=2", "--json-stream-data=none", path]);
  expect(stderr.toString()).toBe("");
  type One = { value?: Value | undefined; stream?: { dict: Dictionary } };
  type Objects = { [key: string]: One };
  const [head, objects] = JSON.parse(stdout.toString()).qpdf as [{ pdfversion: string }, Objects];
  /** What a value is; where it names an object: that object's dictionary. */
  const at = (value: Value | undefined): Dictionary => {
    const found: One | undefined = typeof value === "string" ? objects[`obj:${value}`] : { value };
    return (found?.stream?.dict ?? found?.value) as Dictionary;
  };
  const all = Object.values(objects).map(({ value, stream }) => (stream?.dict ?? value) as Dictionary);
  const trailer = objects.trailer?.value as Dictionary;
  return {
    at,
    all,
    trailer,
    version: head.pdfversion,
    catalog: at(trailer["/Root"]),
    info: at(trailer["/Info"]),
    pages: all.filter((one) => one["/Type"] === "/Page"),
    images: all.filter((one) => one["/Subtype"] === "/Image"),
  };
}

/** Every key that is used anywhere in the file. */
function keysOf(value: Value): string[] {
  if (Array.isArray(value)) return value.flatMap(keysOf);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [key, ...keysOf(inner)]);
}

const box = (page: Dictionary, name: string) => page[name] as [number, number, number, number];
const isWithin = (inner: number[], outer: number[]) =>
  inner.every((value, n) => (n < 2 ? value >= Number(outer[n]) : value <= Number(outer[n])));

describe.skipIf(!Bun.which("qpdf"))("parsed by qpdf", () => {
  describe.each(["pdfx_1a", "pdfx_4"] as const)("%s", (standard) => {
    const read = async () => parsed(await written(standard));

    test("says by which standard it is, as that standard wants it said", async () => {
      const { version, info, catalog } = await read();
      const isX1a = standard === "pdfx_1a";
      expect(version).toBe(isX1a ? "1.3" : "1.6");
      expect(info["/GTS_PDFXVersion"]).toBe(isX1a ? "u:PDF/X-1a:2003" : undefined);
      // Only the standard of 2001 has a level of conformance beside its version.
      expect(info).not.toHaveProperty("/GTS_PDFXConformance");
      expect("/Metadata" in catalog).toBe(!isX1a);
    });

    test("has title, dates, trapping and an id", async () => {
      const { info, trailer } = await read();
      expect(info["/Title"]).toBe("u:Łódź (A)");
      for (const date of ["/CreationDate", "/ModDate"]) expect(info[date]).toBe("u:D:20260203040506Z");
      // "Unknown" is what both standards forbid.
      expect(info["/Trapped"]).toBe("/False");
      expect(trailer["/ID"]).toHaveLength(2);
    });

    test("has one intent, whose profile is that of a press in four inks", async () => {
      const file = await read();
      const intents = file.catalog["/OutputIntents"] as Value[];
      expect(intents).toHaveLength(1);
      const intent = file.at(intents[0]);
      expect(intent["/S"]).toBe("/GTS_PDFX");
      expect(intent["/OutputConditionIdentifier"]).toBe("u:Black alone");
      expect(intent["/Info"]).toBe("u:Black alone");
      expect(file.at(intent["/DestOutputProfile"])["/N"]).toBe(4);
    });

    test("has only colours of that press, in ways of packing that every reader knows", async () => {
      const { images, all } = await read();
      expect(images).toHaveLength(2);
      for (const image of images) {
        expect(image["/ColorSpace"]).toBe("/DeviceCMYK");
        expect(image["/Filter"]).toBe("/DCTDecode");
        expect(image).not.toHaveProperty("/Alternates");
      }
      const filters = all.map((one) => one?.["/Filter"]).filter((filter) => filter !== undefined);
      expect(filters).not.toContain("/LZWDecode");
      expect(filters).not.toContain("/JPXDecode");
    });

    test("has no transparency, no encryption, no actions, no annotations, no transfer curves", async () => {
      const file = await read();
      const keys = new Set([...file.all.flatMap(keysOf), ...Object.keys(file.trailer)]);
      const forbidden =
        "SMask,Mask,Group,ca,CA,BM,ExtGState,Encrypt,AA,OpenAction,JavaScript,Annots,AcroForm";
      for (const key of `${forbidden},TR,TR2,HTP,PS,OPI,Ref,F,OCProperties,Prev`.split(","))
        expect([key, keys.has(`/${key}`)]).toEqual([key, false]);
    });

    test("has on each page a trim within a bleed within the sheet, and no crop and art box", async () => {
      const { pages } = await read();
      expect(pages).toHaveLength(2);
      for (const page of pages) {
        expect(isWithin(box(page, "/TrimBox"), box(page, "/BleedBox"))).toBe(true);
        expect(isWithin(box(page, "/BleedBox"), box(page, "/MediaBox"))).toBe(true);
        expect(page).not.toHaveProperty("/ArtBox");
        expect(page).not.toHaveProperty("/CropBox");
      }
    });

    test.skipIf(!Bun.which("gs"))("separates into the four inks and no more", async () => {
      const path = await written(standard);
      const out = join(folder.dir, `${standard}-%d.tif`);
      const gs = ["gs", "-q", "-dBATCH", "-dNOPAUSE", "-dPDFSTOPONERROR", "-sDEVICE=tiffsep", "-r72"];
      const { exitCode, stdout, stderr } = Bun.spawnSync([...gs, `-sOutputFile=${out}`, path]);
      expect([exitCode, stdout.toString(), stderr.toString()]).toEqual([0, "", ""]);
      const plates = new Bun.Glob(`${standard}-1(*).tif`).scanSync(folder.dir);
      const inks = [...plates].map((name) => /\((.*)\)/.exec(name)?.[1]).sort();
      expect(inks).toEqual(["Black", "Cyan", "Magenta", "Yellow"]);
    });
  });
});
