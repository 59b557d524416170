// A plate is an element with `data-plate`. Its content depends on the look of a card, not on its player: it
// is drawn once and kept as pixels for the next cards of the same look. It is kept under everything the
// browser would draw it from, so a plate that does differ from card to card is still right, and only never
// found again. `contain: strict` keeps it apart: nothing outside depends on its content, and it paints
// nothing outside its box.

import { decodeInto } from "./decode.ts";
import { keepRecent } from "./recent.ts";

/** Draws the whole page into the canvas. */
export type Paint = () => Promise<void>;
/** What laying the plates came to. */
export interface PlatesLaid {
  drawn: number;
  kept: number;
  ms: number;
}

/** 64 MB: fifteen grounds of 1024x1280, about what a club's cards of all tiers take. */
const KEPT = {
  max: 16_000_000,
  pixelsOf: ({ width, height }: HTMLCanvasElement) => width * height,
};
/** With more elements, working out what a plate depends on costs more than drawing it. */
const MAX_ELEMENTS = 64;

/** The most pixels a plate may take, in pictures: little is seen of one that begins far outside. */
const MAX_SIZE = 2;

/**
 * Resets effects of the element and those around it, which apply to the kept pixels as they do to the
 * content.
 */
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
 * starts where painting starts: with this below, it starts at the same place for a plate and for a whole
 * card.
 */
export const UNSEEN = "rgb(0 0 0 / 0.001)";

/** By everything a plate depends on; least recently used first. */
const kept = new Map<string, HTMLCanvasElement>();

let isOn = false;

/** Begins or ends keeping plates. Without that, everything is drawn anew for each card. */
export function keepPlates(wanted: boolean) {
  isOn = wanted;
  kept.clear();
}

/**
 * Leaves a picture unloaded until its plate has to be drawn. False when it lies in none.
 * @param source its address
 */
export function leaveToPlate(picture: HTMLElement, source: string) {
  if (!isOn || !picture.closest("[data-plate]")) return false;
  picture.dataset.source = source;
  picture.removeAttribute("src");
  return true;
}

/**
 * Shows the kept pixels of each plate instead of its content, until `liftPlates`. Those not kept yet are
 * drawn first.
 * @param canvas what `paint` draws into
 */
export async function layPlates(canvas: HTMLCanvasElement, paint: Paint): Promise<PlatesLaid> {
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

/** Loads the pictures of every plate, for as long as until `liftPlates`. */
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

const plates = () => (isOn ? document.querySelectorAll<HTMLElement>("[data-plate]") : []);

/** A plate's pictures that wait for it to be drawn. */
const waiting = (plate: HTMLElement) => plate.querySelectorAll<HTMLImageElement>("img[data-source]");

const slots = new WeakMap<HTMLElement, HTMLSlotElement>();

/** The place of a plate's content, in a shadow tree so that no selector of the template notices. */
function slotOf(plate: HTMLElement) {
  const known = slots.get(plate);
  if (known) return known;
  const slot = document.createElement("slot");
  plate.attachShadow({ mode: "open" }).append(slot);
  slots.set(plate, slot);
  return slot;
}

async function loadPictures(plate: HTMLElement) {
  const pictures = [...waiting(plate)].filter((picture) => !picture.hidden);
  await Promise.all(
    pictures.map((picture) =>
      decodeInto(picture, picture.dataset.source ?? "", picture.dataset.picture ?? ""),
    ),
  );
}

/** The pixels of a plate's content alone; undefined when all or most of it lies outside the picture. */
async function drawn(plate: HTMLElement, canvas: HTMLCanvasElement, paint: Paint) {
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
  const context = pixels.getContext("2d", {
    willReadFrequently: true,
    colorSpace: "srgb",
  }) as CanvasRenderingContext2D;
  context.drawImage(canvas, -left, -top);
  return pixels;
}

/**
 * The whole pixels that a plate's content may fill, from its own corner, even where that lies outside the
 * picture: a canvas laid further inside is painted as if it lay at the corner. The browser moves a plate to
 * the next whole pixel, so its end can be half a pixel further.
 */
function boundsOf(plate: HTMLElement, canvas: HTMLCanvasElement) {
  const box = plate.getBoundingClientRect();
  const [left, top] = [Math.round(box.left), Math.round(box.top)];
  const right = Math.min(canvas.width, Math.ceil(box.right + 0.5));
  const bottom = Math.min(canvas.height, Math.ceil(box.bottom + 0.5));
  return { left, top, width: right - left, height: bottom - top };
}

/** Hides everything but a plate's content, and returns a function that undoes that. */
function isolate(plate: HTMLElement) {
  // No style sheet hides a watermark, and one that was kept would be on cards that have none.
  const mark = document.querySelector("cardpress-watermark");
  const beside = mark?.previousElementSibling;
  mark?.remove();
  const before: [HTMLElement, string | null][] = [];
  const set = (element: HTMLElement, style: Record<string, string>) => {
    before.push([element, element.getAttribute("style")]);
    for (const [name, value] of Object.entries(style)) element.style.setProperty(name, value, "important");
  };
  set(slotOf(plate), { visibility: "visible" });
  for (let at = plate; ; at = at.parentElement as HTMLElement) {
    if (at.parentElement instanceof HTMLCanvasElement) {
      // Hidden itself, it would not be painted at all; nothing of it is to be seen but its background.
      set(at, { background: UNSEEN });
      break;
    }
    set(at, WITHOUT_EFFECTS);
    for (const other of at.parentElement?.children ?? [])
      if (other !== at) set(other as HTMLElement, { opacity: "0" });
  }
  return () => {
    for (const [element, style] of before.reverse()) {
      // Set to something first: where nobody has read the style, Chromium leaves an empty attribute behind,
      // and the plate is not found again.
      element.setAttribute("style", style ?? "");
      if (style === null) element.removeAttribute("style");
    }
    if (mark) beside?.after(mark);
  };
}

/**
 * Puts the pixels in the place of the content, exactly where they were drawn. False, with nothing changed,
 * when that cannot be: the plate is turned or scaled.
 */
function show(plate: HTMLElement, pixels: HTMLCanvasElement) {
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
 * Everything a plate's pixels depend on: its place, its content, and every style that the style sheets set
 * on it, resolved. Null when that would take too long.
 */
function keyOf(plate: HTMLElement) {
  const elements = [plate, ...plate.querySelectorAll<HTMLElement>("*")];
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

interface Sheets {
  address: string;
  properties: string[];
  pseudos: string[];
}

let read: Sheets | undefined;

/** The properties that the page's style sheets set anywhere, and the pseudo-elements that they style. */
function sheets(): Sheets {
  const address = [...document.styleSheets].map(({ href }) => href).join(" ");
  if (read?.address === address) return read;
  const properties = new Set(["color"]);
  const pseudos = new Set<string>();
  const visit = (rules: CSSRuleList) => {
    for (const rule of rules) {
      if (rule instanceof CSSFontFaceRule) continue;
      const { style, selectorText, cssRules } = rule as CSSStyleRule;
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
