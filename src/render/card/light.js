// Runs inside the page. Type-checked through JSDoc, served as it is. Measures a player's photo and lights it like the rest
// of a set: a gentle grade, an edge of light in the card's colour, and sharper lines where the photo was small.

/**
 * The factor for each channel of a photo, and what is then added to all of them, as a fraction of white.
 * @typedef {{ slope: [number, number, number], intercept: number }} Grade
 */

/** The longer side in pixels for measuring and lighting a player: fine enough for an edge, fast enough for every photo. */
const SMALL_PX = 320;

/** The longer side beyond which no card shows more detail. */
const LARGEST_PX = 2048;

/** The fractions of the pixels that count as the darkest and as the brightest tones. */
const DARKEST = 0.02;
const BRIGHTEST = 0.98;
/** The values those tones should have, 0..1: a hazy photo has no black, a dull one no white. */
const BLACK = 0.05;
const WHITE = 0.9;
/** The limits of a grade. Every skin keeps its tone: middle tones move by at most about 4% of white. */
const MAX_DARKER = 0.05;
const MAX_GAIN = 1.08;
const MAX_BALANCE = 0.035;
/** Smaller changes are invisible. */
const SEEN = 0.03;
/**
 * A pixel counts as grey up to this saturation; with a smaller fraction of grey pixels than this, the white balance
 * cannot be determined.
 */
const GREY_SATURATION = 0.16;
const MIN_GREYS = 0.08;

/** Below this the browser halves once, with a margin for its rounding. */
const HALVED_ONCE = 3.5;

/** The rim light, at the small size: how far it reaches inwards, how soft its inner side is, and its opacity. */
const RIM_PX = 2.2;
const RIM_BLUR_PX = 1.6;
const RIM_OPACITY = 0.62;

/**
 * A small photo is first enlarged by this factor and sharpened; the browser then enlarges it further, without
 * sharpening.
 */
const ENLARGEMENT = 2;
/**
 * How much of its difference from its own blur is added when sharpening, and the size of that blur in pixels. Differences
 * in brightness below NOISE_STEP, of 255, are noise and not amplified; those above EDGE_STEP are edges, which would get a
 * halo, and gain no more than that step does.
 */
const SHARPEN = 0.85;
const SHARPEN_BLUR_PX = 2;
const NOISE_STEP = 2.5;
const EDGE_STEP = 26;

/** @type {WeakMap<HTMLImageElement, OffscreenCanvas>} */
const smalls = new WeakMap();
/** @type {WeakMap<HTMLImageElement, { key: string, address: string }>} */
const rims = new WeakMap();

/** @param {number} width @param {number} height */
function canvasOf(width, height) {
  const canvas = new OffscreenCanvas(width, height);
  const context = /** @type {OffscreenCanvasRenderingContext2D} */ (
    canvas.getContext("2d", { willReadFrequently: true })
  );
  return { canvas, context };
}

/** @param {HTMLImageElement} player @param {ImageBitmap} [decoded] the same picture, if it is at hand */
function smallOf(player, decoded) {
  const known = smalls.get(player);
  if (known) return known;
  const { width, height } = decoded ?? { width: player.naturalWidth, height: player.naturalHeight };
  const scale = Math.min(1, SMALL_PX / Math.max(width, height));
  const { canvas, context } = canvasOf(
    Math.max(1, Math.round(width * scale)),
    Math.max(1, Math.round(height * scale)),
  );
  // Evenly reduced: an edge drawn from single pixels flickers along hair.
  context.imageSmoothingQuality = "medium";
  context.drawImage(decoded ?? player, 0, 0, canvas.width, canvas.height);
  smalls.set(player, canvas);
  return canvas;
}

/**
 * The grade that moves a player's tones towards those of the others: black to black, white to white, grey to grey, each
 * only part of the way; null when it would not be visible.
 * @param {OffscreenCanvas} small
 * @returns {Grade | null}
 */
function measure(small) {
  const context = /** @type {OffscreenCanvasRenderingContext2D} */ (small.getContext("2d"));
  const { data } = context.getImageData(0, 0, small.width, small.height);
  const tones = new Uint32Array(256);
  const grey = /** @type {[number, number, number]} */ ([0, 0, 0]);
  let [count, greys] = [0, 0];
  for (let i = 0; i < data.length; i += 4) {
    if ((data[i + 3] ?? 0) < 230) continue;
    // Read one by one: a view of each pixel took ten times as long.
    const [r, g, b] = [data[i] ?? 0, data[i + 1] ?? 0, data[i + 2] ?? 0];
    const tone = Math.round(0.2126 * r + 0.7152 * g + 0.0722 * b);
    tones[tone] = (tones[tone] ?? 0) + 1;
    count++;
    const most = Math.max(r, g, b);
    if (tone < 60 || tone > 235 || most - Math.min(r, g, b) > most * GREY_SATURATION) continue;
    greys++;
    grey[0] += r;
    grey[1] += g;
    grey[2] += b;
  }
  if (count === 0) return null;
  const toneAt = (/** @type {number} */ part) => {
    let below = 0;
    for (let tone = 0; tone < 256; tone++) {
      below += tones[tone] ?? 0;
      if (below >= part * count) return tone / 255;
    }
    return 1;
  };
  const [dark, bright] = [toneAt(DARKEST), toneAt(BRIGHTEST)];
  const lower = Math.min(MAX_DARKER, Math.max(0, dark - BLACK));
  const gain = Math.min(MAX_GAIN, Math.max(1, WHITE / Math.max(0.01, bright)));
  // What the dark end loses is given back towards the bright end.
  const slope = gain * (1 + lower * 0.9);
  const mean = grey.reduce((sum, value) => sum + value, 0) / 3;
  const balance = grey.map((value) =>
    greys < count * MIN_GREYS || value === 0
      ? 1
      : Math.min(1 + MAX_BALANCE, Math.max(1 - MAX_BALANCE, 1 + (mean / value - 1) * 0.7)),
  );
  const [r = 1, g = 1, b = 1] = balance.map((value) => Math.round(value * slope * 1000) / 1000);
  const isSeen = lower > SEEN || [r, g, b].some((value) => Math.abs(value - 1) > SEEN);
  return isSeen ? { slope: [r, g, b], intercept: Math.round(-lower * 1000) / 1000 } : null;
}

/**
 * The light that catches the player's edge from behind, as the data URL of a picture with the player's proportions.
 * @param {HTMLImageElement} player
 * @param {{ colour: string, side: 1 | -1 }} light its colour, and whether it comes from the right (1) or the left (-1)
 */
export function rimLight(player, { colour, side }) {
  const key = `${colour} ${side}`;
  const known = rims.get(player);
  if (known?.key === key) return known.address;
  const small = smallOf(player);
  const { width: w, height: h } = small;
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [w, h];
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  context.drawImage(small, 0, 0);
  context.globalCompositeOperation = "destination-out";
  context.filter = `blur(${RIM_BLUR_PX}px)`;
  context.drawImage(small, -side * RIM_PX, RIM_PX * 0.7);
  context.filter = "none";
  context.globalCompositeOperation = "source-in";
  context.globalAlpha = RIM_OPACITY;
  context.fillStyle = colour;
  context.fillRect(0, 0, w, h);
  const address = canvas.toDataURL();
  rims.set(player, { key, address });
  return address;
}

/**
 * The player's file in the tones of the set, no larger than a card can show and, if `sharper`, with clearer lines; null
 * when it can stay as it is. Done once per photo: with a filter in the style sheet, every card would pay for it.
 * @param {HTMLImageElement} player the element that will show it
 * @param {Blob} file
 * @param {boolean} sharper
 * @returns {Promise<Blob | null>} a BMP file
 */
export async function improved(player, file, sharper) {
  // Decoded once, apart from the element: what an <img> has decoded to show, the browser decodes again for a canvas.
  const decoded = await createImageBitmap(file).catch(() => {
    throw new Error("the player picture could not be decoded");
  });
  try {
    return improvement(player, decoded, sharper);
  } finally {
    decoded.close();
  }
}

/** @param {HTMLImageElement} player @param {ImageBitmap} decoded @param {boolean} sharper */
function improvement(player, decoded, sharper) {
  const grade = measure(smallOf(player, decoded));
  const most = LARGEST_PX / Math.max(decoded.width, decoded.height);
  const scale = Math.min(sharper ? ENLARGEMENT : 1, most);
  if (!grade && !sharper && scale === 1) return null;
  const [w, h] = [Math.round(decoded.width * scale), Math.round(decoded.height * scale)];
  const { context } = canvasOf(w, h);
  context.imageSmoothingQuality = "high";
  context.drawImage(decoded, 0, 0, w, h);
  const picture = context.getImageData(0, 0, w, h);
  if (sharper) sharpen(picture);
  if (grade) toneIn(grade, picture.data);
  return bitmapFile(picture);
}

/**
 * A photo reduced to the largest size a card can show; null when it is no larger than that.
 * @param {HTMLImageElement} photo
 * @returns {Blob | null} a BMP file
 */
export function reduced(photo) {
  const scale = LARGEST_PX / Math.max(photo.naturalWidth, photo.naturalHeight);
  if (scale >= 1) return null;
  const [w, h] = [Math.round(photo.naturalWidth * scale), Math.round(photo.naturalHeight * scale)];
  const { context } = canvasOf(w, h);
  context.imageSmoothingQuality = "high";
  context.drawImage(photo, 0, 0, w, h);
  return bitmapFile(context.getImageData(0, 0, w, h));
}

/** How often a picture is to be halved for its box. @param {HTMLImageElement} picture */
export function halvingsOf(picture) {
  const { width, height } = picture.getBoundingClientRect();
  if (width === 0 || height === 0) return 0;
  const times = Math.min(picture.naturalWidth / width, picture.naturalHeight / height);
  return Math.max(0, Math.ceil(Math.log2(times / HALVED_ONCE)));
}

/**
 * A picture reduced to half as often as that. Whatever else was made of it before, the same comes out.
 * @param {HTMLImageElement} picture
 * @param {number} times
 * @returns {Promise<Blob>} a BMP file
 */
export async function halved(picture, times) {
  const shrink = (/** @type {number} */ side) => Math.max(1, Math.round(side / 2 ** times));
  const bitmap = await createImageBitmap(picture, {
    resizeWidth: shrink(picture.naturalWidth),
    resizeHeight: shrink(picture.naturalHeight),
    resizeQuality: "medium",
  });
  const { width, height } = bitmap;
  const { context } = canvasOf(width, height);
  context.drawImage(bitmap, 0, 0);
  bitmap.close();
  return bitmapFile(context.getImageData(0, 0, width, height));
}

/** @param {Grade} grade @param {Uint8ClampedArray} data */
function toneIn({ slope, intercept }, data) {
  const [reds, greens, blues] = slope.map((factor) =>
    Uint8ClampedArray.from({ length: 256 }, (_, value) => value * factor + intercept * 255),
  );
  if (!reds || !greens || !blues) return;
  for (let i = 0; i < data.length; i += 4) {
    // Nothing is added to black, so what is transparent stays as it is: half of most cutouts.
    if (data[i + 3] === 0) continue;
    data[i] = reds[data[i] ?? 0] ?? 0;
    data[i + 1] = greens[data[i + 1] ?? 0] ?? 0;
    data[i + 2] = blues[data[i + 2] ?? 0] ?? 0;
  }
}

/**
 * An unsharp mask: amplifies differences from the picture's own blur, but not noise, and at edges only up to a limit.
 * @param {ImageData} picture changed in place
 */
function sharpen({ data, width, height }) {
  const { canvas, context } = canvasOf(width, height);
  context.putImageData(new ImageData(new Uint8ClampedArray(data), width, height), 0, 0);
  const blurred = canvasOf(width, height).context;
  blurred.filter = `blur(${SHARPEN_BLUR_PX}px)`;
  blurred.drawImage(canvas, 0, 0);
  const soft = blurred.getImageData(0, 0, width, height).data;
  const gains = Float32Array.from({ length: 511 }, (_, i) => gainOf(i - 255));
  for (let i = 0; i < data.length; i += 4) {
    // Next to transparent pixels the blur is meaningless.
    if ((soft[i + 3] ?? 0) < 250) continue;
    for (let k = i; k < i + 3; k++)
      data[k] = (data[k] ?? 0) + (gains[255 + (data[k] ?? 0) - (soft[k] ?? 0)] ?? 0);
  }
}

/** How much is added for a difference from the blur. @param {number} difference of 255 */
function gainOf(difference) {
  const size = Math.abs(difference);
  const beyondNoise = Math.max(0, size - NOISE_STEP);
  return Math.sign(difference) * SHARPEN * Math.min(beyondNoise, EDGE_STEP - NOISE_STEP);
}

/**
 * Writes a picture as a BMP file with a version 4 header (Windows GDI, BITMAPV4HEADER): uncompressed pixels with alpha.
 * Writing and reading a PNG would take ten times as long, and this file is not kept.
 * @param {ImageData} picture
 */
function bitmapFile({ data, width, height }) {
  const head = new DataView(new ArrayBuffer(14 + 108));
  const [BITFIELDS, SRGB] = [3, 0x73524742];
  head.setUint16(0, 0x424d);
  head.setUint32(2, head.byteLength + data.length, true);
  head.setUint32(10, head.byteLength, true);
  head.setUint32(14, 108, true);
  head.setInt32(18, width, true);
  // Negative: rows run from the top.
  head.setInt32(22, -height, true);
  head.setUint16(26, 1, true);
  head.setUint16(28, 32, true);
  head.setUint32(30, BITFIELDS, true);
  head.setUint32(34, data.length, true);
  for (const [k, mask] of [0xff, 0xff00, 0xff0000, 0xff000000].entries())
    head.setUint32(54 + 4 * k, mask, true);
  head.setUint32(70, SRGB, true);
  return new Blob([head, /** @type {Uint8ClampedArray<ArrayBuffer>} */ (data)], { type: "image/bmp" });
}
