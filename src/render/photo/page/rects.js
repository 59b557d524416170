/** @typedef {{ x: number, y: number }} Point */
/** @typedef {{ x: number, y: number, width: number, height: number }} Rect */

/**
 * A rotated rectangle of a picture, around a centre, that is shown to a network. In the picture's pixels.
 * @typedef {object} Crop
 * @property {number} cx
 * @property {number} cy
 * @property {number} width
 * @property {number} height
 * @property {number} rotation in radians, clockwise as on a canvas
 */

/** An upright square around a point. @param {Point} centre @param {number} side @returns {Crop} */
export function squareAt({ x, y }, side) {
  return { cx: x, cy: y, width: side, height: side, rotation: 0 };
}

/** @param {Point} a @param {Point} b */
export function distance(a, b) {
  return Math.hypot(a.x - b.x, a.y - b.y);
}

/** The mean of some points. @param {Point[]} points */
export function centroid(points) {
  const mean = (/** @type {"x" | "y"} */ axis) =>
    points.reduce((sum, point) => sum + point[axis], 0) / points.length;
  return { x: mean("x"), y: mean("y") };
}

/** @param {Rect} rect */
export function middleOf({ x, y, width, height }) {
  return { x: x + width / 2, y: y + height / 2 };
}
