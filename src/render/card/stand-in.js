// Runs inside the page. Type-checked through JSDoc, served as it is. Shows a picture that the page has drawn
// as a canvas. As a file for an `<img>` it is written, sent to the browser's own process and back, and
// decoded: for a card's ground that is more work than drawing it.

let isOn = false;

/**
 * Begins or ends that. Where the browser itself takes the pictures, a canvas would be a layer of its own.
 * @param {boolean} wanted
 */
export function useStandIns(wanted) {
  isOn = wanted;
}

/** For each canvas the `<img>` in whose place it stands. @type {WeakMap<Element, HTMLImageElement>} */
const originals = new WeakMap();

/** The template's own `<img>`. @param {Element} picture */
export const originalOf = (picture) => originals.get(picture) ?? /** @type {HTMLImageElement} */ (picture);

/**
 * A canvas that looks as the `<img>` would with this picture; null where it might not.
 * @param {Element} shown that `<img>`, or what stands in for it
 * @param {OffscreenCanvas} picture
 * @param {string} source what tells the picture apart
 */
export function standIn(shown, picture, source) {
  const image = originalOf(shown);
  if (!isOn || image.hasAttribute("width") || image.hasAttribute("height") || isToldApart(image)) return null;
  const { position, scale } = getComputedStyle(shown);
  if (position === "static" || !["none", "1"].includes(scale)) return null;
  const canvas = likeness(image);
  Object.assign(canvas, { width: picture.width, height: picture.height });
  canvas.getContext("2d", { willReadFrequently: true })?.drawImage(picture, 0, 0);
  // Without a place of its own among the browser's layers it would be painted in the picture's corner.
  canvas.style.scale = "1";
  canvas.dataset.source = source;
  originals.set(canvas, image);
  return canvas;
}

/** An empty canvas with the attributes of an image. @param {HTMLImageElement} image */
function likeness(image) {
  const canvas = document.createElement("canvas");
  for (const { name, value } of image.attributes) if (name !== "src") canvas.setAttribute(name, value);
  return canvas;
}

/** By name of the picture, for the style sheets of that address. */
let told = { address: "", pictures: /** @type {Map<string, boolean>} */ (new Map()) };

/**
 * Whether the style sheets might style an image, or what is around it, otherwise than a canvas in its place,
 * on any card.
 * @param {HTMLImageElement} image
 */
function isToldApart(image) {
  const { picture: name = "" } = image.dataset;
  const address = [...document.styleSheets].map(({ href }) => href).join(" ");
  if (told.address !== address) told = { address, pictures: new Map() };
  const known = told.pictures.get(name);
  if (known !== undefined) return known;
  const isTold = matchesDiffer(image);
  told.pictures.set(name, isTold);
  return isTold;
}

/** What of a selector only an image, or only a canvas, may match. */
const BY_ELEMENT = /\b(?:img|canvas|src)\b|-of-type/;

/** @param {HTMLImageElement} image */
function matchesDiffer(image) {
  const selectors = [...document.styleSheets].flatMap((sheet) => selectorsOf(sheet.cssRules, null));
  const inDoubt = selectors.filter((selector) => BY_ELEMENT.test(selector));
  // What is said of attributes holds for some cards: here it holds for all. Of `:not` that would be none.
  if (inDoubt.some((selector) => selector.includes(":not("))) return true;
  const general = inDoubt.map((each) => each.replace(/\[[^\]]*\]/g, ":where(*)").replace(/::[\w-]+/g, ""));
  const canvas = likeness(image);
  try {
    const before = general.map((selector) => [...document.querySelectorAll(selector)]);
    image.replaceWith(canvas);
    return general.some((selector, at) => {
      const after = [...document.querySelectorAll(selector)];
      return (
        after.length !== before[at]?.length ||
        after.some((each, k) => each !== (before[at]?.[k] === image ? canvas : before[at]?.[k]))
      );
    });
  } catch {
    return true;
  } finally {
    canvas.replaceWith(image);
  }
}

/**
 * The selectors of all rules, those of nested ones written out.
 * @param {CSSRuleList} rules @param {string | null} parent
 * @returns {string[]}
 */
function selectorsOf(rules, parent) {
  return [...rules].flatMap((rule) => {
    const { selectorText, cssRules } = /** @type {CSSStyleRule} */ (rule);
    if (selectorText === undefined) return cssRules ? selectorsOf(cssRules, parent) : [];
    const around = `:is(${parent})`;
    const whole =
      parent === null
        ? selectorText
        : selectorText.includes("&")
          ? selectorText.replaceAll("&", around)
          : `${around} ${selectorText}`;
    return [whole, ...(cssRules ? selectorsOf(cssRules, whole) : [])];
  });
}
