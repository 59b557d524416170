// Runs inside the page. Type-checked through JSDoc, served as it is.
import { drawFoil, drawings, writePixels } from "./canvas.js";
import { UNSEEN } from "./plates.js";

/** @type {Map<string, Uint8ClampedArray<ArrayBuffer>> | undefined} */
let current;

/**
 * Draws the layers of the card that the page shows, and its foil.
 * @param {number} width @param {number} height
 * @param {readonly string[]} names of the layers, the rearmost first
 * @param {string} foil what the foil mask is called
 */
export async function open(width, height, names, foil) {
  /** @type {typeof current} */
  const layers = new Map();
  await drawings(width, height, async (draw, stage) => {
    const show = shower(names, stage);
    try {
      /** @type {Uint8ClampedArray | undefined} */
      let below;
      for (const [number, name] of names.entries()) {
        show.only([name]);
        const own = await draw();
        show.only(names.slice(0, number + 1));
        const all = number === 0 ? own : await draw();
        layers.set(name, below ? seenOver(own, all, below) : own);
        below = all;
      }
    } finally {
      show.restore();
    }
  });
  layers.set(foil, maskOf(await drawFoil(width, height)));
  current = layers;
}

/** Writes a layer to the file. @param {string} name */
export async function give(name) {
  const pixels = current?.get(name);
  if (!pixels) throw new Error(`no layer ${name} is drawn`);
  current?.delete(name);
  await writePixels(pixels.buffer);
}

export function close() {
  current = undefined;
}

/**
 * What of a layer is seen over those below it, so that they give the card when they are laid over each other,
 * also where the card has something of a lower layer in front of it.
 * @param {Uint8ClampedArray<ArrayBuffer>} own the layer alone
 * @param {Uint8ClampedArray} all it and those below it, as the card has them
 * @param {Uint8ClampedArray} below those below it
 */
function seenOver(own, all, below) {
  for (let at = 0; at < own.length; at += 4) {
    const alpha = own[at + 3];
    if (alpha === 0) continue;
    const isHidden =
      all[at] === below[at] &&
      all[at + 1] === below[at + 1] &&
      all[at + 2] === below[at + 2] &&
      all[at + 3] === below[at + 3];
    if (isHidden) own.fill(0, at, at + 4);
    else if (alpha === 255) for (let k = at; k < at + 3; k++) own[k] = Number(all[k]);
  }
  return own;
}

/** White that is as opaque as there is foil. @param {Uint8Array} coverage */
function maskOf(coverage) {
  const mask = new Uint8ClampedArray(coverage.length * 4).fill(255);
  for (let at = 0; at < coverage.length; at++) {
    if (coverage[at] === 0) mask.fill(0, at * 4, at * 4 + 4);
    else mask[at * 4 + 3] = Number(coverage[at]);
  }
  return mask;
}

/**
 * Shows some layers alone. Hidden is what is not theirs by `visibility`, which changes no place of anything
 * and which what lies inside can take back.
 * @param {readonly string[]} names @param {HTMLElement} stage
 */
function shower(names, stage) {
  const [rearmost = ""] = names;
  const body = /** @type {HTMLElement} */ (stage.firstElementChild);
  /** @type {NodeListOf<HTMLElement>} */
  const marked = document.querySelectorAll("[data-layer]");
  const parts = [body, ...marked]
    // What the template hides stays hidden.
    .filter((element) => getComputedStyle(element).visibility !== "hidden")
    .map((element) => ({ element, layer: element.dataset.layer ?? rearmost, css: element.style.cssText }));
  // No style sheet hides a watermark. It lies over everything.
  const watermark = document.querySelector("cardpress-watermark");
  const background = stage.style.getPropertyValue("background");
  return {
    /** @param {readonly string[]} shown */
    only(shown) {
      for (const { element, layer } of parts)
        element.style.setProperty("visibility", shown.includes(layer) ? "visible" : "hidden", "important");
      stage.style.setProperty("background", shown.includes(rearmost) ? background : UNSEEN, "important");
      watermark?.remove();
      if (watermark && shown.includes(names.at(-1) ?? "")) body.after(watermark);
    },
    restore() {
      for (const { element, css } of parts) element.style.cssText = css;
      if (watermark) body.after(watermark);
    },
  };
}

Object.assign(globalThis, { cardpressLayers: { open, give, close } });
