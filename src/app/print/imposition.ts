import type { PrintSize } from "../../core/print-sizes.ts";
import type { Line, Page, Picture, Placed, Rect } from "./pdf.ts";

const PT_PER_MM = 72 / 25.4;

/** One side of a card, as a picture with its bleed. */
export type Face = Picture;

/** Sheets for a home or office printer, in millimetres. */
export const SHEETS = {
  a4: { width: 210, height: 297 },
  letter: { width: 215.9, height: 279.4 },
} as const;
export type Sheet = keyof typeof SHEETS;
export const SHEET_NAMES = Object.keys(SHEETS) as Sheet[];

/** No cut lies nearer to a sheet's edge, in millimetres: most printers reach no further. */
const SHEET_MARGIN_MM = 3;
/** Crop marks in millimetres: how long they are, and how far from what is printed. */
const MARK = { length: 5, gap: 1 };
/** On sheets with less room marks are no shorter with their gap, in millimetres: the bleed gives way. */
const LEAST_MARK_MM = 2;

const isWide = ({ width, height }: Face) => width > height;

/** A page a face, each with its bleed: what a printer takes. With `marks` the page is larger by them. */
export function facePage(face: Face, size: PrintSize, { marks }: { marks: boolean }): Page {
  const { trim } = size;
  const [w, h] = isWide(face) ? [trim.height, trim.width] : [trim.width, trim.height];
  const around = size.bleed + (marks ? MARK.gap + MARK.length : 0);
  const cut = points({ x: around, y: around, width: w, height: h });
  const bleed = grown(cut, size.bleed * PT_PER_MM);
  const width = cut.x * 2 + cut.width;
  const height = cut.y * 2 + cut.height;
  return {
    width,
    height,
    trim: cut,
    bleed,
    pictures: [{ ...face, at: bleed, clip: bleed, quarters: 0 }],
    marks: marks
      ? cropMarks([cut.x, cut.x + cut.width], [cut.y, cut.y + cut.height], {
          from: grown(bleed, MARK.gap * PT_PER_MM),
          to: grown(bleed, (MARK.gap + MARK.length) * PT_PER_MM),
        })
      : [],
  };
}

/** How cards of this size fill a sheet: edge to edge, so that one cut parts two of them. */
export function gridOf(size: PrintSize, sheet: Sheet): { columns: number; rows: number } {
  const fit = (side: number, card: number) => Math.floor((side - 2 * SHEET_MARGIN_MM) / card);
  const { width, height } = SHEETS[sheet];
  return { columns: fit(width, size.trim.width), rows: fit(height, size.trim.height) };
}

/**
 * What lies around a block of cards, in millimetres from its edge: how far the bleed is shown, and where the
 * crop marks begin and end, nowhere where no printer reaches them.
 * @param space from the block to the sheet's edge
 */
function around(space: number, bleed: number, marks: boolean): { shown: number; from: number; to: number } {
  const room = space - SHEET_MARGIN_MM;
  if (room < LEAST_MARK_MM) return { shown: bleed, from: bleed, to: bleed };
  const shown = marks ? Math.min(bleed, room - LEAST_MARK_MM) : bleed;
  const gap = Math.min(MARK.gap, (room - shown) / 4);
  return { shown, from: shown + gap, to: Math.min(room, shown + gap + MARK.length) };
}

/**
 * A side of a sheet. The bleed is shown where no other card is beside one. Backs lie mirrored, so that each
 * is behind its front when the printer turns the sheet over its long edge.
 * @param faces row by row; null leaves a place empty
 */
export function sheetPage(
  faces: readonly (Face | null)[],
  size: PrintSize,
  { sheet, marks, side }: { sheet: Sheet; marks: boolean; side: "front" | "back" },
): Page {
  const { columns, rows } = gridOf(size, sheet);
  const { width, height } = SHEETS[sheet];
  const { trim, bleed } = size;
  const left = (width - columns * trim.width) / 2;
  const bottom = (height - rows * trim.height) / 2;
  const [beside, above] = [around(left, bleed, marks), around(bottom, bleed, marks)];
  const block = { x: left, y: bottom, width: columns * trim.width, height: rows * trim.height };
  const mirrored = (column: number) => (side === "front" ? column : columns - 1 - column);
  const isFree = (row: number, column: number) =>
    column < 0 || column >= columns || row < 0 || !faces[row * columns + mirrored(column)];
  const pictures = faces.flatMap((face, n): Placed[] => {
    if (!face) return [];
    const row = Math.floor(n / columns);
    const column = mirrored(n % columns);
    const open = {
      left: isFree(row, column - 1),
      right: isFree(row, column + 1),
      above: isFree(row - 1, column),
      below: isFree(row + 1, column),
    };
    const cell = {
      x: left + column * trim.width,
      y: bottom + (rows - 1 - row) * trim.height,
      width: trim.width,
      height: trim.height,
    };
    // A wide card lies on its side; the top of its back is where the top of its front is once turned over.
    const turned = side === "front" ? 1 : 3;
    return [
      {
        ...face,
        at: points(grown(cell, bleed)),
        clip: points(within(grown(cell, beside.shown, above.shown), cell, open)),
        quarters: isWide(face) ? turned : 0,
      },
    ];
  });
  const cuts = (from: number, step: number, count: number) =>
    Array.from({ length: count + 1 }, (_, n) => (from + n * step) * PT_PER_MM);
  return {
    width: width * PT_PER_MM,
    height: height * PT_PER_MM,
    trim: points({ x: 0, y: 0, width, height }),
    bleed: points({ x: 0, y: 0, width, height }),
    pictures,
    marks: marks
      ? cropMarks(cuts(left, trim.width, columns), cuts(bottom, trim.height, rows), {
          from: points(grown(block, beside.from, above.from)),
          to: points(grown(block, beside.to, above.to)),
        })
      : [],
  };
}

/** Which sides of a cell are shown with their bleed. */
interface OpenSides {
  left: boolean;
  right: boolean;
  above: boolean;
  below: boolean;
}

/** The cell itself, with the bleed only on the sides that are open. */
function within(withBleed: Rect, cell: Rect, open: OpenSides): Rect {
  const [right, top] = [cell.x + cell.width, cell.y + cell.height];
  const left = open.left ? withBleed.x : cell.x;
  const bottom = open.below ? withBleed.y : cell.y;
  return {
    x: left,
    y: bottom,
    width: (open.right ? withBleed.x + withBleed.width : right) - left,
    height: (open.above ? withBleed.y + withBleed.height : top) - bottom,
  };
}

/** Lines that say where to cut, between two rectangles around what is printed; all in points. */
function cropMarks(
  xs: readonly number[],
  ys: readonly number[],
  { from, to }: Record<"from" | "to", Rect>,
): Line[] {
  const [right, top] = [from.x + from.width, from.y + from.height];
  const [farRight, farTop] = [to.x + to.width, to.y + to.height];
  return [
    ...xs.flatMap((x): Line[] => [
      [x, from.y, x, to.y],
      [x, top, x, farTop],
    ]),
    ...ys.flatMap((y): Line[] => [
      [from.x, y, to.x, y],
      [right, y, farRight, y],
    ]),
  ].filter(([x1, y1, x2, y2]) => x1 !== x2 || y1 !== y2);
}

const points = ({ x, y, width, height }: Rect): Rect => ({
  x: x * PT_PER_MM,
  y: y * PT_PER_MM,
  width: width * PT_PER_MM,
  height: height * PT_PER_MM,
});

const grown = ({ x, y, width, height }: Rect, beside: number, above = beside): Rect => ({
  x: x - beside,
  y: y - above,
  width: width + 2 * beside,
  height: height + 2 * above,
});
