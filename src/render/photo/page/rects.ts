export interface Point {
  x: number;
  y: number;
}

export interface Size {
  width: number;
  height: number;
}

export type Rect = Point & Size;

/** A rotated rectangle of a picture, in its pixels, around a centre. It is shown to a network. */
export interface Crop extends Size {
  cx: number;
  cy: number;
  /** In radians, clockwise as on a canvas. */
  rotation: number;
}

/** An upright square around a point. */
export function squareAt({ x, y }: Point, side: number): Crop {
  return { cx: x, cy: y, width: side, height: side, rotation: 0 };
}

export function distance(a: Point, b: Point): number {
  return Math.hypot(a.x - b.x, a.y - b.y);
}

/** The mean of some points. */
export function centroid(points: Point[]): Point {
  const mean = (axis: "x" | "y") => points.reduce((sum, point) => sum + point[axis], 0) / points.length;
  return { x: mean("x"), y: mean("y") };
}

/** A rectangle as seen from a point, enlarged by a factor. */
export function seenFrom({ x, y }: Point, zoom: number, rect: Rect): Rect {
  return {
    x: (rect.x - x) * zoom,
    y: (rect.y - y) * zoom,
    width: rect.width * zoom,
    height: rect.height * zoom,
  };
}

/** A rectangle in pixels of another size. */
export const scaled = (rect: Rect, by: number): Rect => seenFrom({ x: 0, y: 0 }, by, rect);

export function middleOf({ x, y, width, height }: Rect): Point {
  return { x: x + width / 2, y: y + height / 2 };
}
