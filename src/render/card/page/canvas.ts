// Draws the card into a canvas, and hands its pixels to a file.

import { keepPlates, layPlates, liftPlates, loadPlates, type PlatesLaid, UNSEEN } from "./plates.ts";
import { useStandIns } from "./stand-in.ts";

/**
 * Elements drawn into a canvas, which browsers have behind a flag: https://github.com/WICG/html-in-canvas
 */
export type ElementCanvas = HTMLCanvasElement & { requestPaint(): void; onpaint: (() => void) | null };

export type ElementContext = CanvasRenderingContext2D & {
  drawElementImage(element: Element, x: number, y: number): void;
};

/** The page paints at once; this catches one that never does. */
const PAINT_TIMEOUT_MS = 8000;
/**
 * The file opens in milliseconds; without this, a worker that never answers would hold up the whole start.
 */
const OPEN_TIMEOUT_MS = 5000;

/** Side of the probe in pixels, and the colours of its four quarters. */
const PROBE_PX = 64;
const PROBE_COLOURS = ["#c8102e", "#00843d", "#1034a6", "#f6eb61"];

/** No template's style sheet applies to what is outside its body. */
const WHOLE_VIEW =
  "all: initial !important; display: block !important; position: absolute !important; inset: 0 !important; width: 100% !important; height: 100% !important";

let shown: { canvas: ElementCanvas; context: ElementContext; pixels: Worker } | undefined;

/**
 * Moves the page's body into a canvas, which leaves its layout as it is, and opens the file for its pixels.
 * False, with nothing changed, when the browser cannot draw elements.
 * @param name of the file, in the page's own folder of the profile
 */
export async function open(name: string) {
  const canvas = document.createElement("canvas") as ElementCanvas;
  const context = canvas.getContext("2d", {
    willReadFrequently: true,
    colorSpace: "srgb",
  }) as ElementContext | null;
  if (!context || !("drawElementImage" in context) || !("requestPaint" in canvas)) return false;
  const pixels = new Worker("/card/page/write-pixels.ts", { type: "module" });
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
  canvas.replaceWith(...(canvas.firstElementChild as Element).children);
}

/**
 * Draws the body and writes its pixels to the file: rows of red, green, blue and alpha from the top.
 * @returns the card's plates
 */
export async function shoot(width: number, height: number): Promise<PlatesLaid> {
  const { data, laid } = await drawCard(width, height);
  await writePixels(data.data.buffer);
  return laid;
}

/** The body's pixels, and the card's plates. */
export async function drawCard(width: number, height: number) {
  const { canvas, context, paint } = easel(width, height);
  try {
    const laid = await layPlates(canvas, paint);
    await paint();
    return { data: context.getImageData(0, 0, width, height), laid };
  } finally {
    liftPlates();
  }
}

/** Hands pixels to the file, at its beginning. */
export async function writePixels(buffer: ArrayBuffer) {
  if (!shown) throw new Error("the canvas is not open");
  await ask(shown.pixels, { pixels: buffer }, [buffer]);
}

/**
 * The body's pixels on white before and after a change, with every plate drawn anew. Null when the canvas is
 * not open.
 */
export async function compare(
  width: number,
  height: number,
  change: () => void,
): Promise<[ImageData, ImageData] | null> {
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
 * Lets `work` change the body and draw it, as often as it likes, with every plate drawn anew.
 * @param work gets a function that draws, and the element that holds the body
 */
export async function drawings(
  width: number,
  height: number,
  work: (draw: () => Promise<Uint8ClampedArray<ArrayBuffer>>, stage: HTMLElement) => Promise<void>,
) {
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
 * Writes how much of each pixel is foil to the file, a byte a pixel: where elements with `data-foil` are
 * seen.
 */
export async function shootFoil(width: number, height: number) {
  await writePixels((await drawFoil(width, height)).buffer);
}

/**
 * How much of each pixel is foil, of 255. The card is drawn with the foil in black and in white; what
 * differs is foil. So whatever covers it counts, but for the player's shadow, which is hidden.
 */
export async function drawFoil(width: number, height: number) {
  const { context, paint } = easel(width, height);
  const elements = [...document.querySelectorAll<HTMLElement>("[data-foil]")];
  const shadows = [...document.querySelectorAll<HTMLElement>('[data-picture="shadow"]')];
  const before = [...elements, ...shadows].map((one) => ({ one, css: one.style.cssText }));
  const drawnIn = async (filter: string) => {
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

/** The canvas in that size, and a function that paints the body into it. */
function easel(width: number, height: number) {
  if (!shown) throw new Error("the canvas is not open");
  const { canvas, context } = shown;
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  const stage = canvas.firstElementChild as HTMLElement;
  // The background behind everything is the root's, which stays outside the canvas.
  const { background, backgroundColor, backgroundImage } = getComputedStyle(document.documentElement);
  const isNone = backgroundColor === "rgba(0, 0, 0, 0)" && backgroundImage === "none";
  stage.style.setProperty("background", isNone ? UNSEEN : background, "important");
  return { canvas, context, stage, paint: () => paintOnce(canvas, context, stage) };
}

async function paintOnce(canvas: ElementCanvas, context: ElementContext, stage: Element) {
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
  const [body] = document.getElementsByTagName("body") as HTMLCollectionOf<HTMLElement>;
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

function ask(worker: Worker, message: unknown, handOver: Transferable[] = []) {
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => (data === "done" ? resolve(undefined) : reject(new Error(data)));
    worker.onerror = ({ message: why }) => reject(new Error(`the pixels' worker failed: ${why}`));
    worker.postMessage(message, handOver);
  });
}

Object.assign(globalThis, {
  cardpressCanvas: { open, close, shoot, shootFoil, compare, showProbe, hideProbe },
});
