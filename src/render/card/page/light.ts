// Lights a player like the rest of a set, gives small photos sharper lines, and brings pictures to the size
// at which they are shown.

/**
 * The longer side in pixels at which the rim light is drawn: fine enough for an edge. Outlines are larger.
 */
const RIM_SIDE_PX = 320;

/** The longer side beyond which no card shows more detail. */
const LARGEST_PX = 2048;

/** Below this the browser halves once; with a margin for its rounding. */
const HALVED_ONCE = 3.5;

/** The rim light, at that size: how far it reaches inwards, how soft its inner side is, and its opacity. */
const RIM_PX = 2.2;
const RIM_BLUR_PX = 1.6;
const RIM_OPACITY = 0.62;

/** A small photo is enlarged by this factor and sharpened; the browser does the rest without sharpening. */
const ENLARGEMENT = 2;
/**
 * How much of the difference from a picture's own blur is added, and that blur in pixels. Differences below
 * NOISE_STEP, of 255, are noise and not amplified. Those above EDGE_STEP are edges: they gain no more than
 * that step does, or they would get a halo.
 */
const SHARPEN = 0.85;
const SHARPEN_BLUR_PX = 2;
const NOISE_STEP = 2.5;
const EDGE_STEP = 26;

/** The longer side at which a shadow is drawn, its blur at that size, and its opacity. */
const SHADOW_PX = 96;
const SHADOW_BLUR_PX = 2.2;
const SHADOW_OPACITY = 0.5;

export function canvasOf(width: number, height: number) {
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext("2d", { willReadFrequently: true }) as OffscreenCanvasRenderingContext2D;
  return { canvas, context };
}

/** Red, green and blue from 0 to 255 of `#rrggbb`. */
export function rgbOf(hex: string): [number, number, number] {
  const value = Number.parseInt(hex.slice(1), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

/**
 * The light that catches the player's edge from behind, as a data URL. The picture has the player's
 * proportions.
 * @param light its colour, and whether it comes from the right (1) or the left (-1)
 */
export function rimLight(outline: ImageBitmap, { colour, side }: { colour: string; side: 1 | -1 }) {
  const { width, height } = outline;
  const scale = Math.min(1, RIM_SIDE_PX / Math.max(width, height));
  const [w, h] = [Math.max(1, Math.round(width * scale)), Math.max(1, Math.round(height * scale))];
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [w, h];
  const context = canvas.getContext("2d") as CanvasRenderingContext2D;
  context.imageSmoothingQuality = "medium";
  context.drawImage(outline, 0, 0, w, h);
  context.globalCompositeOperation = "destination-out";
  context.filter = `blur(${RIM_BLUR_PX}px)`;
  context.drawImage(outline, -side * RIM_PX, RIM_PX * 0.7, w, h);
  context.filter = "none";
  context.globalCompositeOperation = "source-in";
  context.globalAlpha = RIM_OPACITY;
  context.fillStyle = colour;
  context.fillRect(0, 0, w, h);
  return canvas.toDataURL();
}

/**
 * The player's shadow, as a data URL for `<img data-picture="shadow">`. Drawn small and enlarged on the
 * card: a CSS filter would take twenty times as long, and a canvas in the page would become a layer of its
 * own, and everything above it another.
 * @param player the outline
 * @param light from which side it comes; the shadow falls to the other
 */
export function softShadow(player: ImageBitmap, { side }: { side: 1 | -1 }) {
  const { width, height } = player;
  const scale = SHADOW_PX / Math.max(width, height);
  const [w, h] = [Math.max(4, Math.round(width * scale)), Math.max(4, Math.round(height * scale))];
  const canvas = document.createElement("canvas");
  canvas.width = w * 1.5;
  canvas.height = h * 1.5;
  const context = canvas.getContext("2d") as CanvasRenderingContext2D;
  context.filter = `blur(${SHADOW_BLUR_PX}px)`;
  context.imageSmoothingQuality = "medium";
  context.drawImage(player, w / 4 - side * 1.5, h / 4, w, h);
  context.filter = "none";
  context.globalCompositeOperation = "source-in";
  context.globalAlpha = SHADOW_OPACITY;
  context.fillStyle = "#000";
  context.fillRect(0, 0, canvas.width, canvas.height);
  return canvas.toDataURL();
}

/**
 * A small player enlarged, with clearer lines. Done once a photo: a filter in the style sheet would cost
 * every card. Throws when the file cannot be decoded.
 * @returns a BMP file
 */
export async function sharpened(file: Blob): Promise<Blob> {
  // Decoded apart from the element: what an <img> has decoded to show, the browser decodes again for a
  // canvas.
  const decoded = await createImageBitmap(file).catch(() => {
    throw new Error("the player picture could not be decoded");
  });
  const scale = Math.min(ENLARGEMENT, LARGEST_PX / Math.max(decoded.width, decoded.height));
  const [w, h] = [Math.round(decoded.width * scale), Math.round(decoded.height * scale)];
  const { context } = canvasOf(w, h);
  context.imageSmoothingQuality = "high";
  context.drawImage(decoded, 0, 0, w, h);
  decoded.close();
  const picture = context.getImageData(0, 0, w, h);
  sharpen(picture);
  return bitmapFile(picture);
}

/**
 * A photo reduced to the largest size a card can show; null when it is no larger than that.
 * @returns a BMP file
 */
export function reduced(photo: HTMLImageElement): Blob | null {
  const scale = LARGEST_PX / Math.max(photo.naturalWidth, photo.naturalHeight);
  if (scale >= 1) return null;
  const [w, h] = [Math.round(photo.naturalWidth * scale), Math.round(photo.naturalHeight * scale)];
  const { context } = canvasOf(w, h);
  context.imageSmoothingQuality = "high";
  context.drawImage(photo, 0, 0, w, h);
  return bitmapFile(context.getImageData(0, 0, w, h));
}

/** How often a picture is to be halved for its box. */
export function halvingsOf(picture: HTMLImageElement) {
  const { width, height } = picture.getBoundingClientRect();
  if (width === 0 || height === 0) return 0;
  const times = Math.min(picture.naturalWidth / width, picture.naturalHeight / height);
  return Math.max(0, Math.ceil(Math.log2(times / HALVED_ONCE)));
}

/**
 * A picture halved that often. The result does not depend on what else was made of the picture before.
 * @returns a BMP file
 */
export async function halved(picture: HTMLImageElement, times: number): Promise<Blob> {
  const shrink = (side: number) => Math.max(1, Math.round(side / 2 ** times));
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

/**
 * An unsharp mask: amplifies differences from the picture's own blur, but no noise, and edges only so far.
 * @param picture changed in place
 */
function sharpen({ data, width, height }: ImageData) {
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

/**
 * How much is added for a difference from the blur.
 * @param difference of 255
 */
function gainOf(difference: number) {
  const size = Math.abs(difference);
  const beyondNoise = Math.max(0, size - NOISE_STEP);
  return Math.sign(difference) * SHARPEN * Math.min(beyondNoise, EDGE_STEP - NOISE_STEP);
}

/** A canvas's picture as a BMP file. */
export function fileOf(canvas: OffscreenCanvas) {
  const context = canvas.getContext("2d") as OffscreenCanvasRenderingContext2D;
  return bitmapFile(context.getImageData(0, 0, canvas.width, canvas.height));
}

/**
 * A BMP file with a version 4 header (Windows GDI, BITMAPV4HEADER): uncompressed pixels with alpha. Writing
 * and reading a PNG would take ten times as long, and this file is not kept.
 */
export function bitmapFile({ data, width, height }: ImageData) {
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
  return new Blob([head, data as Uint8ClampedArray<ArrayBuffer>], { type: "image/bmp" });
}
