import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { colourOdds } from "../../src/render/photo/page/colour_evidence.js";
import { patches } from "../../src/render/photo/page/masks.js";
import { measureQuality } from "../../src/render/photo/page/quality.js";
import { openLab, type Pixels, photo } from "./photo_lab.ts";

// Opening a browser with every network takes seconds on a busy machine.
setDefaultTimeout(60_000);

let lab: Awaited<ReturnType<typeof openLab>>;
beforeAll(async () => {
  lab = await openLab();
});
afterAll(() => lab?.close());

/** A player whose outline is known, set before another background and cut out again: both on the same canvas. */
async function cutOutAgain(player: string, background: string) {
  const first = await lab.cutOut(photo(player));
  if (!first.ok) throw new Error(first.reason);
  const { width, height, bytes } = first.cutout;
  const margin = Math.round(0.25 * Math.max(width, height));
  const size: [number, number] = [width + 2 * margin, height + 2 * margin];
  const set = { bytes, at: [margin, margin, width, height] };
  const truth = await lab.draw(size, [set]);
  const scene = await lab.draw(size, [{ bytes: photo(background), at: [0, 0, ...size] }, set]);
  const again = await lab.cutOut(scene.png);
  if (!again.ok) throw new Error(again.reason);
  const { inPhoto, ...cutout } = again.cutout;
  const at = [Math.round(inPhoto.x * size[0]), Math.round(inPhoto.y * size[1]), cutout.width, cutout.height];
  const found = await lab.draw(size, [{ bytes: cutout.bytes, at }]);
  return { truth, found };
}

const alphaOf = ({ rgba }: Pixels, pixel: number) => rgba[4 * pixel + 3] ?? 0;

/** Pixels that are clearly the player in one picture and clearly not in the other, against the player's size. */
function wrongPart(truth: Pixels, found: Pixels): number {
  let size = 0;
  let wrong = 0;
  for (let i = 0; i < truth.rgba.length / 4; i++) {
    const [a, b] = [alphaOf(truth, i), alphaOf(found, i)];
    if (a > 128) size++;
    if (Math.abs(a - b) > 145) wrong++;
  }
  return wrong / size;
}

/** Mean distance of the colours at the new edge from the player's own there, in levels of a channel. */
function rimDistance(truth: Pixels, found: Pixels): number {
  let pixels = 0;
  let distance = 0;
  for (let i = 0; i < truth.rgba.length / 4; i++) {
    const alpha = alphaOf(found, i);
    if (alpha <= 40 || alpha >= 215 || alphaOf(truth, i) <= 20) continue;
    pixels++;
    for (let k = 4 * i; k < 4 * i + 3; k++)
      distance += Math.abs((truth.rgba[k] ?? 0) - (found.rgba[k] ?? 0)) / 3;
  }
  return distance / pixels;
}

describe("a player before another background", () => {
  test("keeps limbs and loses the wall, and the wall's colour at the rim", async () => {
    const { truth, found } = await cutOutAgain("yoga.jpg", "brick.png");
    const measured = { wrong: wrongPart(truth, found), rim: rimDistance(truth, found) };
    console.log(JSON.stringify(measured));
    expect(measured.wrong).toBeLessThan(0.05);
    expect(measured.rim).toBeLessThan(22);
  });

  test("has open gaps between arms and body, and takes no car along", async () => {
    const { truth, found } = await cutOutAgain("skier.jpg", "road.jpg");
    const { width, height } = truth;
    const { labels, sizes } = patches(width * height, width, (i) => alphaOf(truth, i) < 8);
    let gap = 0;
    let alpha = 0;
    for (let i = 0; i < labels.length; i++) {
      const label = labels[i] ?? 0;
      if (label === 0 || label === labels[0] || (sizes[label] ?? 0) < 0.002 * width * height) continue;
      gap++;
      alpha += alphaOf(found, i) / 255;
    }
    const measured = { gap, alpha: alpha / gap, wrong: wrongPart(truth, found) };
    console.log(JSON.stringify(measured));
    expect(gap).toBeGreaterThan(500);
    expect(measured.alpha).toBeLessThan(0.15);
    expect(measured.wrong).toBeLessThan(0.06);
  });
});

test("quality counts a hole in the face, an opening and a patch apart", () => {
  const width = 100;
  const alpha = new Uint8ClampedArray(width * 100);
  const fill = (x0: number, y0: number, x1: number, y1: number, value: number) => {
    for (let y = y0; y < y1; y++) for (let x = x0; x < x1; x++) alpha[y * width + x] = value;
  };
  const face = { x: 40, y: 20, width: 20, height: 20 };
  fill(20, 10, 80, 60, 255);
  expect(measureQuality(alpha, width, face)).toEqual({ head: 1, holes: 0, islands: 0 });
  fill(45, 25, 55, 35, 0);
  fill(0, 80, 20, 90, 255);
  const { head, holes, islands } = measureQuality(alpha, width, face);
  expect(head).toBeWithin(0.4, 0.6);
  expect(holes).toBeCloseTo(100 / 3100, 5);
  expect(islands).toBeCloseTo(200 / 3100, 5);
});

test("a gap's colours tell it from the player although nothing else does", () => {
  // A red player to the left, a green background to the right, and an unknown column between them that is green.
  const width = 60;
  const belief = new Float32Array(width * 60);
  const rgba = new Uint8ClampedArray(4 * belief.length).fill(255);
  for (let i = 0; i < belief.length; i++) {
    const x = i % width;
    belief[i] = x < 25 ? 1 : x < 35 ? 0.5 : 0;
    rgba.set(x < 25 ? [200, 30, 30] : [30, 160, 40], 4 * i);
  }
  const odds = colourOdds(belief, rgba, width, () => true);
  expect(odds[30 * width + 30]).toBeLessThan(-1);
  expect(odds[30 * width + 20]).toBeGreaterThan(1);
});
