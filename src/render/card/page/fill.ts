// Fills in one card after the other: what the process outside calls, as `globalThis.cardpress`.

import type { Part } from "../placement/template-layout.ts";
import { describeBadge } from "./badge.ts";
import { bind, prepare, takeAttributes } from "./bind.ts";
import { bounded } from "./bounded.ts";
import { drawCodes } from "./codes.ts";
import { decodeInto, loadInto } from "./decode.ts";
import { drawBackdrop, drawnFor, fromOutline } from "./drawn.ts";
import { checkFonts, fitText } from "./fit.ts";
import { makeGrain } from "./grain.ts";
import { fileOf, halved, halvingsOf, reduced, sharpened } from "./light.ts";
import type { CardFill, FillResult } from "./messages.ts";
import { loadNamed } from "./named-pictures.ts";
import { leaveToPlate } from "./plates.ts";
import { keepRecent } from "./recent.ts";
import { sideOf } from "./sides.ts";
import { originalOf, standIn } from "./stand-in.ts";
import { straysOf, without } from "./strays.ts";
import { showWatermark } from "./watermark.ts";

/** An `<img>` of the template, or a canvas in its place. */
type Picture = HTMLImageElement | HTMLCanvasElement;

/** A picture's address with this prefix stands for the file in `cutoutInput`; the rest tells files apart. */
const PICKED = "picked:";

/** With this one, for the whole photo in `photoInput`. */
const PHOTO = "photo:";

/** With this one, for the ground drawn from that photo. */
const BACKDROP_PREFIX = "backdrop:";

/** The suffix of an address whose photo is small and needs sharpening. */
const SHARPER = "+sharper";

/** Tells apart the elements of a picture that the card shows more than once. */
const COPY = " copy ";

/** The file input through which the page receives the player's cutout. */
const cutoutInput = document.createElement("input");
cutoutInput.type = "file";
/** The file input for the photo itself, for templates that show it. */
const photoInput = document.createElement("input");
photoInput.type = "file";

/** By source. A photo is often asked for again soon, and its cutout takes 6 to 70 ms to load and decode. */
const lastPlayers = new Map<string, Picture>();
/**
 * 64 MB when decoded: what the cards of a handful of players show in turn, cutouts, grounds and their
 * halves. With less, each card drops what the next one asks for.
 */
const LAST_PLAYERS = {
  max: 16_000_000,
  pixelsOf: (player: Picture) =>
    player instanceof HTMLCanvasElement
      ? player.width * player.height
      : player.naturalWidth * player.naturalHeight,
};

/** The pictures that come from a photo. */
const PHOTOGRAPHIC = ["player", "photo"];

/**
 * Fills in one card. Each call sets every value, so nothing of the card before remains. What takes time
 * comes first: the card then changes within one task, and the browser never draws it half filled.
 */
export async function fillCard(fill: CardFill): Promise<FillResult> {
  const start = performance.now();
  const card = theCard();
  const pictures = await bounded("pictures", readyPictures(card, fill));
  const rating = fill.sides && (await sideOf(fill.outline, fill.sides));
  const picturesReady = performance.now();
  // Hidden and shown again, all of the card is repainted. Where only parts are, edges are smoothed slightly
  // differently at their borders.
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
  const boxes = card.querySelectorAll<HTMLElement>("[data-fit]");
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
  return document.querySelector(".card") as HTMLElement;
}

/**
 * @param variables custom properties without their dashes
 * @param attributes by their names in `dataset`
 */
function dress(card: HTMLElement, variables: Record<string, string>, attributes: Record<string, string>) {
  // Set on the root, so that what is outside the card has its colours too.
  const { style } = document.documentElement;
  style.cssText = "";
  for (const [name, value] of Object.entries(variables)) style.setProperty(`--${name}`, value);
  for (const name of Object.keys({ ...card.dataset })) if (!(name in attributes)) delete card.dataset[name];
  for (const [name, value] of Object.entries(attributes)) card.dataset[name] = value;
}

/**
 * The boxes of the template's zones on a card with these variables and attributes, in each of these
 * compositions, without those that a composition hides. They are measured once for all cards of a size, so
 * no other content may move them. Throws when a zone has no size in any composition.
 */
export function measureZones(
  variables: Record<string, string>,
  attributes: Record<string, string>,
  compositions: string[],
): Record<string, Record<string, Part>> {
  const card = theCard();
  card.style.cssText = "";
  const measured: Record<string, Record<string, Part>> = {};
  for (const composition of compositions) {
    dress(card, variables, { ...attributes, composition });
    measured[composition] = zonesOf(card);
  }
  for (const { name } of zoneElements(card))
    if (!Object.values(measured).some((zones) => name in zones))
      throw new Error(`the zone "${name}" has no size: place it in card.css, with width and height`);
  return measured;
}

const zoneElements = (card: HTMLElement) =>
  [...card.querySelectorAll<HTMLElement>("[data-zone]")].map((element) => ({
    name: element.dataset.zone ?? "",
    element,
  }));

function zonesOf(card: HTMLElement) {
  const whole = card.getBoundingClientRect();
  const zones: Record<string, Part> = {};
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

/** Rounded: layout counts in 64ths of a pixel, and the style sheet gave a rounder number. */
function part(length: number, whole: number) {
  return Math.round((length / whole) * 10_000) / 10_000;
}

/**
 * Waits for the fonts that the card's text needs and this page has not loaded yet; the card is invisible
 * meanwhile. Throws when one cannot be loaded.
 */
async function fontsReady(card: HTMLElement) {
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
 * Switches to another card.html, keeping what is loaded and decoded. Scripts in it do not run. Throws when
 * it needs another layout mode, which an open page cannot change.
 */
export function remake(html: string) {
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

function picturesOf(card: HTMLElement): Picture[] {
  return [...card.querySelectorAll<Picture>("img[data-picture], canvas[data-picture]")];
}

/** A decoded replacement for each `<img>` of the card whose picture changes. */
async function readyPictures(card: HTMLElement, fill: CardFill): Promise<[shown: Picture, ready: Picture][]> {
  const strays = fill.seen && (await straysOf(fill.outline, fill.seen));
  const outline = strays?.outline ?? fill.outline;
  const replace = async (name: string, wanted: () => string | null | Promise<string>) => {
    const shown = picturesOf(card).filter(({ dataset }) => dataset.picture === name);
    const source = shown.length > 0 && (await wanted());
    if (!source) return [];
    const replaced: [Picture, Picture][] = [];
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
 * An `<img>` like `shown`, or the canvas in its place, with another picture already decoded. Throws when
 * that fails.
 * @param source the picture's address, or PICKED or PHOTO followed by what tells files apart
 * @param name the picture's, for the error
 * @param key what tells this element's picture apart
 */
async function successor(shown: Picture, source: string, name: string, fill: CardFill, key: string) {
  const last = lastPlayers.get(key);
  if (last) {
    keepRecent(lastPlayers, key, last, LAST_PLAYERS);
    return last;
  }
  const ready = originalOf(shown).cloneNode(false) as HTMLImageElement;
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
 * @param player decoded
 * @param key what tells this picture apart
 */
async function cleared(player: HTMLImageElement, parts: OffscreenCanvas, key: string) {
  const known = lastPlayers.get(key) as HTMLImageElement | undefined;
  const ready = known ?? (player.cloneNode(false) as HTMLImageElement);
  if (!known) await decodeInto(ready, without(player, parts), "player");
  ready.dataset.source = key;
  keepRecent(lastPlayers, key, ready, LAST_PLAYERS);
  return ready;
}

/**
 * Halves pictures that are shown far smaller than they are, until the browser has one halving left at most.
 * Left to do all of it, the browser starts from whichever smaller copy it still has of other cards, and the
 * same card would come out differently after others.
 */
async function reducePictures(card: HTMLElement) {
  for (const shown of picturesOf(card)) {
    if (shown instanceof HTMLCanvasElement) continue;
    const { source = "", picture: name = "" } = shown.dataset;
    const halvings = PHOTOGRAPHIC.includes(name) && !source.startsWith("/") ? halvingsOf(shown) : 0;
    if (halvings === 0) continue;
    const key = `${source} halved ${halvings}`;
    const known = lastPlayers.get(key) as HTMLImageElement | undefined;
    const ready = known ?? (shown.cloneNode(false) as HTMLImageElement);
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
