// Runs inside the page. Type-checked through JSDoc, served as it is.

/** @typedef {{ oneLineMinScale: number, twoLineMinScale: number }} FitRange */
/** @typedef {{ sizePx: number, lines: 1 | 2, shortened: boolean }} FitResult */

/** The part of a box's height that is left for letters with marks over them: a mark is a tenth of its letter. */
const HEIGHT_UNDER_MARKS = 0.89;

/**
 * Sets the text of `box` as large as it fits: on one line, then on two balanced lines, then cut with an ellipsis.
 * The box's `--fit-largest` is the largest size; `range` gives the smallest sizes as parts of it.
 * @param {HTMLElement} box fixed in size, with one element that holds the text
 * @param {FitRange} range
 * @returns {FitResult}
 */
export function fitText(box, range) {
  const text = /** @type {HTMLElement} */ (box.firstElementChild);
  const style = getComputedStyle(box);
  const width =
    box.clientWidth - Number.parseFloat(style.paddingLeft) - Number.parseFloat(style.paddingRight);
  // The line box of a display face ends at its capitals; dots and rings stand out of it.
  const hasMarks = /\p{M}/u.test((text.textContent ?? "").normalize("NFD"));
  const height = box.clientHeight * (hasMarks ? HEIGHT_UNDER_MARKS : 1);
  text.style.cssText = "display:block;max-width:100%;width:var(--fit-largest)";
  const largest = text.getBoundingClientRect().width;
  const tallest = Number.parseFloat(style.getPropertyValue("--fit-line")) || 1;

  text.style.cssText = `display:block;white-space:nowrap;line-height:${tallest};font-size:${largest}px`;
  const oneLine = Math.min(
    largest,
    height / tallest,
    (largest * width) / Math.max(1, text.scrollWidth, text.offsetWidth),
  );
  if (oneLine >= largest * range.oneLineMinScale || !/\s/.test(text.textContent ?? "")) {
    if (oneLine >= largest * range.twoLineMinScale) {
      text.style.fontSize = `${Math.floor(oneLine * 8) / 8}px`;
      return { sizePx: oneLine, lines: 1, shortened: false };
    }
  }
  // Tight lines let the upper one's accents stand out of its box.
  const accents = height * 0.05;
  return fitTwoLines(text, {
    width,
    height: height - accents,
    largest,
    tallest,
    smallest: largest * range.twoLineMinScale,
  });
}

/**
 * @param {HTMLElement} text
 * @param {{ width: number, height: number, largest: number, tallest: number, smallest: number }} room
 * @returns {FitResult}
 */
function fitTwoLines(text, room) {
  const line = Math.max(0.94, room.tallest * 0.98);
  const set = (/** @type {number} */ size) => {
    text.style.cssText = `display:block;width:${room.width}px;text-wrap:balance;line-height:${line};font-size:${size}px`;
    return (
      text.scrollWidth <= room.width + 0.5 && text.offsetHeight <= Math.min(room.height, 2 * line * size) + 1
    );
  };
  let low = Math.min(room.smallest, room.height / (2 * line));
  let high = Math.min(room.largest, room.height / (2 * line));
  if (!set(low)) {
    // -webkit-line-clamp is the one way to cut at the second line's end for every script.
    text.style.cssText = `display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:2;overflow:hidden;overflow-wrap:anywhere;width:${room.width}px;line-height:${line};font-size:${low}px`;
    return { sizePx: low, lines: 2, shortened: text.scrollHeight > text.clientHeight + 1 };
  }
  for (let i = 0; i < 7; i++) {
    const middle = (low + high) / 2;
    if (set(middle)) low = middle;
    else high = middle;
  }
  set(low);
  return { sizePx: low, lines: 2, shortened: false };
}
