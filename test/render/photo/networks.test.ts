import { expect, test } from "bun:test";
import { join } from "node:path";
import { type NetworkName, openNetworks } from "../../../src/render/photo/networks.ts";
import { pngPixels } from "./png-pixels.ts";

// What LiteRT 2.5.3 answered for MediaPipe's own files, given the same bytes: some values of each output by their places.
// Detectors: the surest finding, with its box. The networks here are those files rewritten, so only rounding may differ.
const ORIGINALS: [NetworkName, size: number, outputs: Record<string, Record<number, number>>][] = [
  [
    "faceDetector",
    192,
    {
      scores: { 748: 1.9872, 100: -2.6535 },
      boxes: { 11968: -1.077, 11969: -2.109, 11970: 54.158, 11971: 54.178 },
    },
  ],
  [
    "personDetector",
    224,
    {
      scores: { 1720: 2.0733, 100: -243.0594 },
      boxes: { 20640: 2.136, 20641: -1.767, 20642: 44.855, 20643: 44.823 },
    },
  ],
  [
    "poseLandmarks",
    256,
    {
      landmarks: { 0: 117.2768, 1: 59.441, 3: 12.8758, 60: 73.1878 },
      presence: { 0: 0.9691 },
      mask: { 6553: -1116.2133, 21626: 136.1739, 32768: 0.0455, 43253: -17.7825, 58982: 1.0224 },
    },
  ],
  [
    "carefulPoseLandmarks",
    256,
    {
      landmarks: { 0: 110.894, 1: 60.1645, 3: 19.6598, 60: 73.8283 },
      presence: { 0: 1 },
      mask: { 6553: -25.9819, 21626: 14.444, 32768: -12.1404, 43253: -67.0482, 58982: -26.1047 },
    },
  ],
  ["personMask", 256, { mask: { 6553: 0, 21626: 1, 32768: 0, 43253: 0, 58982: 1 } }],
  [
    "bodyParts",
    256,
    { parts: { 39321: -1.0617, 129761: -1.0864, 196608: 2.9469, 259522: -1.0606, 353894: -0.9455 } },
  ],
];

const networks = openNetworks(1);
const photo = pngPixels(await Bun.file(join(import.meta.dir, "../../photos/astronaut.png")).bytes());

/** Every second pixel of the photo, from its top left. */
function smallPhoto(size: number) {
  const data = new Uint8Array(size * size * 3);
  for (let i = 0; i < data.length; i++) {
    const [pixel, channel] = [Math.floor(i / 3), i % 3];
    const from = 2 * Math.floor(pixel / size) * photo.width + 2 * (pixel % size);
    data[i] = photo.rgb[3 * from + channel] ?? 0;
  }
  return { data, dims: [1, size, size, 3] };
}

for (const [name, size, originals] of ORIGINALS) {
  test(`${name} answers as the network that it was converted from`, async () => {
    const outputs = await networks.run(name, smallPhoto(size));
    expect(Object.keys(outputs).sort()).toEqual(Object.keys(originals).sort());
    for (const [output, values] of Object.entries(originals)) {
      for (const [place, original] of Object.entries(values)) {
        const value = outputs[output]?.[Number(place)] ?? Number.NaN;
        expect(Math.abs(value - original)).toBeLessThan(0.002 + 0.001 * Math.abs(original));
      }
    }
  });
}
