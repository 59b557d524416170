import { describe, expect, test } from "bun:test";
import { facePage, gridOf, SHEETS, type Sheet, sheetPage } from "../../../src/app/print/imposition.ts";
import type { Rect } from "../../../src/app/print/pdf.ts";
import { PRINT_SIZES, type PrintSizeName, printSizeOf } from "../../../src/core/print-sizes.ts";

const PT_PER_MM = 72 / 25.4;
const face = (width = 815, height = 1110) => ({
  bytes: new Uint8Array(),
  colour: "rgb" as const,
  width,
  height,
});
const sizes = Object.keys(PRINT_SIZES) as PrintSizeName[];
const close = (found: number, wanted: number) => expect(found).toBeCloseTo(wanted, 6);

describe.each(sizes)("a card of %s", (name) => {
  const size = PRINT_SIZES[name];
  const { short, long } = size.px;

  test("is known by its picture's pixels, either way round", () => {
    expect(printSizeOf({ width: short, height: long })).toBe(name);
    expect(printSizeOf({ width: long, height: short })).toBe(name);
    expect(printSizeOf({ width: short + 1, height: long })).toBeUndefined();
  });

  test("has at least 300 dots to the inch", () => {
    const inches = (size.trim.width + 2 * size.bleed) / 25.4;
    expect(short / inches).toBeGreaterThan(299.5);
  });

  test.each([false, true])("is a page with its bleed and its cut, marks %p", (marks) => {
    const page = facePage(face(short, long), size, { marks });
    close(page.trim.width, size.trim.width * PT_PER_MM);
    close(page.trim.height, size.trim.height * PT_PER_MM);
    close(page.bleed.x, page.trim.x - size.bleed * PT_PER_MM);
    close(page.width, 2 * page.trim.x + page.trim.width);
    // Without marks the page ends with the bleed.
    if (!marks) close(page.bleed.x, 0);
    expect(page.marks).toHaveLength(marks ? 8 : 0);
    for (const [x1, y1, x2, y2] of page.marks) {
      expect(isInside(page.bleed, x1, y1) || isInside(page.bleed, x2, y2)).toBe(false);
      expect(Math.min(x1, y1, x2, y2)).toBeGreaterThanOrEqual(0);
    }
  });

  test("lies on its side on a page of its own when it is wide", () => {
    const page = facePage(face(long, short), size, { marks: false });
    close(page.trim.width, size.trim.height * PT_PER_MM);
    expect(page.pictures[0]?.quarters).toBe(0);
  });

  describe.each(Object.keys(SHEETS) as Sheet[])("on %s", (sheet) => {
    const { columns, rows } = gridOf(size, sheet);
    const places = columns * rows;
    const paper = SHEETS[sheet];
    const pageOf = (count: number, side: "front" | "back") =>
      sheetPage(
        Array.from({ length: count }, () => face(short, long)),
        size,
        { sheet, marks: true, side },
      );

    test("nine or more fit, within the paper", () => {
      expect(places).toBeGreaterThanOrEqual(9);
      const { pictures } = pageOf(places, "front");
      expect(pictures).toHaveLength(places);
      for (const { clip } of pictures) {
        expect(clip.x).toBeGreaterThanOrEqual(0);
        expect(clip.y).toBeGreaterThanOrEqual(0);
        expect(clip.x + clip.width).toBeLessThanOrEqual(paper.width * PT_PER_MM);
        expect(clip.y + clip.height).toBeLessThanOrEqual(paper.height * PT_PER_MM);
      }
    });

    test("marks lie where printers reach, beside all that is printed, and are long enough to be seen", () => {
      const { pictures, marks } = pageOf(places, "front");
      const reach = inset(
        { x: 0, y: 0, width: paper.width * PT_PER_MM, height: paper.height * PT_PER_MM },
        3 * PT_PER_MM - 1e-6,
      );
      for (const [x1, y1, x2, y2] of marks) {
        expect(isInside(reach, x1, y1) && isInside(reach, x2, y2)).toBe(true);
        expect(Math.hypot(x2 - x1, y2 - y1)).toBeGreaterThan(1.2 * PT_PER_MM);
        for (const { clip } of pictures) expect(isInside(clip, x1, y1) || isInside(clip, x2, y2)).toBe(false);
      }
      // Rows of the skat card leave no room above them on Letter.
      const ends = name === "59x91" && sheet === "letter" ? 0 : 2 * (columns + 1);
      expect(marks).toHaveLength(ends + 2 * (rows + 1));
    });

    test("no card covers a part of another, and each shows all that is not cut off", () => {
      const { pictures } = pageOf(places, "front");
      for (const [n, { at, clip }] of pictures.entries()) {
        const cut = inset(at, size.bleed * PT_PER_MM);
        expect(overlap(cut, clip)).toBeCloseTo(cut.width * cut.height, 3);
        for (const other of pictures.slice(n + 1)) expect(overlap(clip, other.clip)).toBeLessThan(0.01);
      }
    });

    test("beside a free place a card has its bleed, and covers no other", () => {
      const { pictures } = pageOf(places - 1, "front");
      const beside = pictures.at(-1);
      const before = pictures.at(-2);
      if (!beside || !before) throw new Error("too few places");
      const cut = inset(beside.at, size.bleed * PT_PER_MM);
      expect(beside.clip.x + beside.clip.width - cut.x - cut.width).toBeGreaterThan(PT_PER_MM);
      expect(before.clip.x + before.clip.width).toBeLessThan(beside.clip.x + 0.01);
      for (const [n, { clip }] of pictures.entries())
        for (const other of pictures.slice(n + 1)) {
          const others = inset(other.at, size.bleed * PT_PER_MM);
          expect(overlap(clip, others)).toBeLessThan(0.01);
        }
    });

    test("turned over its long edge, each back lies behind its front", () => {
      const fronts = pageOf(places - 1, "front").pictures;
      const backs = pageOf(places - 1, "back").pictures;
      for (const [n, { at }] of fronts.entries()) {
        const back = backs[n]?.at ?? at;
        close(paper.width * PT_PER_MM - (back.x + back.width), at.x);
        close(back.y, at.y);
      }
    });
  });
});

test("on a sheet a wide card and its back have their tops at the same edge of the paper", () => {
  const size = PRINT_SIZES["63x88"];
  const quartersOf = (side: "front" | "back") =>
    sheetPage([face(1110, 815)], size, { sheet: "a4", marks: false, side }).pictures[0]?.quarters;
  // A quarter to the right shows the top at the right; seen from behind that is the left edge.
  expect(quartersOf("front")).toBe(1);
  expect(quartersOf("back")).toBe(3);
});

function inset({ x, y, width, height }: Rect, by: number): Rect {
  return { x: x + by, y: y + by, width: width - 2 * by, height: height - 2 * by };
}

function overlap(a: Rect, b: Rect): number {
  const width = Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x);
  const height = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y);
  return Math.max(0, width) * Math.max(0, height);
}

const isInside = ({ x, y, width, height }: Rect, px: number, py: number) =>
  px > x && px < x + width && py > y && py < y + height;
