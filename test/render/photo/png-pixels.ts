import { inflateSync } from "node:zlib";

/** The colours of a PNG of 8 bits without transparency or interlacing, row by row, three bytes a pixel. */
export function pngPixels(file: Uint8Array): { width: number; height: number; rgb: Uint8Array } {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const [width, height] = [view.getUint32(16), view.getUint32(20)];
  if (view.getUint32(24) >>> 8 !== 0x080200)
    throw new Error("Only plain PNGs of 8 bits a colour are read here.");
  const parts: Uint8Array[] = [];
  for (let at = 8; at < file.length; at += 12 + view.getUint32(at)) {
    if (view.getUint32(at + 4) === 0x49444154) parts.push(file.subarray(at + 8, at + 8 + view.getUint32(at)));
  }
  const rows = inflateSync(Buffer.concat(parts));
  const rgb = new Uint8Array(width * height * 3);
  const stride = width * 3;
  for (let y = 0; y < height; y++) {
    const filter = rows[y * (stride + 1)] ?? 0;
    for (let x = 0; x < stride; x++) {
      const at = y * stride + x;
      const left = x < 3 ? 0 : (rgb[at - 3] ?? 0);
      const above = y === 0 ? 0 : (rgb[at - stride] ?? 0);
      const corner = x < 3 || y === 0 ? 0 : (rgb[at - stride - 3] ?? 0);
      rgb[at] = (rows[y * (stride + 1) + 1 + x] ?? 0) + predicted(filter, left, above, corner);
    }
  }
  return { width, height, rgb };
}

/** https://www.w3.org/TR/png-3/#9Filters */
function predicted(filter: number, left: number, above: number, corner: number): number {
  if (filter < 4) return [0, left, above, (left + above) >> 1][filter] ?? 0;
  const [a, b, c] = [left, above, corner].map((value) => Math.abs(left + above - corner - value));
  return (a ?? 0) <= (b ?? 0) && (a ?? 0) <= (c ?? 0) ? left : (b ?? 0) <= (c ?? 0) ? above : corner;
}
