// Draws the card's layers one by one.

import { drawFoil, drawings, writePixels } from "./canvas.ts";
import { UNSEEN } from "./plates.ts";

let current: Map<string, Uint8ClampedArray<ArrayBuffer>> | undefined;

/**
 * Draws the layers of the card that the page shows, and its foil.
 * @param names of the layers, the rearmost first
 * @param foil what the foil mask is called
 */
export async function open(width: number, height: number, names: readonly string[], foil: string) {
  const layers: typeof current = new Map();
  await drawings(width, height, async (draw, stage) => {
    const show = shower(names, stage);
    try {
      let below: Uint8ClampedArray | undefined;
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

/** Writes a layer to the file. */
export async function give(name: string) {
  const pixels = current?.get(name);
  if (!pixels) throw new Error(`no layer ${name} is drawn`);
  current?.delete(name);
  await writePixels(pixels.buffer);
}

export function close() {
  current = undefined;
}

/**
 * What is seen of a layer over those below it. Laid over each other, the layers then give the card, even
 * where the card shows something of a lower layer in front of this one.
 * @param own the layer alone
 * @param all this layer and those below it, as on the card
 * @param below those below it
 */
function seenOver(own: Uint8ClampedArray<ArrayBuffer>, all: Uint8ClampedArray, below: Uint8ClampedArray) {
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

/** White, as opaque as there is foil. */
function maskOf(coverage: Uint8Array) {
  const mask = new Uint8ClampedArray(coverage.length * 4).fill(255);
  for (let at = 0; at < coverage.length; at++) {
    if (coverage[at] === 0) mask.fill(0, at * 4, at * 4 + 4);
    else mask[at * 4 + 3] = Number(coverage[at]);
  }
  return mask;
}

/**
 * Shows some layers alone. The others are hidden by `visibility`: that moves nothing, and what lies inside a
 * hidden element can show itself again.
 */
function shower(names: readonly string[], stage: HTMLElement) {
  const [rearmost = ""] = names;
  const body = stage.firstElementChild as HTMLElement;
  const marked = document.querySelectorAll<HTMLElement>("[data-layer]");
  const parts = [body, ...marked]
    // What the template hides stays hidden.
    .filter((element) => getComputedStyle(element).visibility !== "hidden")
    .map((element) => ({ element, layer: element.dataset.layer ?? rearmost, css: element.style.cssText }));
  // No style sheet hides a watermark. It lies over everything.
  const watermark = document.querySelector("cardpress-watermark");
  const background = stage.style.getPropertyValue("background");
  return {
    only(shown: readonly string[]) {
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
