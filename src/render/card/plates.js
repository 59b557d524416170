// Runs inside the page. Type-checked through JSDoc, served as it is.
import { decodeInto } from "./decode.js";
import { keepRecent } from "./recent.js";

// A plate is an element with `data-plate`: its content depends on the look of a card and not on its player,
// is drawn once and kept as pixels for the next cards of the same look. What it depends on is never guessed:
// it is kept under all that the browser would draw it from, so a plate that differs from card to card is
// right too, and only never found again. By `contain: strict`, nothing outside depends on its content, and
// its content paints nothing outside its box.

/** Draws the whole page into the canvas. @typedef {() => Promise<void>} Paint */
/** What laying the plates came to. @typedef {{ drawn: number, kept: number, ms: number }} PlatesLaid */

/** 64 MB: fifteen grounds of 1024x1280, about what a club's cards of all tiers take. */
const KEPT = {
  max: 16_000_000,
  /** @param {HTMLCanvasElement} pixels */
  pixelsOf: ({ width, height }) => width * height,
};
/** Beyond that, telling what a plate depends on costs more than drawing it. */
const MAX_ELEMENTS = 64;

/** What a plate takes at most, in pictures: of one that begins far outside the picture, little is seen. */
const MAX_SIZE = 2;

/** What resets effects that the element and those around it apply to the kept plate as to its content. */
const WITHOUT_EFFECTS = {
  opacity: "1",
  filter: "none",
  "backdrop-filter": "none",
  "clip-path": "none",
  mask: "none",
  "mix-blend-mode": "normal",
  "border-radius": "0",
  visibility: "hidden",
};

/**
 * A background that changes no pixel and fills the whole picture. Gradients are dithered in a pattern that
 * begins where the painted begins; with this below, it begins at the same place for a plate alone and for a
 * whole card.
 */
export const UNSEEN = "rgb(0 0 0 / 0.001)";

/** Plates by all that they depend on, least recently used first. @type {Map<string, HTMLCanvasElement>} */
const kept = new Map();

let isOn = false;

/**
 * Begins or ends keeping plates; without that, everything is drawn anew for each card.
 * @param {boolean} wanted
 */
export function keepPlates(wanted) {
  isOn = wanted;
  kept.clear();
}

/**
 * Leaves a plate's picture unloaded until the plate has to be drawn. False when it lies in none.
 * @param {HTMLElement} picture
 * @param {string} source its address
 */
export function leaveToPlate(picture, source) {
  if (!isOn || !picture.closest("[data-plate]")) return false;
  picture.dataset.source = source;
  picture.removeAttribute("src");
  return true;
}

/**
 * Lets each plate of the card show its kept pixels instead of its content, until `liftPlates`; those that are
 * not kept yet are drawn first.
 * @param {HTMLCanvasElement} canvas what `paint` draws into
 * @param {Paint} paint
 * @returns {Promise<PlatesLaid>}
 */
export async function layPlates(canvas, paint) {
  const started = performance.now();
  const laid = { drawn: 0, kept: 0, ms: 0 };
  for (const plate of plates()) {
    slotOf(plate);
    const key = keyOf(plate);
    const known = key === null ? undefined : kept.get(key);
    if (!known) await loadPictures(plate);
    const pixels = known ?? (key === null ? undefined : await drawn(plate, canvas, paint));
    if (key === null || !pixels) continue;
    keepRecent(kept, key, pixels, KEPT);
    if (show(plate, pixels)) laid[known ? "kept" : "drawn"]++;
    else if (known) await loadPictures(plate);
  }
  laid.ms = performance.now() - started;
  return laid;
}

/** Loads the pictures of every plate, which show until `liftPlates`. */
export async function loadPlates() {
  await Promise.all([...plates()].map(loadPictures));
}

/** Lets every plate have its content again. */
export function liftPlates() {
  for (const plate of plates()) {
    plate.shadowRoot?.replaceChildren(slotOf(plate));
    for (const picture of waiting(plate)) picture.removeAttribute("src");
  }
}

const plates = () =>
  isOn ? /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-plate]")) : [];

/** A plate's pictures that wait for it to be drawn. @param {HTMLElement} plate */
const waiting = (plate) =>
  /** @type {NodeListOf<HTMLImageElement>} */ (plate.querySelectorAll("img[data-source]"));

/** @type {WeakMap<HTMLElement, HTMLSlotElement>} */
const slots = new WeakMap();

/**
 * The place of a plate's content, in a shadow tree so that no selector of the template notices.
 * @param {HTMLElement} plate
 */
function slotOf(plate) {
  const known = slots.get(plate);
  if (known) return known;
  const slot = document.createElement("slot");
  plate.attachShadow({ mode: "open" }).append(slot);
  slots.set(plate, slot);
  return slot;
}

/** @param {HTMLElement} plate */
async function loadPictures(plate) {
  const pictures = [...waiting(plate)].filter((picture) => !picture.hidden);
  await Promise.all(
    pictures.map((picture) =>
      decodeInto(picture, picture.dataset.source ?? "", picture.dataset.picture ?? ""),
    ),
  );
}

/**
 * The pixels of a plate's content alone, or nothing when it lies outside the picture, or mostly.
 * @param {HTMLElement} plate @param {HTMLCanvasElement} canvas @param {Paint} paint
 */
async function drawn(plate, canvas, paint) {
  const { left, top, width, height } = boundsOf(plate, canvas);
  if (width <= 0 || height <= 0 || width * height > MAX_SIZE * canvas.width * canvas.height) return undefined;
  const restore = isolate(plate);
  try {
    await paint();
  } finally {
    restore();
  }
  const pixels = document.createElement("canvas");
  Object.assign(pixels, { width, height });
  const context = /** @type {CanvasRenderingContext2D} */ (
    pixels.getContext("2d", { willReadFrequently: true, colorSpace: "srgb" })
  );
  context.drawImage(canvas, -left, -top);
  return pixels;
}

/**
 * The whole pixels that a plate's content may fill, from its own corner, also where that lies outside the
 * picture: laid farther inside than its corner, a canvas is painted as if it were not. The browser moves a
 * plate to the next whole pixel, so its end can be half a pixel further.
 * @param {HTMLElement} plate @param {HTMLCanvasElement} canvas
 */
function boundsOf(plate, canvas) {
  const box = plate.getBoundingClientRect();
  const [left, top] = [Math.round(box.left), Math.round(box.top)];
  const right = Math.min(canvas.width, Math.ceil(box.right + 0.5));
  const bottom = Math.min(canvas.height, Math.ceil(box.bottom + 0.5));
  return { left, top, width: right - left, height: bottom - top };
}

/** Hides everything but a plate's content, and returns what undoes that. @param {HTMLElement} plate */
function isolate(plate) {
  // No style sheet hides a watermark, and one that was kept would be on cards that have none.
  const mark = document.querySelector("cardpress-watermark");
  const beside = mark?.previousElementSibling;
  mark?.remove();
  /** @type {[HTMLElement, string | null][]} */
  const before = [];
  /** @param {HTMLElement} element @param {Record<string, string>} style */
  const set = (element, style) => {
    before.push([element, element.getAttribute("style")]);
    for (const [name, value] of Object.entries(style)) element.style.setProperty(name, value, "important");
  };
  set(slotOf(plate), { visibility: "visible" });
  for (let at = plate; ; at = /** @type {HTMLElement} */ (at.parentElement)) {
    if (at.parentElement instanceof HTMLCanvasElement) {
      // Hidden itself, it would not be painted at all; nothing of it is to be seen but its background.
      set(at, { background: UNSEEN });
      break;
    }
    set(at, WITHOUT_EFFECTS);
    for (const other of at.parentElement?.children ?? [])
      if (other !== at) set(/** @type {HTMLElement} */ (other), { opacity: "0" });
  }
  return () => {
    for (const [element, style] of before.reverse()) {
      // Set to something first: Chromium leaves an empty attribute behind a style that no one has read, and a
      // plate with one is not found again.
      element.setAttribute("style", style ?? "");
      if (style === null) element.removeAttribute("style");
    }
    if (mark) beside?.after(mark);
  };
}

/**
 * Puts the pixels in the place of the content, where they lie as they were drawn. False, with nothing
 * changed, when they would not: the plate is turned or scaled.
 * @param {HTMLElement} plate @param {HTMLCanvasElement} pixels
 */
function show(plate, pixels) {
  const box = plate.getBoundingClientRect();
  const [left, top] = [Math.round(box.left), Math.round(box.top)];
  const { width, height } = pixels;
  pixels.style.cssText = `all: initial; position: absolute; visibility: inherit; image-rendering: pixelated; width: ${width}px; height: ${height}px;
    left: ${left - box.left - plate.clientLeft}px; top: ${top - box.top - plate.clientTop}px`;
  plate.shadowRoot?.replaceChildren(pixels);
  const shown = pixels.getBoundingClientRect();
  const isExact =
    shown.left === left && shown.top === top && shown.width === width && shown.height === height;
  if (!isExact) plate.shadowRoot?.replaceChildren(slotOf(plate));
  return isExact;
}

/**
 * All that a plate's pixels depend on: its place, its content, and every style of it that the style sheets
 * set, resolved. null when that would take too long to tell.
 * @param {HTMLElement} plate
 */
function keyOf(plate) {
  const elements = [plate, .../** @type {NodeListOf<HTMLElement>} */ (plate.querySelectorAll("*"))];
  if (elements.length > MAX_ELEMENTS) return null;
  const { address, properties, pseudos } = sheets();
  const { x, y, width, height } = plate.getBoundingClientRect();
  const parts = [address, x, y, width, height, plate.outerHTML];
  for (const element of elements)
    for (const pseudo of ["", ...pseudos]) {
      const style = getComputedStyle(element, pseudo);
      if (/before|after/.test(pseudo) && ["none", "normal"].includes(style.content)) continue;
      const own = element.style ?? [];
      for (const name of own.length > 0 ? new Set([...properties, ...own]) : properties)
        if (!name.startsWith("--")) parts.push(style.getPropertyValue(name));
    }
  return parts.join("\n");
}

/** @type {{ address: string, properties: string[], pseudos: string[] } | undefined} */
let read;

/** The properties that the page's style sheets set anywhere, and the pseudo-elements that they style. */
function sheets() {
  const address = [...document.styleSheets].map(({ href }) => href).join(" ");
  if (read?.address === address) return read;
  const properties = new Set(["color"]);
  const pseudos = new Set();
  /** @param {CSSRuleList} rules */
  const visit = (rules) => {
    for (const rule of rules) {
      if (rule instanceof CSSFontFaceRule) continue;
      const { style, selectorText, cssRules } = /** @type {CSSStyleRule} */ (rule);
      for (const name of style ?? []) if (!name.startsWith("--")) properties.add(name);
      for (const [, name] of (selectorText ?? "").matchAll(
        /::?(before|after|first-letter|first-line|marker)/g,
      ))
        pseudos.add(`::${name}`);
      if (cssRules) visit(cssRules);
    }
  };
  for (const sheet of document.styleSheets) visit(sheet.cssRules);
  read = { address, properties: [...properties], pseudos: [...pseudos] };
  return read;
}
