// Runs inside the page. Type-checked through JSDoc, served as it is.
import { fitText } from "./fit.js";
import { improved, rimLight } from "./light.js";

/**
 * Everything one card changes. Texts are untrusted and only ever become text nodes.
 * @typedef {{
 *   variables: Record<string, string>,
 *   attributes: Record<string, string>,
 *   texts: Record<string, string>,
 *   lang: string,
 *   direction: "ltr" | "rtl",
 *   pictures: Record<string, string | null>,
 *   outline: string,
 *   light: { colour: string, side: 1 | -1 },
 *   fit: import("./fit.js").FitRange,
 * }} CardFill
 */

/** @typedef {{ fit: import("./fit.js").FitResult, timingsMs: Record<string, number> }} FillResult */

/** Nothing a card shows takes longer than this to decode on a busy machine. */
const READY_TIMEOUT_MS = 8000;

/** A tiny badge stays a little soft rather than becoming a blur. */
const MAX_BADGE_ENLARGEMENT = 2.5;

/** What a picture's address begins with when it is the file in `cutoutInput`; the rest tells one file from another. */
const PICKED = "picked:";

/** What such an address ends with where the photo is small and is to be sharpened. */
const SHARPER = "+sharper";

/** Where the process that opened the page puts the player's cutout. */
const cutoutInput = document.createElement("input");
cutoutInput.type = "file";

/**
 * The last players shown, by their source: a photo is often asked for again at once, in another size or format, and its
 * cutout takes 6 to 70 ms to load and decode.
 * @type {Map<string, HTMLImageElement>}
 */
const lastPlayers = new Map();
/** Decoded, that is 24 MB: two large cutouts or a team of small ones. */
const MAX_LAST_PLAYERS_PIXELS = 6_000_000;

/** The shadow's longer side while it is drawn, its softness at that size, and how dark it is. */
const SHADOW_PX = 96;
const SHADOW_BLUR_PX = 2.2;
const SHADOW_OPACITY = 0.62;
/** The light that shines past the player from behind: wider than the shadow, and half as strong. */
const HALO_BLUR_PX = 4;
const HALO_OPACITY = 0.5;

/** Brightness of 0..255 from which a badge is light, and that its outline needs to stand out from the card's foot. */
const LIGHT_BADGE = 150;
const EDGE_ON_DEEP = 100;
const EDGE_ON_PALE = 110;

/** Steps of 255 within which a badge's corners count as one colour: a JPEG's noise. */
const SAME_COLOUR = 12;

/** Of 255: seen as a texture, not as dots. */
const GRAIN_ALPHA = 12;

/** A transparent pixel-sized picture, so that an <img> never shows its broken mark. */
const EMPTY = "data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==";

/**
 * Sets one card. Every call sets every value, so nothing of the card before is left. Whatever has to be waited for comes
 * first: the card then changes within one task, and the browser draws no frame of a half-set one.
 * @param {CardFill} fill
 * @returns {Promise<FillResult>}
 */
export async function fillCard(fill) {
  const start = performance.now();
  const card = /** @type {HTMLElement} */ (document.querySelector(".card"));
  const pictures = await bounded("pictures", readyPictures(card, fill));
  const picturesReady = performance.now();
  // A card that was gone and comes back at once is painted afresh. Of one that changed, only the changed parts are, and
  // where such a part ends the browser smooths edges a little differently.
  card.style.cssText = "display: none";
  card.getBoundingClientRect();
  // On the root, so that what lies outside the card has its colours too.
  const { style } = document.documentElement;
  style.cssText = "";
  for (const [name, value] of Object.entries(fill.variables)) style.setProperty(`--${name}`, value);
  for (const name of Object.keys({ ...card.dataset }))
    if (!(name in fill.attributes)) delete card.dataset[name];
  for (const [name, value] of Object.entries(fill.attributes)) card.dataset[name] = value;
  for (const [slot, text] of Object.entries(fill.texts)) {
    for (const element of card.querySelectorAll(`[data-slot="${slot}"]`)) element.textContent = text;
  }
  for (const [shown, ready] of pictures) shown.replaceWith(ready);
  if (fill.pictures.badge) describeBadge(card);
  const boxes = /** @type {NodeListOf<HTMLElement>} */ (card.querySelectorAll("[data-fit]"));
  for (const box of boxes) {
    box.lang = fill.lang;
    box.dir = fill.direction;
    /** @type {HTMLElement} */ (box.firstElementChild).removeAttribute("style");
  }
  card.style.display = "";
  await fontsReady(card);
  const fontsLoaded = performance.now();
  const [box] = boxes;
  if (!box) throw new Error('card.html has no element with data-fit="name"');
  const fit = fitText(box, fill.fit);
  card.style.visibility = "";
  return {
    fit,
    timingsMs: {
      pictures: picturesReady - start,
      fonts: fontsLoaded - picturesReady,
      fit: performance.now() - fontsLoaded,
    },
  };
}

/**
 * Waits for the fonts that the card's text needs, if one of them is new to this page. A card waits unseen. Throws when
 * one cannot be loaded.
 * @param {HTMLElement} card
 */
async function fontsReady(card) {
  // Layout makes the browser ask for the fonts; only then does `status` tell of them.
  card.getBoundingClientRect();
  if (document.fonts.status === "loading") {
    card.style.visibility = "hidden";
    await bounded("fonts", document.fonts.ready);
  }
  for (const face of document.fonts) {
    if (face.status === "error") throw new Error(`the font ${face.family} could not be loaded`);
  }
}

/**
 * For each `<img>` of the card its successor, decoded: the pictures of this card and the player's shadow.
 * @param {HTMLElement} card
 * @param {CardFill} fill
 * @returns {Promise<[shown: HTMLImageElement, ready: HTMLImageElement][]>}
 */
async function readyPictures(card, fill) {
  /** @param {string} selector @param {string} name @param {string | Promise<string>} wanted */
  const replace = async (selector, name, wanted) => {
    const shown = /** @type {HTMLImageElement | null} */ (card.querySelector(selector));
    const source = await wanted;
    if (!shown || shown.dataset.source === source) return [];
    const ready = await successor(shown, source, name);
    return [/** @type {[HTMLImageElement, HTMLImageElement]} */ ([shown, ready])];
  };
  const pictures = Object.entries(fill.pictures).map(([name, source]) =>
    replace(`img[data-picture="${name}"]`, name, source ?? EMPTY),
  );
  const shadow = replace('img[data-shadow="player"]', "shadow", drawShadow(fill));
  const ready = (await Promise.all([...pictures, shadow])).flat();
  const shown = /** @type {HTMLImageElement} */ (card.querySelector('img[data-picture="player"]'));
  const player = ready.find(([old]) => old === shown)?.[1] ?? shown;
  const rim = await replace('img[data-light="player"]', "light", rimLight(player, fill.light));
  return [...ready, ...rim];
}

/**
 * An `<img>` like `shown` with another picture, decoded.
 * @param {HTMLImageElement} shown
 * @param {string} source its address, or PICKED and a name
 * @param {string} name for the error
 */
async function successor(shown, source, name) {
  const last = lastPlayers.get(source);
  if (last) {
    keep(source, last);
    return last;
  }
  const ready = /** @type {HTMLImageElement} */ (shown.cloneNode(false));
  ready.dataset.source = source;
  const [picked] = source.startsWith(PICKED) ? (cutoutInput.files ?? []) : [];
  await decodeInto(ready, picked ?? source, name);
  if (!picked) return ready;
  const better = improved(ready, source.endsWith(SHARPER));
  if (better) await decodeInto(ready, better, name);
  keep(source, ready);
  return ready;
}

/** @param {HTMLImageElement} image @param {Blob | string} source @param {string} name for the error */
async function decodeInto(image, source, name) {
  const address = typeof source === "string" ? source : URL.createObjectURL(source);
  image.src = address;
  try {
    await image.decode();
  } catch {
    throw new Error(`the ${name} picture could not be decoded`);
  } finally {
    if (address !== source) URL.revokeObjectURL(address);
  }
}

/**
 * Keeps a player as the latest, and no more of the others than there is room for.
 * @param {string} source
 * @param {HTMLImageElement} player
 */
function keep(source, player) {
  lastPlayers.delete(source);
  lastPlayers.set(source, player);
  let pixels = 0;
  for (const [other, { naturalWidth, naturalHeight }] of [...lastPlayers].reverse()) {
    pixels += naturalWidth * naturalHeight;
    if (pixels > MAX_LAST_PLAYERS_PIXELS) lastPlayers.delete(other);
  }
}

/**
 * What stands behind the player, as the address of a picture for the template's `<img data-shadow="player">`: the light
 * that shines past them, and their shadow. Drawn from the outline, small and soft: enlarged it is what a CSS filter would
 * take twenty times as long to blur. A canvas in the page itself would become a layer of its own, and everything above
 * it another.
 * @param {CardFill} fill
 */
async function drawShadow({ outline: source, light }) {
  const player = new Image();
  player.src = source;
  await player.decode();
  const { naturalWidth: width, naturalHeight: height } = player;
  const scale = SHADOW_PX / Math.max(width, height);
  const [w, h] = [Math.max(4, Math.round(width * scale)), Math.max(4, Math.round(height * scale))];
  /** @param {string} colour @param {number} blurPx @param {number} opacity @param {number} shift towards the right */
  const soft = (colour, blurPx, opacity, shift) => {
    const canvas = document.createElement("canvas");
    canvas.width = w * 1.5;
    canvas.height = h * 1.5;
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    context.filter = `blur(${blurPx}px)`;
    context.drawImage(player, w / 4 + shift, h / 4, w, h);
    context.filter = "none";
    context.globalCompositeOperation = "source-in";
    context.globalAlpha = opacity;
    context.fillStyle = colour;
    context.fillRect(0, 0, canvas.width, canvas.height);
    return canvas;
  };
  const behind = soft(light.colour, HALO_BLUR_PX, HALO_OPACITY, light.side * 1.5);
  const shadow = soft("#000", SHADOW_BLUR_PX, SHADOW_OPACITY, -light.side * 1.5);
  const context = /** @type {CanvasRenderingContext2D} */ (behind.getContext("2d"));
  context.globalCompositeOperation = "source-over";
  context.globalAlpha = 1;
  context.drawImage(shadow, 0, 0);
  return behind.toDataURL();
}

/**
 * Tells the style sheet the badge's shape, whether it is light, whether it can do without a plate, and how large it
 * may get before it blurs.
 * @param {HTMLElement} card
 */
function describeBadge(card) {
  const image = /** @type {HTMLImageElement | null} */ (card.querySelector('img[data-picture="badge"]'));
  if (!image) return;
  const { light, edge, isCutOut, ground } = lookAtBadge(image);
  const stands = card.dataset.ground === "pale" ? edge < EDGE_ON_PALE : edge > EDGE_ON_DEEP;
  card.dataset.badge = light > LIGHT_BADGE ? "light" : "dark";
  card.dataset.mount = !isCutOut ? "plate" : stands ? "bare" : "outlined";
  const { naturalWidth: width, naturalHeight: height } = image;
  const { style } = document.documentElement;
  style.setProperty("--badge-aspect", String(width / height));
  if (ground) style.setProperty("--badge-ground", ground);
  style.setProperty("--badge-max", `${Math.max(width, height) * MAX_BADGE_ENLARGEMENT}px`);
}

/**
 * Mean brightness of a picture and of its outline, 0..255, whether its corners are transparent, and the colour it
 * stands on if its corners are all of one.
 * @param {HTMLImageElement} image
 */
function lookAtBadge(image) {
  const size = 32;
  const context = /** @type {OffscreenCanvasRenderingContext2D} */ (
    new OffscreenCanvas(size, size).getContext("2d", { willReadFrequently: true })
  );
  context.drawImage(image, 0, 0, size, size);
  const { data } = context.getImageData(0, 0, size, size);
  const alphaAt = (/** @type {number} */ x, /** @type {number} */ y) =>
    x < 0 || y < 0 || x >= size || y >= size ? 0 : (data[(y * size + x) * 4 + 3] ?? 0);
  let [weight, light, edges, edgeLight] = [0, 0, 0, 0];
  for (let i = 0; i < size * size; i++) {
    const [r = 0, g = 0, b = 0, alpha = 0] = data.subarray(i * 4, i * 4 + 4);
    const brightness = 0.2126 * r + 0.7152 * g + 0.0722 * b;
    weight += alpha;
    light += alpha * brightness;
    const [x, y] = [i % size, Math.floor(i / size)];
    const neighbours = [alphaAt(x - 1, y), alphaAt(x + 1, y), alphaAt(x, y - 1), alphaAt(x, y + 1)];
    if (alpha < 128 || Math.min(...neighbours) >= 128) continue;
    edges++;
    edgeLight += brightness;
  }
  const last = size - 1;
  const corners = [alphaAt(0, 0), alphaAt(last, 0), alphaAt(0, last), alphaAt(last, last)];
  const ground = [0, last, size * last, size * size - 1].map((i) => [...data.subarray(i * 4, i * 4 + 4)]);
  const [first = []] = ground;
  const isOne = ground.every((colour) =>
    colour.every((value, k) => Math.abs(value - (first[k] ?? 0)) <= SAME_COLOUR),
  );
  return {
    ground: isOne && first[3] === 255 ? `rgb(${first.slice(0, 3).join(" ")})` : null,
    light: light / Math.max(1, weight),
    edge: edgeLight / Math.max(1, edges),
    isCutOut: corners.filter((alpha) => alpha < 40).length >= 2 && weight > 0,
  };
}

/**
 * @template T
 * @param {string} what
 * @param {Promise<T>} work
 * @returns {Promise<T>}
 */
function bounded(what, work) {
  return Promise.race([
    work,
    new Promise((_, reject) =>
      setTimeout(
        () => reject(new Error(`${what} were not ready after ${READY_TIMEOUT_MS} ms`)),
        READY_TIMEOUT_MS,
      ),
    ),
  ]);
}

/**
 * Throws when the browser has no font of its own. It then refuses the bundled ones too, without a word, and a card would
 * have no letter on it.
 */
export function checkFonts() {
  const context = /** @type {OffscreenCanvasRenderingContext2D} */ (
    new OffscreenCanvas(1, 1).getContext("2d")
  );
  context.font = "16px sans-serif";
  if (context.measureText("0").width > 0) return;
  throw new Error(
    "Chromium finds no font of the system, and without one it draws no text at all. Install one, such as the Debian package fonts-dejavu-core.",
  );
}

/**
 * A tile of fine grain as a blob address; made once, the same on every machine. Three pixels of ten, black or white: noise
 * on every pixel looks no better, and a card would take 5 ms more to encode and 120 KB more to send.
 */
export async function makeGrain() {
  const size = 256;
  const canvas = new OffscreenCanvas(size, size);
  const context = /** @type {OffscreenCanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const pixels = context.createImageData(size, size);
  let state = 0x9e3779b9;
  for (let i = 0; i < size * size; i++) {
    // xorshift32 (Marsaglia, 2003)
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    const noise = ((state >>> 8) & 31) - 15.5;
    const grey = noise > 0 ? 255 : 0;
    pixels.data.set([grey, grey, grey, Math.abs(noise) > 11 ? GRAIN_ALPHA : 0], i * 4);
  }
  context.putImageData(pixels, 0, 0);
  return URL.createObjectURL(await canvas.convertToBlob({ type: "image/png" }));
}

Object.assign(globalThis, { cardpress: { fillCard, checkFonts, makeGrain, cutoutInput } });
