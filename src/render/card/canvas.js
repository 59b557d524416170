// Runs inside the page. Type-checked through JSDoc, served as it is.
import { keepPlates, layPlates, liftPlates, loadPlates, UNSEEN } from "./plates.js";
import { useStandIns } from "./stand-in.js";

/**
 * Elements drawn into a canvas, which browsers have behind a flag: https://github.com/WICG/html-in-canvas
 * @typedef {HTMLCanvasElement & { requestPaint(): void, onpaint: (() => void) | null }} ElementCanvas
 * @typedef {CanvasRenderingContext2D & { drawElementImage(element: Element, x: number, y: number): void }}
 *   ElementContext
 */

/** The page paints at once; this catches one that never does. */
const PAINT_TIMEOUT_MS = 8000;
/**
 * The file opens in a few milliseconds; a worker that never answers must not keep the whole browser from
 * starting.
 */
const OPEN_TIMEOUT_MS = 5000;

/** Side of the probe in pixels, and the colours of its four quarters. */
const PROBE_PX = 64;
const PROBE_COLOURS = ["#c8102e", "#00843d", "#1034a6", "#f6eb61"];

/** No template's style sheet applies to what is outside its body. */
const WHOLE_VIEW =
  "all: initial !important; display: block !important; position: absolute !important; inset: 0 !important; width: 100% !important; height: 100% !important";

/** @type {{ canvas: ElementCanvas, context: ElementContext, pixels: Worker } | undefined} */
let shown;

/**
 * Moves the page's body into a canvas, which does not change its layout, and opens the file for its pixels.
 * False, with nothing changed, when the browser cannot draw elements.
 * @param {string} name of the file, in the page's own folder of the profile
 */
export async function open(name) {
  const canvas = /** @type {ElementCanvas} */ (document.createElement("canvas"));
  const context = /** @type {ElementContext | null} */ (
    canvas.getContext("2d", { willReadFrequently: true, colorSpace: "srgb" })
  );
  if (!context || !("drawElementImage" in context) || !("requestPaint" in canvas)) return false;
  const pixels = new Worker("/pixels.js", { type: "module" });
  const late = new Promise((resolve) => setTimeout(resolve, OPEN_TIMEOUT_MS, "late"));
  if ((await Promise.race([ask(pixels, { name }), late])) === "late") {
    pixels.terminate();
    return false;
  }
  canvas.setAttribute("layoutsubtree", "");
  const stage = document.createElement("cardpress-stage");
  for (const { style } of [canvas, stage]) style.cssText = WHOLE_VIEW;
  document.documentElement.append(canvas);
  canvas.append(stage);
  stage.append(document.body);
  shown = { canvas, context, pixels };
  keepPlates(true);
  useStandIns(true);
  return true;
}

/** Moves the body back out of the canvas. */
export function close() {
  if (!shown) return;
  const { canvas, pixels } = shown;
  shown = undefined;
  hideProbe();
  keepPlates(false);
  useStandIns(false);
  pixels.terminate();
  canvas.replaceWith(.../** @type {Element} */ (canvas.firstElementChild).children);
}

/**
 * Draws the body and writes its pixels to the file: rows of red, green, blue and alpha from the top.
 * @param {number} width @param {number} height
 * @returns {Promise<import("./plates.js").PlatesLaid>} the card's plates
 */
export async function shoot(width, height) {
  const { data, laid } = await drawCard(width, height);
  await writePixels(data.data.buffer);
  return laid;
}

/** The body's pixels, and the card's plates. @param {number} width @param {number} height */
export async function drawCard(width, height) {
  const { canvas, context, paint } = easel(width, height);
  try {
    const laid = await layPlates(canvas, paint);
    await paint();
    return { data: context.getImageData(0, 0, width, height), laid };
  } finally {
    liftPlates();
  }
}

/** Hands pixels to the file, at its beginning. @param {ArrayBuffer} buffer */
export async function writePixels(buffer) {
  if (!shown) throw new Error("the canvas is not open");
  await ask(shown.pixels, { pixels: buffer }, [buffer]);
}

/**
 * The body's pixels on white before and after a change, with every plate drawn anew; null when the canvas is
 * not open.
 * @param {number} width @param {number} height @param {() => void} change
 * @returns {Promise<[ImageData, ImageData] | null>}
 */
export async function compare(width, height, change) {
  if (!shown) return null;
  const { context, paint } = easel(width, height);
  const pixels = async () => {
    await paint();
    Object.assign(context, { globalCompositeOperation: "destination-over", fillStyle: "#fff" });
    context.fillRect(0, 0, width, height);
    return context.getImageData(0, 0, width, height);
  };
  try {
    await loadPlates();
    const before = await pixels();
    change();
    return [before, await pixels()];
  } finally {
    liftPlates();
  }
}

/**
 * Lets `work` draw the body as often as it changes it, with every plate drawn anew.
 * @param {number} width @param {number} height
 * @param {(draw: () => Promise<Uint8ClampedArray<ArrayBuffer>>, stage: HTMLElement) => Promise<void>} work
 *   what it is given draws, and holds the body
 */
export async function drawings(width, height, work) {
  const { context, paint, stage } = easel(width, height);
  try {
    await loadPlates();
    await work(async () => {
      await paint();
      return context.getImageData(0, 0, width, height).data;
    }, stage);
  } finally {
    liftPlates();
  }
}

/**
 * Draws how much of each pixel the elements with `data-foil` are seen in, and writes it to the file, a byte a
 * pixel. What covers them counts, but for the player's shadow: the card is drawn with them in black and in
 * white, and what differs is theirs.
 * @param {number} width @param {number} height
 */
export async function shootFoil(width, height) {
  await writePixels((await drawFoil(width, height)).buffer);
}

/** How much of each pixel is foil, of 255. @param {number} width @param {number} height */
export async function drawFoil(width, height) {
  const { context, paint } = easel(width, height);
  /** @param {string} selector @returns {HTMLElement[]} */
  const all = (selector) => [...document.querySelectorAll(selector)].map((one) => /** @type {any} */ (one));
  const elements = all("[data-foil]");
  const shadows = all('[data-picture="shadow"]');
  const before = [...elements, ...shadows].map((one) => ({ one, css: one.style.cssText }));
  /** @param {string} filter */
  const drawnIn = async (filter) => {
    for (const { style } of elements)
      for (const [property, value] of Object.entries({ filter, "text-shadow": "none", "box-shadow": "none" }))
        style.setProperty(property, value, "important");
    await paint();
    Object.assign(context, { globalCompositeOperation: "destination-over", fillStyle: "#fff" });
    context.fillRect(0, 0, width, height);
    return context.getImageData(0, 0, width, height).data;
  };
  try {
    await loadPlates();
    for (const { style } of shadows) style.setProperty("visibility", "hidden", "important");
    const black = await drawnIn("brightness(0)");
    const white = await drawnIn("brightness(0) invert(1)");
    const coverage = new Uint8Array(width * height);
    for (let at = 0; at < coverage.length; at++)
      coverage[at] = Math.max(0, Number(white[at * 4 + 1]) - Number(black[at * 4 + 1]));
    return coverage;
  } finally {
    for (const { one, css } of before) one.style.cssText = css;
    liftPlates();
  }
}

/** The canvas in that size, and what paints the body into it. @param {number} width @param {number} height */
function easel(width, height) {
  if (!shown) throw new Error("the canvas is not open");
  const { canvas, context } = shown;
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  const stage = /** @type {HTMLElement} */ (canvas.firstElementChild);
  // The background behind everything is the root's, which stays outside the canvas.
  const { background, backgroundColor, backgroundImage } = getComputedStyle(document.documentElement);
  const isNone = backgroundColor === "rgba(0, 0, 0, 0)" && backgroundImage === "none";
  stage.style.setProperty("background", isNone ? UNSEEN : background, "important");
  return { canvas, context, stage, paint: () => paintOnce(canvas, context, stage) };
}

/** @param {ElementCanvas} canvas @param {ElementContext} context @param {Element} stage */
async function paintOnce(canvas, context, stage) {
  const painted = new Promise((resolve, reject) => {
    canvas.onpaint = () => {
      canvas.onpaint = null;
      try {
        context.reset();
        resolve(context.drawElementImage(stage, 0, 0));
      } catch (error) {
        reject(error);
      }
    };
    setTimeout(() => reject(new Error("the card was not painted")), PAINT_TIMEOUT_MS);
  });
  canvas.requestPaint();
  await painted;
}

/** Shows four squares on top of everything, until `hideProbe`. */
export function showProbe() {
  const [body] = /** @type {HTMLCollectionOf<HTMLElement>} */ (document.getElementsByTagName("body"));
  const probe = document.createElement("div");
  const [a, b, c, d] = PROBE_COLOURS;
  probe.id = "cardpress-probe";
  probe.style.cssText = `all: initial; position: fixed; inset: 0; z-index: 2147483647;
    background: conic-gradient(${b} 25%, ${d} 0 50%, ${c} 0 75%, ${a} 0) 0 0 / ${PROBE_PX}px ${PROBE_PX}px`;
  body?.append(probe);
}

export function hideProbe() {
  document.getElementById("cardpress-probe")?.remove();
}

/** @param {Worker} worker @param {unknown} message @param {Transferable[]} handOver */
function ask(worker, message, handOver = []) {
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => (data === "done" ? resolve(undefined) : reject(new Error(data)));
    worker.onerror = ({ message: why }) => reject(new Error(`the pixels' worker failed: ${why}`));
    worker.postMessage(message, handOver);
  });
}

Object.assign(globalThis, {
  cardpressCanvas: { open, close, shoot, shootFoil, compare, showProbe, hideProbe },
});
