// Sets texts as large as their boxes allow.

export interface FitResult {
  sizePx: number;
  lines: number;
  shortened: boolean;
}

/** Letters smaller than this part of `--fit-largest` take more lines, where the text may. */
const FEW_LINES_LEAST = 0.5;
/** On those, letters may be as small as this part of `--fit-smallest`. */
const SMALLEST_ON_MORE_LINES = 0.5;

/** Defaults of `--fit-one-line` and `--fit-smallest`. */
const ONE_LINE = 0.6;
const SMALLEST = 0.4;

/**
 * The part of a box's height left for letters that carry marks: a mark takes a tenth of its letter's
 * height.
 */
const HEIGHT_UNDER_MARKS = 0.89;

/** Each try comes closer: four leave less than a hundredth of a spacing that makes up half a line. */
const NARROWINGS = 4;

/** The margin kept free of ink at the top and bottom of the box, as a fraction of its height. */
const CLEAR_OF_INK = 0.03;

/**
 * Sets the text of `box` as large as fits: on one line, else on as many balanced lines as its `data-fit`
 * allows, else cut with an ellipsis. The box's CSS properties are the limits:
 * `--fit-largest` is the largest size, `--fit-smallest` the smallest part of it that is allowed.
 * Below `--fit-one-line` of it, a text takes more lines. `--fit-line` is the line height.
 * Where its letters would be smaller than allowed, or than half of the largest, it takes up to
 * `--fit-most-lines` lines.
 * @param box of fixed size, with one child element that holds the text
 */
export function fitText(box: HTMLElement): FitResult {
  const text = box.firstElementChild as HTMLElement;
  const style = getComputedStyle(box);
  const number = (name: string, otherwise: number) =>
    Number.parseFloat(style.getPropertyValue(name)) || otherwise;
  const lines = Number.parseInt(box.dataset.fit ?? "", 10) || 1;
  const width =
    box.clientWidth - Number.parseFloat(style.paddingLeft) - Number.parseFloat(style.paddingRight);
  // A display face's line box ends at its capitals; dots and rings stick out of it.
  const hasMarks = /\p{M}/u.test(rendered(text).normalize("NFD"));
  const height = box.clientHeight * (hasMarks ? HEIGHT_UNDER_MARKS : 1);
  text.style.cssText = "display:block;max-width:100%;width:var(--fit-largest)";
  const largest = text.getBoundingClientRect().width;
  const tallest = number("--fit-line", 1);
  const smallest = largest * number("--fit-smallest", SMALLEST);

  text.style.cssText = `display:block;white-space:nowrap;line-height:${tallest};font-size:${largest}px`;
  const oneLine = Math.min(
    largest,
    height / tallest,
    (largest * width) / Math.max(1, text.scrollWidth, text.offsetWidth),
  );
  const staysOne = lines === 1 || oneLine >= largest * number("--fit-one-line", ONE_LINE);
  const onOneLine = () => {
    text.style.cssText = `display:block;white-space:nowrap;line-height:${tallest}`;
    const sizePx = narrowed(text, width, tallest > 1 ? keepInkInside(box, text, oneLine) : oneLine);
    return { sizePx, lines: 1, shortened: false };
  };
  if ((staysOne || !/\s/.test(text.textContent ?? "")) && oneLine >= smallest) return onOneLine();
  // With tight line spacing the upper line's accents stick out of its box.
  const accents = height * 0.05;
  const room = { width, height: height - accents, largest, tallest };
  const most = number("--fit-most-lines", lines);
  const mayBeOne = oneLine >= smallest;
  const few = fitLines(text, { ...room, smallest, lines }, most <= lines && !mayBeOne);
  // More lines that make the letters smaller, as where accents keep the lines apart, are no help.
  if (mayBeOne && (few?.sizePx ?? 0) <= oneLine) return onOneLine();
  if (few && (most <= lines || few.sizePx >= largest * FEW_LINES_LEAST)) return few;
  const least = smallest * SMALLEST_ON_MORE_LINES;
  return fitLines(text, { ...room, smallest: least, lines: most }, true) as FitResult;
}

/**
 * Sets a line in the size `wanted`, or smaller where it is wider than its box: letter spacing is inherited
 * as a length, so it does not shrink with the letters. Returns the size.
 */
function narrowed(text: HTMLElement, width: number, wanted: number) {
  const set = (size: number) => {
    text.style.fontSize = `${Math.floor(size * 8) / 8}px`;
    const range = document.createRange();
    range.selectNodeContents(text);
    return range.getBoundingClientRect().width;
  };
  let size = wanted;
  for (let wide = set(size), tries = 0; wide > width + 1 && tries < NARROWINGS; tries++) {
    size *= width / wide;
    wide = set(size);
  }
  return size;
}

/**
 * The text in upper or lower case, as shown. `innerText` is empty while the card is hidden for its fonts.
 */
function rendered(text: HTMLElement) {
  const plain = text.textContent ?? "";
  const { textTransform } = getComputedStyle(text);
  if (textTransform !== "uppercase" && textTransform !== "lowercase") return plain;
  const { lang = "" } = text.closest<HTMLElement>("[lang]") ?? {};
  const locale = lang === "und" || lang === "" ? "en" : lang;
  return textTransform === "uppercase" ? plain.toLocaleUpperCase(locale) : plain.toLocaleLowerCase(locale);
}

/**
 * How far the text's ink, and the line its font declares, reach above and below the baseline, in parts of
 * the font size.
 */
function inkOf(text: HTMLElement) {
  const { fontStyle, fontWeight, fontFamily } = getComputedStyle(text);
  const context = new OffscreenCanvas(1, 1).getContext("2d") as OffscreenCanvasRenderingContext2D;
  context.font = `${fontStyle} ${fontWeight} 100px ${fontFamily}`;
  const ink = context.measureText(rendered(text));
  return {
    above: ink.actualBoundingBoxAscent / 100,
    below: ink.actualBoundingBoxDescent / 100,
    lineAbove: ink.fontBoundingBoxAscent / 100,
    lineBelow: ink.fontBoundingBoxDescent / 100,
  };
}

/**
 * Shifts a line whose ink would leave the box, and returns the size, at most `wanted`, at which it stays
 * inside. Scripts that stack their letters, such as Burmese, reach far beyond the line their font declares.
 * @param text one line, centred in the box
 * @param wanted size in pixels
 */
function keepInkInside(box: HTMLElement, text: HTMLElement, wanted: number) {
  const { above, below, lineAbove, lineBelow } = inkOf(text);
  const clear = box.clientHeight * CLEAR_OF_INK;
  const size = Math.min(wanted, (box.clientHeight - 2 * clear) / (above + below));
  const baseline = box.clientHeight / 2 + ((lineAbove - lineBelow) / 2) * size;
  const [top, bottom] = [baseline - above * size, baseline + below * size];
  const shift = Math.max(0, clear - top) + Math.min(0, box.clientHeight - clear - bottom);
  text.style.position = "relative";
  text.style.top = `${shift}px`;
  return size;
}

/**
 * Sets the text on several lines, as large as fits. If even the smallest size is too large, cuts the text,
 * or returns null where `mayCut` is false.
 */
function fitLines(
  text: HTMLElement,
  room: { width: number; height: number; largest: number; tallest: number; smallest: number; lines: number },
  mayCut: boolean,
): FitResult | null {
  const { lines } = room;
  const { above, below } = room.tallest > 1 ? inkOf(text) : { above: 0, below: 0 };
  const line = Math.max(room.tallest * 0.98, above + below);
  const set = (size: number, wrap = "normal") => {
    text.style.cssText = `display:block;width:${room.width}px;text-wrap:balance;overflow-wrap:${wrap};line-height:${line};font-size:${size}px`;
    return (
      text.scrollWidth <= room.width + 0.5 &&
      text.offsetHeight <= Math.min(room.height, lines * line * size) + 1
    );
  };
  // A text that needs this function takes two lines at least, where it may.
  let low = Math.min(room.smallest, room.height / (lines * line));
  let high = Math.min(room.largest, room.height / (Math.min(2, lines) * line));
  if (!set(low) && !mayCut) return null;
  if (!set(low)) return { sizePx: low, lines, shortened: cutToFit(text, () => set(low, "anywhere")) };
  for (let i = 0; i < 7; i++) {
    const middle = (low + high) / 2;
    if (set(middle)) low = middle;
    else high = middle;
  }
  set(low);
  return { sizePx: low, lines: Math.round(text.offsetHeight / (line * low)), shortened: false };
}

/**
 * Shortens the text with an ellipsis until it fits; returns whether it had to. The browser's line clamp
 * keeps the hidden lines, whose accents would show below the last visible one.
 */
function cutToFit(text: HTMLElement, fits: () => boolean) {
  if (fits()) return false;
  const letters = [...new Intl.Segmenter().segment(text.textContent ?? "")].map(({ segment }) => segment);
  let [fitting, tooMany] = [0, letters.length];
  const cut = (count: number) => {
    text.textContent = `${letters.slice(0, count).join("").trimEnd()}…`;
    return fits();
  };
  while (tooMany - fitting > 1) {
    const middle = (fitting + tooMany) >> 1;
    if (cut(middle)) fitting = middle;
    else tooMany = middle;
  }
  cut(fitting);
  return true;
}

/** Throws when the browser finds no system font: it then refuses the bundled ones too, without a word. */
export function checkFonts() {
  const context = new OffscreenCanvas(1, 1).getContext("2d") as OffscreenCanvasRenderingContext2D;
  context.font = "16px sans-serif";
  if (context.measureText("0").width > 0) return;
  throw new Error(
    "Chromium finds no font of the system, and without one it draws no text at all. Install one, such as the Debian package fonts-dejavu-core.",
  );
}
