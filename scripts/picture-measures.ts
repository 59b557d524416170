import type { Browser } from "puppeteer-core";
import type { Cutout, Framing } from "../src/core/card.ts";
import { openSealedPage, type PageFile } from "../src/render/browser/browser.ts";

/** What can be measured about a cutout. Shares are fractions of 1. */
export interface CutoutMeasures {
  /**
   * Area of enclosed transparent regions relative to the solid player: mistakes, or genuine gaps between arms
   * and body.
   */
  holes: number;
  /** Area of solid patches other than the largest, relative to the solid player. */
  islands: number;
  /** Fraction of the head's middle that is opaque; 1 is complete. */
  head: number;
  /**
   * Fraction of the soft edge that is clearly brighter than the player beside it: a rim of the old
   * background.
   */
  rim: number;
  /** Fraction of the soft edge whose colour is far from the player's beside it, brighter or darker. */
  stain: number;
  /** Fraction of the cutout's box that the player covers. */
  cover: number;
  /** Number of labelled points on other people that are solid in the cutout. */
  company: number;
}

export interface Measurer {
  /** `others` are points on other people, in the cutout's pixels. */
  measure(cutout: Cutout, others: { x: number; y: number }[]): Promise<CutoutMeasures>;
  close(): Promise<void>;
}

/** Decodes and measures cutouts in a page, with the same decoder that cards use. */
export async function openMeasurer(browser: Browser): Promise<Measurer> {
  const files = new Map<string, PageFile>([["/", { body: "<!doctype html>", contentType: "text/html" }]]);
  const page = await openSealedPage(browser, (path) => files.get(path), "/");
  return {
    async measure({ bytes, framing }, others) {
      files.set("/cutout", { body: bytes, contentType: "image/png" });
      return page.evaluate(measureInPage, framing, others);
    },
    close: () => page.close(),
  };
}

async function measureInPage(
  { face, head }: Framing,
  others: { x: number; y: number }[],
): Promise<CutoutMeasures> {
  /**
   * How far inside the player to sample the colour that the edge is compared with, as a fraction of the
   * longer side.
   */
  const INSIDE_PART = 0.012;
  const image = new Image();
  image.src = `/cutout?${Math.random()}`;
  await image.decode();
  const { naturalWidth: width, naturalHeight: height } = image;
  const context = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
  if (!context) throw new Error("no canvas");
  context.drawImage(image, 0, 0);
  const { data } = context.getImageData(0, 0, width, height);
  const cells = width * height;
  const alpha = (i: number) => data[4 * i + 3] as number;
  const light = (i: number) =>
    0.3 * (data[4 * i] as number) + 0.59 * (data[4 * i + 1] as number) + 0.11 * (data[4 * i + 2] as number);

  /** Sizes of four-connected patches, and whether each touches the border. */
  const patches = (inside: (cell: number) => boolean) => {
    const seen = new Uint8Array(cells);
    const stack = new Int32Array(cells);
    const found: { size: number; atBorder: boolean }[] = [];
    for (let start = 0; start < cells; start++) {
      if (seen[start] || !inside(start)) continue;
      let [depth, size, atBorder] = [0, 0, false];
      seen[start] = 1;
      stack[depth++] = start;
      while (depth > 0) {
        const cell = stack[--depth] as number;
        const x = cell % width;
        size++;
        if (x === 0 || x === width - 1 || cell < width || cell >= cells - width) atBorder = true;
        const beside = [x > 0 ? cell - 1 : -1, x < width - 1 ? cell + 1 : -1, cell - width, cell + width];
        for (const next of beside) {
          if (next < 0 || next >= cells || seen[next] || !inside(next)) continue;
          seen[next] = 1;
          stack[depth++] = next;
        }
      }
      found.push({ size, atBorder });
    }
    return found;
  };
  const solid = patches((i) => alpha(i) > 128).map(({ size }) => size);
  const area = Math.max(
    1,
    solid.reduce((sum, size) => sum + size, 0),
  );
  const holes = patches((i) => alpha(i) < 64).reduce((sum, p) => sum + (p.atBorder ? 0 : p.size), 0);

  // From the chin to the hair above the brow; without a face, the middle of the head, whose box is generous.
  const oval = face
    ? {
        x: face.x + face.width / 2,
        y: face.y + 0.42 * face.height,
        rx: 0.42 * face.width,
        ry: 0.6 * face.height,
      }
    : {
        x: head.x + head.width / 2,
        y: head.y + head.height / 2,
        rx: 0.28 * head.width,
        ry: 0.33 * head.height,
      };
  let [headCells, opaque] = [0, 0];
  for (let y = Math.max(0, Math.floor(oval.y - oval.ry)); y < Math.min(height, oval.y + oval.ry); y++) {
    for (let x = Math.max(0, Math.floor(oval.x - oval.rx)); x < Math.min(width, oval.x + oval.rx); x++) {
      if (((x + 0.5 - oval.x) / oval.rx) ** 2 + ((y + 0.5 - oval.y) / oval.ry) ** 2 > 1) continue;
      headCells++;
      if (alpha(y * width + x) >= 242) opaque++;
    }
  }

  const reach = Math.max(2, Math.round(INSIDE_PART * Math.max(width, height)));
  let [edge, rim, stain] = [0, 0, 0];
  for (let i = 0; i < cells; i++) {
    if (alpha(i) < 60 || alpha(i) > 225) continue;
    const [x, y] = [i % width, Math.floor(i / width)];
    let inside = -1;
    for (let step = 1; step <= reach && inside < 0; step++) {
      for (const [dx, dy] of [
        [step, 0],
        [-step, 0],
        [0, step],
        [0, -step],
      ] as const) {
        const [nx, ny] = [x + dx, y + dy];
        if (nx < 0 || ny < 0 || nx >= width || ny >= height || alpha(ny * width + nx) < 252) continue;
        // A little further in, where no background is mixed in.
        const [fx, fy] = [nx + Math.sign(dx) * 2, ny + Math.sign(dy) * 2];
        const further = fx >= 0 && fy >= 0 && fx < width && fy < height ? fy * width + fx : ny * width + nx;
        inside = alpha(further) >= 252 ? further : ny * width + nx;
        break;
      }
    }
    if (inside < 0) continue;
    edge++;
    if (light(i) - light(inside) > 48) rim++;
    const far = Math.hypot(
      ...[0, 1, 2].map((k) => (data[4 * i + k] as number) - (data[4 * inside + k] as number)),
    );
    if (far > 90) stain++;
  }
  const company = others.filter(({ x, y }) => {
    const [px, py] = [Math.round(x), Math.round(y)];
    return px >= 0 && py >= 0 && px < width && py < height && alpha(py * width + px) > 128;
  }).length;
  return {
    holes: holes / area,
    islands: 1 - Math.max(0, ...solid) / area,
    head: headCells ? opaque / headCells : 0,
    rim: edge ? rim / edge : 0,
    stain: edge ? stain / edge : 0,
    cover: area / cells,
    company,
  };
}
