import { decodeInto } from "./decode.ts";

/**
 * Draws each code into its picture, once the picture has its place. Every module is the same number of whole
 * pixels, in the middle of the picture's box, so none is blurred or wider than its neighbour. Throws when a
 * picture is too small for that.
 * @param codes rows of modules by path, with the quiet zone, "1" for dark
 */
export async function drawCodes(card: HTMLElement, codes: Record<string, string[]>) {
  for (const [path, rows] of Object.entries(codes)) {
    const shown = card.querySelector<HTMLImageElement>(`img[data-picture="${path}"]`);
    const box = shown?.getBoundingClientRect();
    if (!shown || !box || box.width === 0 || box.height === 0) continue;
    const width = Math.round(box.right) - Math.round(box.left);
    const height = Math.round(box.bottom) - Math.round(box.top);
    const key = `${width}x${height} ${rows.join(" ")}`;
    if (shown.dataset.source === key) continue;
    const modulePx = Math.floor(Math.min(width, height) / rows.length);
    if (modulePx < 1)
      throw new Error(`the code ${path} has ${rows.length} modules and only ${width}x${height} pixels`);
    const canvas = new OffscreenCanvas(width, height);
    const context = canvas.getContext("2d") as OffscreenCanvasRenderingContext2D;
    context.fillStyle = "#fff";
    context.fillRect(0, 0, width, height);
    context.fillStyle = "#000";
    const left = Math.floor((width - rows.length * modulePx) / 2);
    const top = Math.floor((height - rows.length * modulePx) / 2);
    for (const [y, row] of rows.entries())
      for (const [x, module] of [...row].entries())
        if (module === "1") context.fillRect(left + x * modulePx, top + y * modulePx, modulePx, modulePx);
    const ready = shown.cloneNode(false) as HTMLImageElement;
    ready.dataset.source = key;
    await decodeInto(ready, await canvas.convertToBlob({ type: "image/png" }), path);
    shown.replaceWith(ready);
  }
}
