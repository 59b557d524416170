// Runs inside the page. Type-checked through JSDoc, served as it is.
import { describeBadge } from "./badge.js";
import { bind, prepare, takeAttributes } from "./bind.js";
import { bounded } from "./bounded.js";
import { drawCodes } from "./codes.js";
import { decodeInto, loadInto } from "./decode.js";
import { drawBackdrop, drawnFor, fromOutline } from "./drawn.js";
import { checkFonts, fitText } from "./fit.js";
import { makeGrain } from "./grain.js";
import { fileOf, halved, halvingsOf, reduced, sharpened } from "./light.js";
import { loadNamed } from "./named-pictures.js";
import { leaveToPlate } from "./plates.js";
import { keepRecent } from "./recent.js";
import { sideOf } from "./sides.js";
import { originalOf, standIn } from "./stand-in.js";
import { straysOf, without } from "./strays.js";
import { showWatermark } from "./watermark.js";

/** @typedef {import("./bind.js").CardText} CardText */
/** @typedef {import("./bind.js").CardList} CardList */

/**
 * Everything that differs from card to card. Texts are untrusted and only ever become text nodes.
 * @typedef {{
 *   variables: Record<string, string>,
 *   attributes: Record<string, string>,
 *   texts: Record<string, CardText>,
 *   lists: Record<string, CardList>,
 *   pictures: Record<string, string | null>,
 *   codes: Record<string, string[]>,
 *   outline: string,
 *   seen: { from: number, to: number } | null,
 *   light: { colour: string, side: 1 | -1 } | null,
 *   edge: import("./outline.js").OutlineStyle | null,
 *   backdrop: import("./backdrop.js").BackdropStyle | null,
 *   header: import("../photo/page/decode.ts").Header | null,
 *   sides: import("./sides.js").Sides | null,
 *   watermark: string | null,
 * }} CardFill
 */

/**
 * An `<img>` of the template, or a canvas that stands in for it.
 * @typedef {HTMLImageElement | HTMLCanvasElement} Picture
 */

/** @typedef {{ fits: import("./fit.js").FitResult[], timingsMs: Record<string, number> }} FillResult */

/**
 * @typedef {{ x: number, y: number, width: number, height: number }} Part a rectangle in fractions of the
 *   card
 */

/**
 * The prefix of a picture's address that stands for the file in `cutoutInput`; the rest tells files apart.
 */
const PICKED = "picked:";

/** The prefix that stands for the whole photo in `photoInput`. */
const PHOTO = "photo:";

/** The prefix that stands for the ground drawn from that photo. */
const BACKDROP_PREFIX = "backdrop:";

/** The suffix of such an address when the photo is small and needs sharpening. */
const SHARPER = "+sharper";

/** What tells a further element of a picture that the card shows more than once from its first. */
const COPY = " copy ";

/** The file input through which the page receives the player's cutout. */
const cutoutInput = document.createElement("input");
cutoutInput.type = "file";
/** The file input for the photo itself, for templates that show it. */
const photoInput = document.createElement("input");
photoInput.type = "file";

/**
 * The most recent players, by source: a photo is often requested again soon, in another size or format, and
 * its cutout takes 6 to 70 ms to load and decode.
 * @type {Map<string, Picture>}
 */
const lastPlayers = new Map();
/**
 * 64 MB when decoded: what a handful of players' cards show in turn, cutouts, grounds and their halves. With
 * less than that, each card evicts what the next one asks for.
 */
const LAST_PLAYERS = {
  max: 16_000_000,
  /** @param {Picture} player */
  pixelsOf: (player) =>
    player instanceof HTMLCanvasElement
      ? player.width * player.height
      : player.naturalWidth * player.naturalHeight,
};

/** The pictures that come from a photo. */
const PHOTOGRAPHIC = ["player", "photo"];
/**
 * Fills in one card. Each call sets every value, so nothing of the previous card remains. Whatever takes time
 * comes first: the card then changes within one task, and the browser never draws it half filled.
 * @param {CardFill} fill
 * @returns {Promise<FillResult>}
 */
export async function fillCard(fill) {
  const start = performance.now();
  const card = theCard();
  const pictures = await bounded("pictures", readyPictures(card, fill));
  const rating = fill.sides && (await sideOf(fill.outline, fill.sides));
  const picturesReady = performance.now();
  // Hiding and showing the card makes the browser repaint all of it. Otherwise only changed parts are
  // repainted, and at their borders edges are smoothed slightly differently.
  card.style.cssText = "display: none";
  card.getBoundingClientRect();
  dress(card, fill.variables, fill.attributes);
  for (const [shown, ready] of pictures) shown.replaceWith(ready);
  const drawn = drawnFor(fill);
  for (const picture of picturesOf(card)) {
    const name = picture.dataset.picture ?? "";
    picture.hidden = (fill.pictures[name] ?? null) === null && !drawn.includes(name) && !(name in fill.codes);
  }
  if (fill.pictures.badge) describeBadge(card);
  if (rating) Object.assign(card.dataset, { side: rating.side, hides: rating.hides ? "yes" : "no" });
  for (const box of card.querySelectorAll("[data-fit]")) box.firstElementChild?.removeAttribute("style");
  bind(card, fill);
  showWatermark(fill.watermark);
  card.style.display = "";
  await fontsReady(card);
  const fontsLoaded = performance.now();
  const boxes = /** @type {NodeListOf<HTMLElement>} */ (card.querySelectorAll("[data-fit]"));
  // A picture without a box is hidden, itself or by an ancestor.
  const fits = [...boxes].filter((box) => box.getClientRects().length > 0).map(fitText);
  await bounded("pictures", reducePictures(card));
  await bounded("pictures", drawCodes(card, fill.codes));
  card.style.visibility = "";
  return {
    fits,
    timingsMs: {
      pictures: picturesReady - start,
      fonts: fontsLoaded - picturesReady,
      fit: performance.now() - fontsLoaded,
    },
  };
}

function theCard() {
  return /** @type {HTMLElement} */ (document.querySelector(".card"));
}

/**
 * @param {HTMLElement} card
 * @param {Record<string, string>} variables custom properties without their dashes
 * @param {Record<string, string>} attributes by their names in `dataset`
 */
function dress(card, variables, attributes) {
  // Set on the root, so that what is outside the card has its colours too.
  const { style } = document.documentElement;
  style.cssText = "";
  for (const [name, value] of Object.entries(variables)) style.setProperty(`--${name}`, value);
  for (const name of Object.keys({ ...card.dataset })) if (!(name in attributes)) delete card.dataset[name];
  for (const [name, value] of Object.entries(attributes)) card.dataset[name] = value;
}

/**
 * The boxes of the template's zones on a card with these variables and attributes, in each of these
 * compositions, without those that a composition hides. No other contents may move them, since they are
 * measured once for all cards of a size. Throws when a zone has a size in none.
 * @param {Record<string, string>} variables
 * @param {Record<string, string>} attributes
 * @param {string[]} compositions
 * @returns {Record<string, Record<string, Part>>}
 */
export function measureZones(variables, attributes, compositions) {
  const card = theCard();
  card.style.cssText = "";
  /** @type {Record<string, Record<string, Part>>} */
  const measured = {};
  for (const composition of compositions) {
    dress(card, variables, { ...attributes, composition });
    measured[composition] = zonesOf(card);
  }
  for (const { name } of zoneElements(card))
    if (!Object.values(measured).some((zones) => name in zones))
      throw new Error(`the zone "${name}" has no size: place it in card.css, with width and height`);
  return measured;
}

/** @param {HTMLElement} card */
const zoneElements = (card) =>
  [...card.querySelectorAll("[data-zone]")].map((element) => ({
    name: /** @type {HTMLElement} */ (element).dataset.zone ?? "",
    element,
  }));

/** @param {HTMLElement} card */
function zonesOf(card) {
  const whole = card.getBoundingClientRect();
  /** @type {Record<string, Part>} */
  const zones = {};
  for (const { name, element } of zoneElements(card)) {
    const box = element.getBoundingClientRect();
    if (box.width <= 0 || box.height <= 0) continue;
    zones[name] = {
      x: part(box.x - whole.x, whole.width),
      y: part(box.y - whole.y, whole.height),
      width: part(box.width, whole.width),
      height: part(box.height, whole.height),
    };
  }
  return zones;
}

/**
 * Rounded, since layout counts in 64ths of a pixel and the style sheet gave a rounder number.
 * @param {number} length
 * @param {number} whole
 */
function part(length, whole) {
  return Math.round((length / whole) * 10_000) / 10_000;
}

/**
 * Waits for any fonts the card's text needs that this page has not loaded yet. The card is invisible
 * meanwhile. Throws when one cannot be loaded.
 * @param {HTMLElement} card
 */
async function fontsReady(card) {
  // Layout makes the browser request the fonts; only then does `status` include them.
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
 * Switches to another card.html, keeping what is loaded and decoded. Scripts in it do not run. Throws when it
 * requires another layout mode, which an open page cannot change.
 * @param {string} html
 */
export function remake(html) {
  const next = new DOMParser().parseFromString(html, "text/html");
  if (next.compatMode !== document.compatMode) throw new Error("the doctype changed");
  takeAttributes(document.documentElement, next.documentElement);
  document.querySelector("body")?.replaceWith(document.adoptNode(next.body));
  const card = theCard();
  prepare(card);
  for (const [source, player] of lastPlayers) {
    const shown = card.querySelector(`img[data-picture="${player.dataset.picture}"]`);
    if (shown && !source.includes(COPY) && player instanceof HTMLImageElement)
      takeAttributes(player, shown, ["src", "data-source"]);
    else lastPlayers.delete(source);
  }
}

/** @param {HTMLElement} card @returns {Picture[]} */
function picturesOf(card) {
  return [...card.querySelectorAll(`img[data-picture], canvas[data-picture]`)].map(
    (picture) => /** @type {Picture} */ (picture),
  );
}

/**
 * A decoded replacement for each `<img>` of the card whose picture changes.
 * @param {HTMLElement} card
 * @param {CardFill} fill
 * @returns {Promise<[shown: Picture, ready: Picture][]>}
 */
async function readyPictures(card, fill) {
  const strays = fill.seen && (await straysOf(fill.outline, fill.seen));
  const outline = strays?.outline ?? fill.outline;
  /** @param {string} name @param {() => string | null | Promise<string>} wanted */
  const replace = async (name, wanted) => {
    const shown = picturesOf(card).filter(({ dataset }) => dataset.picture === name);
    const source = shown.length > 0 && (await wanted());
    if (!source) return [];
    /** @type {[Picture, Picture][]} */
    const replaced = [];
    for (const [copy, each] of shown.entries()) {
      if (leaveToPlate(each, source)) continue;
      // An element stands in one place: a picture that is shown twice has an element for each.
      const own = copy === 0 ? source : `${source}${COPY}${copy}`;
      const key = strays && name === "player" ? `${own} without ${strays.key}` : own;
      if (each.dataset.source === key) continue;
      const whole = await successor(each, source, name, fill, own);
      const isPlayer = strays && key !== own && whole instanceof HTMLImageElement;
      const ready = isPlayer ? await cleared(whole, strays.parts, key) : whole;
      replaced.push([each, ready]);
    }
    return replaced;
  };
  const pictures = Object.entries(fill.pictures).map(([name, source]) => replace(name, () => source));
  const drawn = drawnFor(fill).map((name) => replace(name, () => fromOutline(name, { ...fill, outline })));
  return (await Promise.all([...pictures, ...drawn])).flat();
}

/**
 * An `<img>` like `shown`, or what stands in for one, with another picture already decoded. Throws when that
 * fails.
 * @param {Picture} shown
 * @param {string} source the picture's address, or PICKED or PHOTO followed by what tells files apart
 * @param {string} name the picture's, for the error
 * @param {CardFill} fill
 * @param {string} key what tells this element's picture apart
 */
async function successor(shown, source, name, fill, key) {
  const last = lastPlayers.get(key);
  if (last) {
    keepRecent(lastPlayers, key, last, LAST_PLAYERS);
    return last;
  }
  const ready = /** @type {HTMLImageElement} */ (originalOf(shown).cloneNode(false));
  ready.dataset.source = key;
  if (source.startsWith(BACKDROP_PREFIX)) {
    const ground = await drawBackdrop(photoInput.files?.[0], fill);
    const canvas = standIn(shown, ground, key);
    if (!canvas) await decodeInto(ready, fileOf(ground), name);
    keepRecent(lastPlayers, key, canvas ?? ready, LAST_PLAYERS);
    return canvas ?? ready;
  }
  const input = source.startsWith(PICKED) ? cutoutInput : source.startsWith(PHOTO) ? photoInput : null;
  const [picked] = input?.files ?? [];
  if (picked && input === cutoutInput) {
    await loadInto(ready, source.endsWith(SHARPER) ? await sharpened(picked) : picked, name);
  } else await decodeInto(ready, picked ?? source, name);
  if (!picked) return ready;
  const smaller = input === photoInput ? reduced(ready) : null;
  if (smaller) await decodeInto(ready, smaller, name);
  keepRecent(lastPlayers, key, ready, LAST_PLAYERS);
  return ready;
}

/**
 * An `<img>` like `player`, without these parts.
 * @param {HTMLImageElement} player decoded
 * @param {OffscreenCanvas} parts
 * @param {string} key what tells this picture apart
 */
async function cleared(player, parts, key) {
  const known = /** @type {HTMLImageElement | undefined} */ (lastPlayers.get(key));
  const ready = known ?? /** @type {HTMLImageElement} */ (player.cloneNode(false));
  if (!known) await decodeInto(ready, without(player, parts), "player");
  ready.dataset.source = key;
  keepRecent(lastPlayers, key, ready, LAST_PLAYERS);
  return ready;
}

/**
 * Reduces pictures that are shown far smaller than they are, as often to half as leaves the browser one half
 * at most. It would do all of it too, but begin with whichever smaller one it still has of other cards, and
 * so the same card would come out differently after others.
 * @param {HTMLElement} card
 */
async function reducePictures(card) {
  for (const shown of picturesOf(card)) {
    if (shown instanceof HTMLCanvasElement) continue;
    const { source = "", picture: name = "" } = shown.dataset;
    const halvings = PHOTOGRAPHIC.includes(name) && !source.startsWith("/") ? halvingsOf(shown) : 0;
    if (halvings === 0) continue;
    const key = `${source} halved ${halvings}`;
    const known = /** @type {HTMLImageElement | undefined} */ (lastPlayers.get(key));
    const ready = known ?? /** @type {HTMLImageElement} */ (shown.cloneNode(false));
    if (!known) await decodeInto(ready, await halved(shown, halvings), name);
    ready.dataset.source = key;
    ready.hidden = shown.hidden;
    keepRecent(lastPlayers, key, ready, LAST_PLAYERS);
    shown.replaceWith(ready);
  }
}

prepare(theCard());
Object.assign(globalThis, {
  cardpress: {
    fillCard,
    measureZones,
    remake,
    loadNamed,
    checkFonts,
    makeGrain,
    cutoutInput,
    photoInput,
  },
});
