// Runs inside the page of a card, for its designer only: says what was set and where.
import type { Box } from "../../../core/card.ts";

/** Marks an element while the browser is asked for its fonts. */
const MARK = "data-cardpress-look";

/**
 * Lines within this part of the font's size of each other are one: marks and small capitals shift a
 * rectangle.
 */
const SAME_LINE = 0.5;

/** WCAG 2.2, 1.4.3: large is 24 px, or 18.66 px and bold. */
const LARGE_PX = 24;
const LARGE_BOLD_PX = 18.66;
/** The shorter side of a card as it is mostly asked for. */
const COMMON_SIDE_PX = 1024;

/** The part of the ink that counts: a letter's edge is half ground. */
const CORE_OF_INK = 0.2;
/** Of 765, the three channels together: less is noise of the encoder, or no ink at all. */
const LEAST_DIFFERENCE = 18;

const plain = ({ x, y, width, height }: DOMRect | Box): Box => ({ x, y, width, height });

const card = () => document.querySelector(".card") as HTMLElement;

const ownText = (element: Element) =>
  [...element.childNodes].filter(
    (node) => node.nodeType === Node.TEXT_NODE && (node.textContent ?? "").trim(),
  );

const rectsOf = (nodes: Node[]) =>
  nodes.flatMap((node) => {
    const range = document.createRange();
    range.selectNodeContents(node);
    return [...range.getClientRects()].filter((r) => r.width > 0 && r.height > 0);
  });

const union = (rects: Box[]): Box => {
  const x = Math.min(...rects.map((r) => r.x));
  const y = Math.min(...rects.map((r) => r.y));
  const right = Math.max(...rects.map((r) => r.x + r.width));
  const bottom = Math.max(...rects.map((r) => r.y + r.height));
  return { x, y, width: right - x, height: bottom - y };
};

/** @param element the data attribute or class by which its designer knows it */
const labelOf = (element: HTMLElement) => {
  for (let at: HTMLElement | null = element; at && at !== card(); at = at.parentElement) {
    const name = at.dataset.text;
    if (name) return name;
    if (at.className && typeof at.className === "string") return `.${at.className.trim().split(/\s+/)[0]}`;
  }
  return element.tagName.toLowerCase();
};

/** The box that a text should stay in: its fitted box, else the nearest block. */
const boxOf = (element: HTMLElement) => {
  const fitted = element.closest<HTMLElement>("[data-fit]");
  if (fitted) return fitted;
  let at = element;
  while (at.parentElement && at !== card() && getComputedStyle(at).display.startsWith("inline"))
    at = at.parentElement;
  return at;
};

/** The nearest box that cuts what stands out of it. */
const clipOf = (element: HTMLElement) => {
  for (let at: HTMLElement | null = element; at; at = at.parentElement)
    if (at === card() || getComputedStyle(at).overflow !== "visible") return at;
  return card();
};

/** Whether a text is rotated, or runs from top to bottom. */
const isTurned = (element: HTMLElement) => {
  for (let at: HTMLElement | null = element; at && at !== card(); at = at.parentElement) {
    const { writingMode, rotate, transform } = getComputedStyle(at);
    if (writingMode !== "horizontal-tb" || rotate !== "none") return true;
    if (transform !== "none" && Math.abs(new DOMMatrix(transform).b) > 0.001) return true;
  }
  return false;
};

/**
 * What is seen of a text: a box that cuts it with an ellipsis leaves the rest unseen, as its designer
 * wants. Along its lines only: accents that the box cuts off are a fault.
 */
const seenInk = (ink: Box, clip: HTMLElement, turned: boolean): Box => {
  if (getComputedStyle(clip).textOverflow !== "ellipsis") return ink;
  const { left, right, top, bottom } = clip.getBoundingClientRect();
  const x = Math.min(Math.max(ink.x, left), right);
  const across = { ...ink, x, width: Math.max(0, Math.min(ink.x + ink.width, right) - x) };
  if (!turned) return across;
  const y = Math.min(Math.max(ink.y, top), bottom);
  return { ...across, y, height: Math.max(0, Math.min(ink.y + ink.height, bottom) - y) };
};

/** @param slackY px that a font's own height may stand out */
const standsOut = (ink: Box, box: Box, slackY: number) =>
  Math.max(
    0,
    box.x - ink.x - 1,
    ink.x + ink.width - box.x - box.width - 1,
    box.y - ink.y - slackY,
    ink.y + ink.height - box.y - box.height - slackY,
  );

const lookAt = (element: HTMLElement, index: number) => {
  const rects = rectsOf(ownText(element));
  if (rects.length === 0) return null;
  const style = getComputedStyle(element);
  const fontPx = Number.parseFloat(style.fontSize);
  const box = boxOf(element);
  const turned = isTurned(element);
  const ink = seenInk(union(rects), clipOf(element), turned);
  const area = box.getBoundingClientRect();
  const tops = rects.map((r) => r.y).sort((a, b) => a - b);
  const lines = tops.filter((top, i) => i === 0 || top - (tops[i - 1] ?? 0) > fontPx * SAME_LINE).length;
  const across = Math.max(
    standsOut(ink, { ...plain(area), y: ink.y, height: ink.height }, 0),
    standsOut(ink, plain(clipOf(element).getBoundingClientRect()), fontPx * 0.45),
    standsOut(ink, plain(card().getBoundingClientRect()), fontPx * 0.3),
  );
  element.setAttribute(MARK, String(index));
  // Pictures are made in any size and seen in any other: as large as on one of a common size.
  const { width, height } = card().getBoundingClientRect();
  const seenPx = (fontPx * COMMON_SIDE_PX) / Math.min(width, height);
  const isBold = Number.parseInt(style.fontWeight, 10) >= 700;
  const isLarge = seenPx >= LARGE_PX || (seenPx >= LARGE_BOLD_PX && isBold);
  const text = ownText(element)
    .map((node) => node.textContent ?? "")
    .join("");
  return {
    index,
    label: labelOf(element),
    text,
    box: plain(area),
    ink,
    fontPx,
    lines,
    fitted: element.closest("[data-fit]") !== null,
    shortened: text.trimEnd().endsWith("…"),
    fill: ink.width / Math.max(1, area.width),
    overflowPx: turned ? 0 : across,
    families: style.fontFamily.split(",").map((name) => name.trim().replace(/^["']|["']$/g, "")),
    neededContrast: isLarge ? 3 : 4.5,
  };
};

const isSeen = (element: HTMLElement) =>
  element.closest("[hidden], [aria-hidden='true'], [data-zone]") === null &&
  element.checkVisibility({ visibilityProperty: true, opacityProperty: true });

/** What the printer leaves of the picture; null for a card without bleed. */
const trim = () => {
  const bleed = Number.parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--bleed"));
  if (!(bleed > 0)) return null;
  return { x: bleed, y: bleed, width: innerWidth - 2 * bleed, height: innerHeight - 2 * bleed };
};

const isMark = (element: Element) => {
  // Of the pictures that a card brings, only the badge is set on it: all others are its ground or its
  // player.
  if (element instanceof HTMLImageElement) return (element.dataset.picture ?? "badge") === "badge";
  if (element instanceof SVGSVGElement) return element.ownerSVGElement === null;
  return (
    element !== card() &&
    element instanceof HTMLElement &&
    getComputedStyle(element).backgroundImage.includes("url(")
  );
};

/** Where a picture is seen in its box. */
const seenBox = (element: Element) => {
  const box = plain(element.getBoundingClientRect());
  const style = getComputedStyle(element);
  if (!(element instanceof HTMLImageElement) || !/^(contain|scale-down)$/.test(style.objectFit)) return box;
  const { naturalWidth, naturalHeight } = element;
  if (!naturalWidth || !naturalHeight) return box;
  const scale = Math.min(box.width / naturalWidth, box.height / naturalHeight);
  const [width, height] = [naturalWidth * scale, naturalHeight * scale];
  const [across = 0.5, down = 0.5] = style.objectPosition
    .split(" ")
    .map((part) => (part.endsWith("%") ? Number.parseFloat(part) / 100 : undefined));
  return { x: box.x + (box.width - width) * across, y: box.y + (box.height - height) * down, width, height };
};

const markLabel = (element: Element) =>
  (element instanceof HTMLElement && element.dataset.picture) || labelOf(element as HTMLElement);

const marks = () =>
  [...card().querySelectorAll("*")]
    .filter((each) => isSeen(each as HTMLElement) && isMark(each))
    .map((each) => ({ label: markLabel(each), box: seenBox(each) }))
    .filter(({ box }) => box.width > 0 && box.height > 0);

/** What the page has set: boxes, zones and texts. */
const look = () => {
  const all = [card(), ...card().querySelectorAll("*")] as HTMLElement[];
  const texts = all.filter((each) => ownText(each).length > 0 && isSeen(each)).map(lookAt);
  const zones = card().querySelectorAll<HTMLElement>("[data-zone]");
  const player = card().querySelector<HTMLImageElement>(
    'img[data-picture="player"], img[data-picture="photo"]',
  );
  const pictures = [...card().querySelectorAll("img")].filter((img) => isSeen(img));
  // Those of the library are known where this is asked, and so many that telling them takes a second.
  const sheets = [...document.styleSheets].filter((sheet) => !sheet.href?.endsWith("/library.css"));
  const faces = sheets.flatMap((sheet) =>
    [...sheet.cssRules].filter((rule) => rule instanceof CSSFontFaceRule).map(fontFace),
  );
  return {
    card: plain(card().getBoundingClientRect()),
    zones: [...zones].map((zone) => ({
      name: zone.dataset.zone ?? "",
      box: plain(zone.getBoundingClientRect()),
    })),
    texts: texts.filter((each) => each !== null),
    trim: trim(),
    marks: marks(),
    player: player && isSeen(player) ? plain(player.getBoundingClientRect()) : null,
    brokenPictures: pictures
      .filter((img) => img.complete && img.naturalWidth === 0 && img.getAttribute("src"))
      .map((img) => img.getAttribute("src") ?? ""),
    faces,
  };
};

const fontFace = ({ style }: CSSFontFaceRule) => ({
  family: style.getPropertyValue("font-family").replace(/^["']|["']$/g, ""),
  source: /url\(["']?([^"')]+)/.exec(style.getPropertyValue("src"))?.[1] ?? "",
  range: style.getPropertyValue("unicode-range"),
});

const HIDDEN = `.card, .card * { -webkit-text-fill-color: transparent !important; -webkit-text-stroke-color: transparent !important;
  text-shadow: none !important; text-decoration-color: transparent !important; }
  .card [data-cardpress-clipped] { background: none !important; }`;
const hiding = new CSSStyleSheet();
hiding.replaceSync(HIDDEN);

/** Takes every letter off the card and nothing else. */
const hideTexts = () => {
  for (const each of card().querySelectorAll("*"))
    if (getComputedStyle(each).backgroundClip.includes("text"))
      each.setAttribute("data-cardpress-clipped", "");
  document.adoptedStyleSheets.push(hiding);
};
const showTexts = () => {
  document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => sheet !== hiding);
  for (const each of card().querySelectorAll("[data-cardpress-clipped]"))
    each.removeAttribute("data-cardpress-clipped");
};
const unmark = () => {
  for (const each of document.querySelectorAll(`[${MARK}]`)) each.removeAttribute(MARK);
};

/** @param base64 a PNG */
const pixels = async (base64: string) => {
  const bytes = Uint8Array.fromBase64(base64);
  const bitmap = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
  const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d", {
    willReadFrequently: true,
  }) as OffscreenCanvasRenderingContext2D;
  // What is transparent is seen on the page that shows the card: white is the hardest and the most frequent.
  context.fillStyle = "#fff";
  context.fillRect(0, 0, bitmap.width, bitmap.height);
  context.drawImage(bitmap, 0, 0);
  return context.getImageData(0, 0, bitmap.width, bitmap.height);
};

const linear = (v: number) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
const luminance = (data: Uint8ClampedArray, i: number) =>
  0.2126 * linear((data[i] ?? 0) / 255) +
  0.7152 * linear((data[i + 1] ?? 0) / 255) +
  0.0722 * linear((data[i + 2] ?? 0) / 255);

/**
 * The contrast of texts with what lies under them, from a picture with and one without letters: whatever
 * makes a letter's colour, gradients and blending too, is in the pixels. The median over the core of the
 * strokes.
 */
const contrasts = (withText: ImageData, without: ImageData, boxes: Box[]) =>
  boxes.map((box) => {
    const x = Math.max(0, Math.floor(box.x));
    const y = Math.max(0, Math.floor(box.y));
    const width = Math.min(withText.width - x, Math.ceil(box.width) + 1);
    const height = Math.min(withText.height - y, Math.ceil(box.height) + 1);
    if (width < 1 || height < 1) return null;
    const part = { x, y, width, height };
    return contrastOf(partOf(withText, part), partOf(without, part));
  });

const partOf = ({ data, width }: ImageData, part: Box) => {
  const out = new Uint8ClampedArray(part.width * part.height * 4);
  for (let row = 0; row < part.height; row++) {
    const from = ((part.y + row) * width + part.x) * 4;
    out.set(data.subarray(from, from + part.width * 4), row * part.width * 4);
  }
  return out;
};

/** @param ground the same place without letters */
const contrastOf = (ink: Uint8ClampedArray, ground: Uint8ClampedArray) => {
  const differences = new Uint16Array(ink.length / 4);
  const counts = new Uint32Array(766);
  for (let i = 0; i < ink.length; i += 4) {
    const difference =
      Math.abs((ink[i] ?? 0) - (ground[i] ?? 0)) +
      Math.abs((ink[i + 1] ?? 0) - (ground[i + 1] ?? 0)) +
      Math.abs((ink[i + 2] ?? 0) - (ground[i + 2] ?? 0));
    differences[i / 4] = difference;
    counts[difference] = (counts[difference] ?? 0) + 1;
  }
  const inked = counts.subarray(LEAST_DIFFERENCE).reduce((sum, count) => sum + count, 0);
  if (inked === 0) return 1;
  // The strongest part of the differences is the core of the strokes.
  let [from, core] = [765, 0];
  const wanted = Math.max(8, inked * CORE_OF_INK);
  for (; from > LEAST_DIFFERENCE; from--) {
    core += counts[from] ?? 0;
    if (core >= wanted) break;
  }
  const ratios = [];
  for (let k = 0; k < differences.length; k++) {
    if ((differences[k] ?? 0) < from) continue;
    const [l, m] = [luminance(ink, k * 4) + 0.05, luminance(ground, k * 4) + 0.05];
    ratios.push(Math.max(l, m) / Math.min(l, m));
  }
  ratios.sort((p, q) => p - q);
  return ratios[Math.floor(ratios.length / 2)] ?? 1;
};

/**
 * @param withText a PNG
 * @param without a PNG
 */
const contrastsOfShots = async (withText: string, without: string, boxes: Box[]) =>
  contrasts(await pixels(withText), await pixels(without), boxes);

/**
 * The contrasts by what the page itself paints, which takes a tenth of two screenshots' time; null in a
 * browser that cannot.
 */
const contrastsInCanvas = async (boxes: Box[]) => {
  const { cardpressCanvas: canvas } = globalThis as unknown as {
    cardpressCanvas: typeof import("../../card/page/canvas.ts");
  };
  try {
    const pictures = await canvas.compare(innerWidth, innerHeight, hideTexts);
    return pictures && contrasts(...pictures, boxes);
  } finally {
    showTexts();
  }
};

Object.assign(globalThis, {
  cardpressLook: { look, hideTexts, showTexts, unmark, contrastsInCanvas, contrastsOfShots },
});
